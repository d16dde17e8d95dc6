-- Accounts that can be followed over ActivityPub. Every opt-in gets a new row, because remote systems never accept a
-- deleted actor again.
create table activitypub_actors (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  -- PEM; the private key is sealed with the secret of the install.
  public_key text not null,
  private_key_sealed bytea not null,
  created_at timestamptz(3) not null default now(),
  withdrawn_at timestamptz(3)
);
create unique index activitypub_actors_active on activitypub_actors (user_ref) where withdrawn_at is null;
create index activitypub_actors_user on activitypub_actors (user_ref);

create table activitypub_followers (
  actor_id uuid not null references activitypub_actors (id) on delete cascade,
  uri text not null check (char_length(uri) <= 500),
  inbox text not null check (char_length(inbox) <= 500),
  created_at timestamptz(3) not null default now(),
  primary key (actor_id, uri)
);
create index activitypub_followers_uri on activitypub_followers (uri);
create index activitypub_followers_inbox on activitypub_followers (inbox);

-- The state of each post that was last sent to followers. The row outlives the post, so that its removal can be sent.
create table activitypub_posts (
  actor_id uuid not null references activitypub_actors (id) on delete cascade,
  post_id uuid not null,
  -- SHA-256 of the note; null when it was published before the author opted in.
  digest text,
  withdrawn boolean not null default false,
  updated_at timestamptz(3) not null default now(),
  primary key (actor_id, post_id)
);
create index activitypub_posts_post on activitypub_posts (post_id);

create table activitypub_reactions (
  post_id uuid not null references posts (id) on delete cascade,
  actor_id uuid not null references activitypub_actors (id) on delete cascade,
  uri text not null check (char_length(uri) <= 500),
  kind text not null check (kind in ('like', 'boost')),
  activity_uri text not null check (char_length(activity_uri) <= 500),
  created_at timestamptz(3) not null default now(),
  primary key (actor_id, post_id, uri, kind)
);
create index activitypub_reactions_post on activitypub_reactions (post_id);
create index activitypub_reactions_uri on activitypub_reactions (uri);

-- Where activities go. One worker at a time sends to an inbox, in order.
create table activitypub_inboxes (
  inbox text primary key check (char_length(inbox) <= 500),
  delivering_until timestamptz(3),
  last_error text
);

create table activitypub_deliveries (
  id bigint generated always as identity primary key,
  actor_id uuid not null references activitypub_actors (id) on delete cascade,
  inbox text not null references activitypub_inboxes (inbox) on delete cascade,
  activity text not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now()
);
create index activitypub_deliveries_order on activitypub_deliveries (inbox, id);
create index activitypub_deliveries_actor on activitypub_deliveries (actor_id);

-- The protocol library's store: keys of remote actors, and ids of received activities.
create table activitypub_memory (
  key text primary key,
  value jsonb not null,
  expires_at timestamptz(3)
);
create index activitypub_memory_expiry on activitypub_memory (expires_at) where expires_at is not null;
