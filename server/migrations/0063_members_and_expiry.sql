-- The members of a team are notified of new ones (TEAM-9).
alter table notifications
  add column team_id uuid references teams (id) on delete cascade,
  -- Like `actor_user_ref`, it may outlive the account.
  add column member_user_ref bigint,
  drop constraint notifications_kind_check,
  add constraint notifications_kind_check check (kind in ('request_received', 'request_decided', 'comment', 'reply',
    'watched_comment', 'like', 'follow', 'mention', 'team_member_added'));
create index notifications_team on notifications (team_id) where team_id is not null;

-- What a peer shares until a time is visible here until that time, and not until a job withdraws it (FED-33). Null for
-- everything that does not expire.
alter table post_shares add column expires_at timestamptz(3);
alter table collection_shares add column expires_at timestamptz(3);
alter table posts add column visible_until timestamptz(3);
alter table assets add column visible_until timestamptz(3);
alter table collections add column visible_until timestamptz(3);
