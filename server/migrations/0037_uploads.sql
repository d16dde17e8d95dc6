-- Uploads by tus, unfinished or finished; their bytes are in library/uploads until an asset is created from them.
create table uploads (
  id uuid primary key,
  owner_user_ref bigint not null references users (ref) on delete cascade,
  -- Null until the client has declared the size.
  size_bytes bigint check (size_bytes >= 0),
  -- The number of durable bytes.
  received_bytes bigint not null default 0,
  metadata jsonb not null default '{}',
  -- The request that may append; the newest one takes over.
  writer uuid,
  file_hash text check (file_hash ~ '^[0-9a-f]{64}$'),
  mime text,
  extension text,
  finished_at timestamptz(3),
  -- When an asset was created from the upload. The asset is null once it is purged.
  used_at timestamptz(3),
  asset_id uuid references assets (id) on delete set null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  constraint uploads_received check (received_bytes >= 0 and received_bytes <= size_bytes),
  constraint uploads_finished check ((finished_at is null) = (file_hash is null) and (finished_at is null) = (mime is null))
);
create index uploads_owner on uploads (owner_user_ref, created_at desc, id desc);
create index uploads_expiry on uploads (expires_at);
create index uploads_asset on uploads (asset_id) where asset_id is not null;
