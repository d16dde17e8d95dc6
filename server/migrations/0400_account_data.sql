-- What members take along (EXPORT-17). The row of one that was replaced, or whose account is gone, has no account until its
-- file is removed.
create table account_exports (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint unique references users (ref) on delete set null,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  -- About how many files it will have; exact once it is done.
  total integer not null default 0,
  files integer not null default 0,
  left_out integer not null default 0,
  size_bytes bigint,
  reason text,
  created_at timestamptz(3) not null default now(),
  -- When the job last said that it runs.
  reported_at timestamptz(3),
  finished_at timestamptz(3),
  expires_at timestamptz(3)
);
create index account_exports_expiry on account_exports (expires_at) where expires_at is not null;

-- Requests of members to delete their accounts (DELETION-1): the latest of each. It is deleted with the account.
create table deletion_requests (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null unique references users (ref) on delete cascade,
  note text not null default '',
  state text not null default 'pending' check (state in ('pending', 'refused', 'archived')),
  requested_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  decided_by_user_ref bigint references users (ref) on delete set null,
  decision_reason text
);
create index deletion_requests_order on deletion_requests (requested_at desc, id desc);
create index deletion_requests_decider on deletion_requests (decided_by_user_ref) where decided_by_user_ref is not null;

alter table notifications
  drop constraint notifications_kind_check,
  add constraint notifications_kind_check check (kind in ('request_received', 'request_decided', 'comment', 'reply',
    'watched_comment', 'like', 'follow', 'mention', 'team_member_added', 'publish_failed', 'review_requested',
    'review_decided', 'review_reopened', 'review_due', 'state_changed', 'assigned', 'guest_feedback',
    'deletion_requested', 'deletion_decided'));
