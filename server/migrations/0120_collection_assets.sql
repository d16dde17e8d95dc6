-- Collections hold files among their posts, or are filled by a query.

create table collection_assets (
  collection_id uuid not null references collections (id) on delete cascade,
  asset_id uuid not null references assets (id) on delete cascade,
  -- In one order with the positions of collection_posts. Written under the collection's lock.
  position bigint not null,
  added_by bigint not null,
  added_at timestamptz(3) not null default now(),
  primary key (collection_id, asset_id)
);
create index collection_assets_order on collection_assets (collection_id, position, asset_id);
create index collection_assets_asset on collection_assets (asset_id, collection_id);

-- Selects the files of a smart collection. Items that were placed before stay stored and are not shown.
alter table collections add column query jsonb;
