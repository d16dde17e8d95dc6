-- Orders of the list of assets (ASSET-34): by title, in which numbers count as numbers, and by size.
create collation natural_order (provider = icu, locale = 'und-u-kn-true');

-- The size of its file, kept here because an index orders one table.
alter table assets add column size_bytes bigint not null default 0;
create function size_of_asset() returns trigger language plpgsql as $$
begin
  select size_bytes into new.size_bytes from files where hash = new.file_hash;
  return new;
end
$$;
create trigger assets_sized before insert or update of file_hash on assets
  for each row execute function size_of_asset();
update assets a set size_bytes = f.size_bytes from files f where f.hash = a.file_hash;

-- 100 characters decide: a title may be longer than an index entry.
create index assets_by_title on assets (left(title, 100) collate natural_order, id) where deleted_at is null;
create index assets_by_size on assets (size_bytes, id) where deleted_at is null;
create index assets_of_owner_by_title on assets (owner_user_ref, left(title, 100) collate natural_order, id)
  where deleted_at is null;
create index assets_of_owner_by_size on assets (owner_user_ref, size_bytes, id) where deleted_at is null;
