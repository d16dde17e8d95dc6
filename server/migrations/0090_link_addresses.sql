-- The token of a link, sealed with the secret key, so that its creator can see the address again. Null for links from
-- before, which can be renewed.
alter table share_links add column token_sealed bytea;
alter table share_links add column view_count bigint not null default 0;
alter table share_links add column download_count bigint not null default 0;

-- Lists of an account's links, and of all links for administrators.
drop index share_links_creator;
create index share_links_creator on share_links (created_by_user_ref, created_at desc, id desc);
create index share_links_newest on share_links (created_at desc, id desc);

-- How often each file of a link was opened in the viewer and downloaded.
create table share_link_files (
  link_id uuid not null references share_links (id) on delete cascade,
  asset_id uuid not null references assets (id) on delete cascade,
  view_count bigint not null default 0,
  download_count bigint not null default 0,
  last_viewed_at timestamptz(3),
  last_downloaded_at timestamptz(3),
  last_at timestamptz(3) not null default now(),
  primary key (link_id, asset_id)
);
create index share_link_files_newest on share_link_files (link_id, last_at desc, asset_id desc);
create index share_link_files_asset on share_link_files (asset_id);
