-- APPROVAL-5: why a scheduled draft is published without the approvals that it needs.
alter table post_schedules add column override_reason text check (char_length(override_reason) <= 1000);

-- WORKFLOW-1: which states may follow a state, and the capability that entering it needs. The seeded states of assets may
-- follow each other in any order, as before.
alter table workflow_states
  add column moves_to text[] not null default '{}',
  add column capability text,
  add column seeded boolean not null default false;
update workflow_states s set seeded = true, moves_to = (
  select array_agg(o.code order by o.sort_order) from workflow_states o where o.domain = s.domain and o.code <> s.code);

-- WORKFLOW-4: the owner of an asset is notified when somebody else moves it to another state.
alter table notifications
  add column asset_id uuid references assets (id) on delete cascade,
  add column state_id uuid references workflow_states (id) on delete cascade;
create index notifications_asset on notifications (asset_id) where asset_id is not null;
create index notifications_state on notifications (state_id) where state_id is not null;
alter table notifications
  drop constraint notifications_kind_check,
  add constraint notifications_kind_check check (kind in ('request_received', 'request_decided', 'comment', 'reply',
    'watched_comment', 'like', 'follow', 'mention', 'team_member_added', 'publish_failed', 'review_requested',
    'review_decided', 'review_reopened', 'review_due', 'state_changed'));

-- ROLE-2: administrators hold every capability.
insert into role_capabilities (role_id, capability)
values ('00000000-0000-4000-8000-000000000101', 'posts.approve.override') on conflict do nothing;
