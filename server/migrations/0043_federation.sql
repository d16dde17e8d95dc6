-- Other installs, pinned by their key. Pairing opens a channel and shares nothing.
create table federation_peers (
  id uuid primary key default gen_random_uuid(),
  -- The other install's address without a trailing slash.
  instance_url text not null unique check (char_length(instance_url) between 1 and 500),
  display_name text not null default '' check (char_length(display_name) <= 200),
  -- 32 raw bytes of Ed25519.
  public_key bytea not null check (octet_length(public_key) = 32),
  capabilities text[] not null default '{}',
  state text not null check (state in ('pending_inbound', 'pending_outbound', 'connected', 'disabled')),
  -- Of the offer that began the pairing.
  nonce text not null,
  accepted_here_at timestamptz(3),
  accepted_there_at timestamptz(3),
  -- Whether posts that are public at the peer may be public here.
  accept_public boolean not null default false,
  last_seen_at timestamptz(3),
  last_error text,
  -- Until then one worker sends to this peer, so that changes arrive in order.
  delivering_until timestamptz(3),
  created_by_user_ref bigint,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

-- The keys of accounts that take part: they sign envelopes. Private keys are sealed with the install's secret.
create table federation_keys (
  user_ref bigint primary key references users (ref) on delete cascade,
  signing_public bytea not null check (octet_length(signing_public) = 32),
  signing_sealed bytea not null,
  created_at timestamptz(3) not null default now()
);

-- People of peers. A mirrored row carries `ref` as its author or owner: no account has that number.
create table remote_actors (
  ref bigint primary key,
  peer_id uuid not null references federation_peers (id) on delete cascade,
  uri text not null unique check (char_length(uri) <= 500),
  username text not null,
  display_name text not null,
  signing_key bytea not null check (octet_length(signing_key) = 32),
  fetched_at timestamptz(3) not null default now()
);
create index remote_actors_of_peer on remote_actors (peer_id);

-- Local rows that mirror something of a peer.
create table federated_objects (
  uri text primary key check (char_length(uri) <= 500),
  peer_id uuid not null references federation_peers (id) on delete cascade,
  kind text not null check (kind in ('post', 'asset', 'collection', 'comment')),
  local_id uuid not null,
  -- `updated` of the version that is stored; an older one changes nothing.
  version timestamptz(3) not null,
  unique (kind, local_id)
);
create index federated_objects_of_peer on federated_objects (peer_id, kind, uri);

-- The posts of a mirrored collection, those included that have not arrived.
create table federated_collection_items (
  collection_id uuid not null references collections (id) on delete cascade,
  uri text not null check (char_length(uri) <= 500),
  position integer not null,
  primary key (collection_id, uri)
);
create index federated_collection_items_by_uri on federated_collection_items (uri);

-- What this install shares, with a whole peer or one person of it.
create table federation_shares (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('post', 'asset', 'collection')),
  object_id uuid not null,
  peer_id uuid not null references federation_peers (id) on delete cascade,
  -- The person's address; null for everyone at the peer.
  target_actor text check (char_length(target_actor) <= 500),
  scope text not null default 'view' check (scope in ('view', 'comment')),
  granted_by_user_ref bigint not null,
  granted_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
create unique index federation_shares_current on federation_shares (kind, object_id, peer_id, target_actor)
  nulls not distinct where revoked_at is null;
create index federation_shares_of_peer on federation_shares (peer_id, kind, object_id) where revoked_at is null;
create index federation_shares_expiring on federation_shares (expires_at) where revoked_at is null;

-- What peers share with this install.
create table federation_grants (
  id uuid primary key default gen_random_uuid(),
  peer_id uuid not null references federation_peers (id) on delete cascade,
  uri text not null check (char_length(uri) <= 500),
  kind text not null check (kind in ('post', 'asset', 'collection')),
  -- A local account; null for everyone here.
  target_user_ref bigint references users (ref) on delete cascade,
  scope text not null check (scope in ('view', 'comment')),
  granted_by text not null,
  expires_at timestamptz(3),
  received_at timestamptz(3) not null default now()
);
create unique index federation_grants_once on federation_grants (peer_id, uri, target_user_ref) nulls not distinct;
create index federation_grants_expiring on federation_grants (expires_at) where expires_at is not null;

-- What must be sent, in order. A change adds its rows in its own transaction; the worker writes and signs the envelope before
-- the first attempt and keeps it, so that every attempt sends the same bytes.
create table federation_outbox (
  seq bigint generated always as identity primary key,
  peer_id uuid not null references federation_peers (id) on delete cascade,
  activity_id uuid not null unique default gen_random_uuid(),
  activity text not null check (activity in
    ('create', 'update', 'delete', 'like', 'unlike', 'share', 'unshare')),
  kind text not null check (kind in ('post', 'asset', 'collection', 'comment')),
  object_id uuid not null,
  -- The acting account; null means the account that shared the object.
  actor_ref bigint,
  -- What the activity needs besides the object, such as the target of a share.
  details jsonb not null default '{}',
  envelope text,
  status text not null default 'queued' check (status in ('queued', 'sent', 'failed', 'cancelled', 'skipped')),
  attempts integer not null default 0,
  last_error text,
  next_attempt_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  sent_at timestamptz(3)
);
create index federation_outbox_queued on federation_outbox (peer_id, seq) where status = 'queued';
create index federation_outbox_sent on federation_outbox (sent_at) where status <> 'queued';

-- Envelopes that took effect; one with a known id changes nothing.
create table federation_inbox (
  activity_uri text primary key check (char_length(activity_uri) <= 500),
  peer_id uuid not null references federation_peers (id) on delete cascade,
  type text not null,
  received_at timestamptz(3) not null default now()
);
create index federation_inbox_received on federation_inbox (received_at);

-- Envelopes that were refused, for the operator.
create table federation_rejections (
  id uuid primary key default gen_random_uuid(),
  peer_id uuid references federation_peers (id) on delete cascade,
  instance_url text not null default '',
  activity_uri text,
  type text,
  reason text not null,
  detail text not null default '',
  received_at timestamptz(3) not null default now()
);
create index federation_rejections_newest on federation_rejections (received_at desc, id desc);

-- Likes by people of peers count like any other.
create table remote_post_likes (
  post_id uuid not null references posts (id) on delete cascade,
  actor_ref bigint not null references remote_actors (ref) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (post_id, actor_ref)
);
create trigger remote_post_likes_counted after insert or delete on remote_post_likes
  for each row execute function count_post_like();

alter table posts add column origin_peer_id uuid references federation_peers (id);
-- What the origin says of a mirrored post; its audience here follows from the grants too.
alter table posts add column remote_visibility text;
alter table posts add column remote_comments boolean;
alter table assets add column origin_peer_id uuid references federation_peers (id);
alter table collections add column origin_peer_id uuid references federation_peers (id);
alter table comments add column remote_actor_ref bigint references remote_actors (ref);
-- The peer that has the original. Null: it is stored here. `fetched_at`: a copy is here too, until the cache needs its room.
alter table files add column origin_peer_id uuid references federation_peers (id) on delete set null;
alter table files add column fetched_at timestamptz(3);
-- The renditions that the peer has, by key: what is fetched from there.
alter table files add column origin_renditions jsonb not null default '{}';
create index posts_by_origin on posts (origin_peer_id, posted_at desc, id desc) where origin_peer_id is not null;
create index assets_by_origin on assets (origin_peer_id, created_at desc, id desc) where origin_peer_id is not null;
create index collections_by_origin on collections (origin_peer_id) where origin_peer_id is not null;
create index comments_by_remote_actor on comments (remote_actor_ref) where remote_actor_ref is not null;
create index files_fetched on files (fetched_at) where origin_peer_id is not null;
