-- Links that show one post, asset or collection to anyone who has the address. Only the SHA-256 of the token is stored.
create table share_links (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  post_id uuid references posts (id) on delete cascade,
  asset_id uuid references assets (id) on delete cascade,
  collection_id uuid references collections (id) on delete cascade,
  -- A link ends with the account that made it.
  created_by_user_ref bigint not null references users (ref) on delete cascade,
  label text not null default '' check (char_length(label) <= 200),
  password_hash text,
  allow_download boolean not null default false,
  watermark text check (char_length(watermark) between 1 and 200),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  opened_count bigint not null default 0,
  last_opened_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint share_links_one_target check (num_nonnulls(post_id, asset_id, collection_id) = 1)
);
create index share_links_post on share_links (post_id, created_at desc, id desc) where post_id is not null;
create index share_links_asset on share_links (asset_id, created_at desc, id desc) where asset_id is not null;
create index share_links_collection on share_links (collection_id, created_at desc, id desc) where collection_id is not null;
create index share_links_creator on share_links (created_by_user_ref);
