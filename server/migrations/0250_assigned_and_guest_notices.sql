-- Notifications of assigned annotations, and of what guests leave at a link (NOTICE-20, NOTICE-21).
alter table notifications add column link_id uuid references share_links (id) on delete cascade;
create index notifications_link on notifications (link_id) where link_id is not null;
-- What several guests do at a link is one notification until it is read, as likes are.
create unique index notifications_unread_link on notifications (user_ref, link_id)
  where kind = 'guest_feedback' and read_at is null;
alter table notifications
  drop constraint notifications_check,
  add constraint notifications_check check ((kind in ('like', 'guest_feedback')) = (act is null)),
  drop constraint notifications_kind_check,
  add constraint notifications_kind_check check (kind in ('request_received', 'request_decided', 'comment', 'reply',
    'watched_comment', 'like', 'follow', 'mention', 'team_member_added', 'publish_failed', 'review_requested',
    'review_decided', 'review_reopened', 'review_due', 'state_changed', 'assigned', 'guest_feedback'));
