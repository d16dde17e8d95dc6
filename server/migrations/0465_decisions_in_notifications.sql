-- What was decided when the notification was sent (REVIEW-12). Earlier ones keep the latest decision, which they have shown.
alter table notifications add column review_decision text
  check (review_decision in ('approved', 'changes_requested'));
update notifications n set review_decision = rr.decision from review_reviewers rr
  where n.kind = 'review_decided' and rr.review_id = n.review_id and rr.user_ref = n.actor_user_ref;
