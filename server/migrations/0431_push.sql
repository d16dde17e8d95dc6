-- PUSH-1: browsers that get notifications while no page is open. A subscription ends with the session that made it.
create table push_subscriptions (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  session_id uuid not null references sessions (id) on delete cascade,
  endpoint text not null unique check (octet_length(endpoint) <= 2000),
  -- The key and the secret of the browser, as base64url (RFC 8291).
  p256dh text not null check (octet_length(p256dh) <= 100),
  auth text not null check (octet_length(auth) <= 100),
  created_at timestamptz(3) not null default now()
);
create index push_subscriptions_user on push_subscriptions (user_ref, created_at desc, id);
create index push_subscriptions_session on push_subscriptions (session_id);
