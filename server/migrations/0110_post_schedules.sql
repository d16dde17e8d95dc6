-- When drafts are published by themselves (POST-47), and with whose rights.
create table post_schedules (
  post_id uuid primary key references posts (id) on delete cascade,
  publish_at timestamptz(3) not null,
  -- Null once the account is gone; publishing then fails.
  user_ref bigint references users (ref) on delete set null,
  -- With which credential it was scheduled, for audit events. A revoked token publishes nothing.
  token_id uuid,
  impersonator_user_ref bigint
);
create index post_schedules_of_account on post_schedules (user_ref);

-- The author is notified when a draft could not be published.
alter table notifications
  drop constraint notifications_kind_check,
  add constraint notifications_kind_check check (kind in ('request_received', 'request_decided', 'comment', 'reply',
    'watched_comment', 'like', 'follow', 'mention', 'team_member_added', 'publish_failed'));
