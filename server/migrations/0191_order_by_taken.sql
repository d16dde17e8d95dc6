-- When a file was taken, kept here because an index orders one table (ASSET-34). Of fields that not everyone may read,
-- nothing is kept: the order would tell their values.
alter table assets add column taken_at timestamp(3) with time zone;

create function taken_of_asset(asset uuid) returns timestamp(3) with time zone language sql stable as $$
  select min(v.value_date) from asset_field_values v join fields d on d.id = v.field_id
  where v.asset_id = asset and d.extraction_source = 'capture_datetime' and d.read_capability is null
$$;

create function keep_taken_of_values() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    update assets a set taken_at = taken_of_asset(a.id)
    from (select distinct o.asset_id from old_rows o join fields d on d.id = o.field_id
      where d.extraction_source = 'capture_datetime') touched
    where a.id = touched.asset_id and a.taken_at is distinct from taken_of_asset(a.id);
  else
    update assets a set taken_at = taken_of_asset(a.id)
    from (select distinct n.asset_id from new_rows n join fields d on d.id = n.field_id
      where d.extraction_source = 'capture_datetime') touched
    where a.id = touched.asset_id and a.taken_at is distinct from taken_of_asset(a.id);
  end if;
  return null;
end
$$;
create trigger asset_field_values_taken_in after insert on asset_field_values referencing new table as new_rows
  for each statement execute function keep_taken_of_values();
create trigger asset_field_values_taken_anew after update on asset_field_values referencing new table as new_rows
  for each statement execute function keep_taken_of_values();
create trigger asset_field_values_taken_out after delete on asset_field_values referencing old table as old_rows
  for each statement execute function keep_taken_of_values();

create function keep_taken_of_field() returns trigger language plpgsql as $$
begin
  update assets a set taken_at = taken_of_asset(a.id) from asset_field_values v
  where v.field_id = new.id and a.id = v.asset_id and a.taken_at is distinct from taken_of_asset(a.id);
  return null;
end
$$;
create trigger fields_taken after update of extraction_source, read_capability on fields for each row
  when (old.extraction_source is distinct from new.extraction_source
    or old.read_capability is distinct from new.read_capability)
  execute function keep_taken_of_field();

update assets a set taken_at = t.taken_at
from (select v.asset_id, min(v.value_date) as taken_at from asset_field_values v join fields d on d.id = v.field_id
  where d.extraction_source = 'capture_datetime' and d.read_capability is null group by v.asset_id) t
where a.id = t.asset_id;

-- Files of which the time is not known count as taken when they were added.
create index assets_by_taken on assets (coalesce(taken_at, created_at), id) where deleted_at is null;
create index assets_of_owner_by_taken on assets (owner_user_ref, coalesce(taken_at, created_at), id)
  where deleted_at is null;
