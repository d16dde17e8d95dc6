-- Teams one can follow, with a picture; decided requests.

alter table teams
  add column origin_server_id uuid,
  add column hero_asset_id uuid references assets (id) on delete set null,
  add column deleted_by_user_ref bigint;
-- TEAM-1: unique per origin server.
alter table teams drop constraint teams_slug_key;
create unique index teams_slug on teams (origin_server_id, slug) nulls not distinct;
create index teams_name on teams (lower(name), id) where deleted_at is null;

create table team_follows (
  user_ref bigint not null references users (ref) on delete cascade,
  team_id uuid not null references teams (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (user_ref, team_id)
);
create index team_follows_team on team_follows (team_id);

-- A grant that results from a request refers to it, and may exist beside one that was made directly.
alter table user_capability_grants
  add column request_ref uuid unique references resource_requests (id) on delete cascade;
drop index user_capability_grants_once;
create unique index user_capability_grants_once on user_capability_grants (user_ref, capability, team_id)
  nulls not distinct where request_ref is null;

create index resource_requests_queue on resource_requests (requested_at desc, id desc);
