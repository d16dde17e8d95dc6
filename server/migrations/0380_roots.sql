-- Folders whose files are assets and stay where they are (ROOT-1).
create table roots (
  id uuid primary key default gen_random_uuid(),
  -- Absolute, without links.
  path text not null unique,
  -- Rules of new files. A root without an owner is not scanned.
  owner_user_ref bigint references users (ref) on delete set null,
  team_id uuid references teams (id) on delete set null,
  sensitivity text not null check (sensitivity in ('posts', 'public', 'org', 'team', 'restricted')),
  writable boolean not null default false,
  sidecars text not null default 'read' check (sidecars in ('off', 'read', 'write')),
  skip text[] not null default '{}',
  -- Fields that paths fill: `[{"field_code": ..., "pattern": ...}]`.
  fields jsonb not null default '[]',
  -- Device and number of the directory when it was last scanned, which tell whether it is mounted (ROOT-8).
  identity text,
  -- The scan that was requested or ran last.
  scan_id uuid,
  scan_state text not null default 'never'
    check (scan_state in ('never', 'waiting', 'running', 'done', 'unavailable', 'failed')),
  scan_counts jsonb not null default '{}',
  scan_reason text,
  scan_at timestamptz(3),
  -- Who scans, and until when that is certain (ROOT-9).
  lease uuid,
  lease_until timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index roots_owner on roots (owner_user_ref);
create index roots_team on roots (team_id) where team_id is not null;

-- The files below roots. A row without an asset that is no sidecar is of a purged asset: the file is not added again.
create table root_files (
  id bigint primary key generated always as identity,
  root_id uuid not null references roots (id) on delete cascade,
  -- Relative to the root, in the bytes of the file system: names need not be UTF-8.
  path bytea not null check (octet_length(path) between 1 and 2000),
  is_sidecar boolean not null default false,
  size_bytes bigint not null,
  -- In microseconds since 1970.
  modified_us bigint not null,
  device text not null,
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  asset_id uuid references assets (id) on delete set null,
  missing_since timestamptz(3),
  unique (root_id, path)
);
create index root_files_hash on root_files (hash);
create index root_files_asset on root_files (asset_id) where asset_id is not null;

-- Folders in which something changed, until they are scanned (ROOT-10).
create table root_changes (
  root_id uuid not null references roots (id) on delete cascade,
  folder bytea not null check (octet_length(folder) <= 2000),
  due_at timestamptz(3) not null default now(),
  primary key (root_id, folder)
);

-- Where the original of an asset is, for people, and since when it is gone (ROOT-2, ROOT-7).
alter table assets
  add column root_id uuid references roots (id) on delete set null,
  add column root_path text,
  add column missing_since timestamptz(3);
create index assets_root on assets (root_id) where root_id is not null;

-- Bytes of which the library has no copy of its own: a root has them.
alter table files add column in_place boolean not null default false;
create index files_in_place on files (hash) where in_place;
