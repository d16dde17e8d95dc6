-- PASSKEY-1: the public keys with which an account signs in without a password.
create table passkeys (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  name text not null check (char_length(name) between 1 and 100),
  credential_id bytea not null check (octet_length(credential_id) between 1 and 1023),
  -- In the form of COSE.
  public_key bytea not null,
  -- What the authenticator stores as the id of the account: random, and the same for all passkeys of the account.
  user_handle bytea not null check (octet_length(user_handle) between 1 and 64),
  -- PASSKEY-7: the number of signatures as the authenticator counts them; 0 if it does not count.
  counter bigint not null check (counter >= 0),
  transports text[] not null default '{}',
  -- Whether the authenticator may copy the passkey to other devices, and whether it has.
  multi_device boolean not null,
  backed_up boolean not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3)
);
create unique index passkeys_credential on passkeys (credential_id);
create index passkeys_user on passkeys (user_ref, created_at, id);

-- PASSKEY-3: challenges that no response has used yet.
create table passkey_challenges (
  -- SHA-256 of the challenge.
  challenge_hash bytea primary key,
  -- The session that adds a passkey; null for signing in.
  session_id uuid references sessions (id) on delete cascade,
  -- The id of the account for the new passkey.
  user_handle bytea,
  expires_at timestamptz(3) not null,
  check ((session_id is null) = (user_handle is null))
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
create index passkey_challenges_session on passkey_challenges (session_id) where session_id is not null;
