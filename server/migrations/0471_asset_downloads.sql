-- Downloads of a file by people with an account, for its history (ASSET-40): one row for each of them.
create table asset_downloads (
  id uuid primary key default gen_random_uuid(),
  asset_id uuid not null references assets (id) on delete cascade,
  user_ref bigint references users (ref) on delete set null,
  download_count bigint not null default 1,
  last_downloaded_at timestamptz(3) not null default now(),
  unique (asset_id, user_ref)
);
create index asset_downloads_user on asset_downloads (user_ref) where user_ref is not null;
