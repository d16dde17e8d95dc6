-- SSO-1: providers that sign people in by redirect, as administrators configure them.
create table identity_providers (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{0,31}$'),
  kind text not null check (kind in ('oidc', 'saml')),
  -- The properties of the contract, without the name, the kind and the secret.
  settings jsonb not null,
  client_secret_sealed bytea,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

-- SSO-10: the identities with which an account signs in. Issuers of OpenID Connect and entity ids of SAML may be the same
-- text, so the kind is part of the key.
create table user_identities (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  kind text not null check (kind in ('oidc', 'saml')),
  issuer text not null check (octet_length(issuer) <= 1000),
  subject text not null check (octet_length(subject) <= 1000),
  -- The provider that was last used.
  provider text not null,
  username text,
  email text,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3)
);
create unique index user_identities_subject on user_identities (kind, issuer, subject);
create index user_identities_user on user_identities (user_ref, created_at, id);

-- SSO-20: sign-ins that have begun in a browser and are not complete.
create table sign_in_flows (
  id uuid primary key default gen_random_uuid(),
  -- SHA-256 of the cookie of the browser.
  browser_hash bytea not null,
  provider text not null,
  purpose text not null check (purpose in ('sign_in', 'link', 'confirm', 'second_factor')),
  -- Who links an identity or has yet to show the second factor.
  user_ref bigint references users (ref) on delete cascade,
  -- The session in which linking began; it must still exist at the end.
  session_id uuid references sessions (id) on delete cascade,
  return_to text,
  -- The verified identity of a pending sign-in.
  identity jsonb,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index sign_in_flows_expiry on sign_in_flows (expires_at);
create index sign_in_flows_user on sign_in_flows (user_ref) where user_ref is not null;
create index sign_in_flows_session on sign_in_flows (session_id) where session_id is not null;

-- SSO-30: the provider that gave the role or the membership; null if a person gave it.
alter table users add column role_provider text;
alter table team_members add column provider text;
create index team_members_provider on team_members (user_ref, provider) where provider is not null;

-- A role that changes while its provider stays the same was given by a person. A provider clears the column first.
create function keep_role_origin() returns trigger language plpgsql as $$
begin
  new.role_provider := null;
  return new;
end $$;
create trigger users_role_origin before update of role_id on users for each row
  when (new.role_id <> old.role_id and new.role_provider = old.role_provider)
  execute function keep_role_origin();
