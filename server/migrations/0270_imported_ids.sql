-- IMPORT-1: what the things of an earlier system have become. `target` is an id here: a uuid, the ref of an account, or the
-- slug of a term. Nothing refers to it, so that a deleted thing is not imported again.
create table imported_ids (
  system text not null,
  kind text not null,
  old_id text not null,
  target text not null,
  -- Of the row as it was read, so that a second run recognises what has changed since.
  fingerprint text not null default '',
  imported_at timestamptz(3) not null default now(),
  primary key (system, kind, old_id)
);
create index imported_ids_target on imported_ids (kind, target);

-- Assets that belong together, written once for each pair, the smaller id first.
create table related_assets (
  asset_id uuid not null references assets (id) on delete cascade,
  related_id uuid not null references assets (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (asset_id, related_id),
  check (asset_id < related_id)
);
create index related_assets_related on related_assets (related_id);
