-- STACK-1: assets that are one thing, such as a raw file and its JPEG. The one with the lowest place is on top.
create table stacked_assets (
  asset_id uuid primary key references assets (id) on delete cascade,
  stack_id uuid not null,
  place integer not null
);
create index stacked_assets_of_stack on stacked_assets (stack_id, place, asset_id);
