-- SSO-40: the provider with which a session began, and the session there, as its ID token named it.
alter table sessions
  add column provider text,
  add column provider_sid text check (octet_length(provider_sid) <= 1000);
create index sessions_provider on sessions (provider, provider_sid) where provider_sid is not null;

-- SSO-41: logout tokens that were used.
create table used_logout_tokens (
  provider text not null,
  -- SHA-256 of the `jti`.
  id_hash bytea not null,
  expires_at timestamptz(3) not null,
  primary key (provider, id_hash)
);
create index used_logout_tokens_expiry on used_logout_tokens (expires_at);
