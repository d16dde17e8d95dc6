-- ZIP archives that members prepare and then download. Nothing is packed beforehand.

create table archives (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  -- Without the extension.
  name text not null,
  -- The length, if it is known beforehand and while every file is as it was then.
  size_bytes bigint,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index archives_owner on archives (user_ref, created_at desc, id desc);
create index archives_expiry on archives (expires_at);

create table archive_files (
  archive_id uuid not null references archives (id) on delete cascade,
  position integer not null,
  -- No foreign key: clients may name assets that do not exist.
  asset_id uuid not null,
  -- The path in the archive, and the bytes; null for an asset that was left out from the start.
  name text,
  file_hash text,
  size_bytes bigint,
  primary key (archive_id, position)
);

-- Checksums of files that were packed, so that a download continues without reading what was sent before.
create table file_checksums (
  hash text primary key references files (hash) on delete cascade,
  crc32 bigint not null
);
