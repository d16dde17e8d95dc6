-- SSO-60: the picture that a provider claimed last, and the asset that was made of it.
alter table users
  add column picture_url text check (octet_length(picture_url) <= 2000),
  add column picture_asset_id uuid references assets (id) on delete set null;
create index users_picture on users (picture_asset_id) where picture_asset_id is not null;
