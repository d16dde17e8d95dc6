-- SCIM-1: tokens with which a directory provisions the accounts of its provider.
create table scim_tokens (
  id uuid primary key default gen_random_uuid(),
  provider text not null,
  name text not null check (char_length(name) between 1 and 100),
  -- SHA-256 of the token.
  token_hash bytea not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3)
);
create unique index scim_tokens_hash on scim_tokens (token_hash);
create index scim_tokens_provider on scim_tokens (provider, created_at desc, id desc);

-- SCIM-10: what a directory says of an account.
create table scim_users (
  user_ref bigint primary key references users (ref) on delete cascade,
  provider text not null,
  external_id text check (octet_length(external_id) <= 1000),
  -- `displayName`, `name` and `emails` as the directory wrote them.
  attributes jsonb not null default '{}'
);
create unique index scim_users_external on scim_users (provider, external_id) where external_id is not null;

-- SCIM-20: the groups of a directory, which feed the mapping of its provider.
create table scim_groups (
  id uuid primary key default gen_random_uuid(),
  provider text not null,
  display_name text not null check (char_length(display_name) between 1 and 500),
  display_name_key text not null,
  external_id text check (octet_length(external_id) <= 1000),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index scim_groups_name on scim_groups (provider, display_name_key);
create unique index scim_groups_external on scim_groups (provider, external_id) where external_id is not null;

create table scim_members (
  group_id uuid not null references scim_groups (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  primary key (group_id, user_ref)
);
create index scim_members_user on scim_members (user_ref);

-- SCIM-12: the provider whose directory disabled or archived the account; null if a person did.
alter table users add column status_provider text;

create function keep_status_origin() returns trigger language plpgsql as $$
begin
  new.status_provider := null;
  return new;
end $$;
create trigger users_status_origin before update of status on users for each row
  when (new.status <> old.status and new.status_provider = old.status_provider)
  execute function keep_status_origin();

-- SCIM-21: the groups that the last sign-in named.
alter table user_identities add column groups text[] not null default '{}';
create index users_of_provider on users (provider, ref) where provider <> 'password';
