-- RESET-1, EMAIL-1: addresses in mails with which people set a new password or confirm an e-mail.
create table account_links (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  purpose text not null check (purpose in ('password_reset', 'verify_email')),
  -- Where the mail goes: the stored address of the account, or the one that the link confirms.
  email text not null,
  -- SHA-256 of the token, which the job that sends the mail creates; null before.
  token_hash bytea,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
-- A newer link replaces the former one.
create unique index account_links_purpose on account_links (user_ref, purpose);
create unique index account_links_token on account_links (token_hash) where token_hash is not null;
create index account_links_expiry on account_links (expires_at);

-- How many mails somebody without a session has caused to one account or address, within an hour that begins with the first.
create table mail_counts (
  key text primary key,
  sent integer not null default 1,
  since timestamptz(3) not null default now()
);

-- REGISTER-1: of accounts that people created themselves.
alter table users add column registration text check (registration in ('unverified', 'verified'));
create index users_unverified on users (created_at) where registration = 'unverified';
