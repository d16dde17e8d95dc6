-- Accounts of directories, second factors, tokens, lock-out, team scopes, and an audit log that only grows.

-- `password`: the hash in this row. Anything else names the identity provider that knows the password, and the
-- account's lasting id there.
alter table users
  add column provider text not null default 'password',
  add column provider_subject text,
  add column last_seen_at timestamptz(3),
  add check ((provider = 'password') = (provider_subject is null));
create unique index users_provider on users (provider, provider_subject) where provider_subject is not null;

create table two_factor (
  user_ref bigint primary key references users (ref) on delete cascade,
  -- Encrypted with a key of the install (identity/seal.ts): a verifier needs the secret itself.
  sealed_secret bytea not null,
  enrolled_at timestamptz(3) not null default now(),
  confirmed_at timestamptz(3),
  -- The 30-second step of the last accepted code; only later ones are accepted, so that each counts once.
  last_step bigint not null default 0,
  last_used_at timestamptz(3)
);

create table recovery_codes (
  user_ref bigint not null references two_factor (user_ref) on delete cascade,
  code_hash bytea not null,
  primary key (user_ref, code_hash)
);

create table access_tokens (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  name text not null,
  token_hash bytea not null unique,
  scopes text[] not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3)
);
create index access_tokens_user on access_tokens (user_ref, created_at desc, id desc);

-- Keyed by the name as typed, which may belong to no account.
create table sign_in_failures (
  name text primary key,
  failures integer not null,
  last_at timestamptz(3) not null default now(),
  locked_until timestamptz(3)
);
create index sign_in_failures_age on sign_in_failures (last_at);

drop index sessions_user;
create index sessions_user on sessions (user_ref, created_at desc, id desc);

create unique index user_capability_grants_once on user_capability_grants (user_ref, capability, team_id)
  nulls not distinct;
create unique index user_capability_revokes_once on user_capability_revokes (user_ref, capability, team_id)
  nulls not distinct;
create index user_capability_grants_expiry on user_capability_grants (expires_at) where expires_at is not null;
create index user_capability_revokes_expiry on user_capability_revokes (expires_at) where expires_at is not null;

-- Teams form a graph without cycles. Its closure (each team with itself and all teams below it) is rebuilt on every
-- change: changes are rare, there are at most thousands of teams, and a rebuilt closure cannot drift.
create table team_parents (
  team_id uuid not null references teams (id) on delete cascade,
  parent_id uuid not null references teams (id) on delete cascade,
  primary key (team_id, parent_id),
  check (team_id <> parent_id)
);
create index team_parents_parent on team_parents (parent_id);

create table team_closure (
  ancestor_id uuid not null references teams (id) on delete cascade,
  descendant_id uuid not null references teams (id) on delete cascade,
  primary key (ancestor_id, descendant_id)
);
create index team_closure_descendant on team_closure (descendant_id);
insert into team_closure select id, id from teams;

create function remake_team_closure() returns trigger language plpgsql as $$
begin
  -- Serialises changes: two concurrent ones could form a cycle.
  perform pg_advisory_xact_lock(7431003);
  if exists (
    with recursive above (team_id, ancestor_id) as (
      select team_id, parent_id from team_parents
      union
      select a.team_id, p.parent_id from above a join team_parents p on p.team_id = a.ancestor_id
    )
    select from above where team_id = ancestor_id
  ) then
    raise exception 'teams would form a circle' using errcode = 'VT001';
  end if;
  delete from team_closure;
  insert into team_closure (ancestor_id, descendant_id)
    with recursive below (ancestor_id, descendant_id) as (
      select id, id from teams
      union
      select b.ancestor_id, p.team_id from below b join team_parents p on p.parent_id = b.descendant_id
    )
    select ancestor_id, descendant_id from below;
  update access_epoch set epoch = epoch + 1;
  return null;
end
$$;
create trigger team_parents_closure after insert or update or delete on team_parents
  for each statement execute function remake_team_closure();

create function add_team_to_closure() returns trigger language plpgsql as $$
begin
  insert into team_closure (ancestor_id, descendant_id) values (new.id, new.id);
  return null;
end
$$;
create trigger teams_closure after insert on teams for each row execute function add_team_to_closure();

-- The audit log only grows, except that the retention job, which sets a flag in its transaction, may delete events.
create function keep_audit_events() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('vitrine.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'audit events are never changed';
end
$$;
create trigger audit_events_kept before update or delete on audit_events
  for each row execute function keep_audit_events();
create trigger audit_events_not_emptied before truncate on audit_events
  for each statement execute function keep_audit_events();
create index audit_events_actor on audit_events (actor_user_ref, occurred_at desc, id desc);
create index audit_events_impersonator on audit_events (impersonator_user_ref, occurred_at desc, id desc)
  where impersonator_user_ref is not null;
create index audit_events_subject on audit_events (subject_user_ref, occurred_at desc, id desc);
create index audit_events_event on audit_events (event text_pattern_ops, occurred_at desc, id desc);
