-- What the timeline and the map count files by, kept here like `taken_at`, because counts for a caller read one index.
-- Of fields that not everyone may read, nothing is kept: the counts would tell their values.

-- The day on the clock where the file was taken; the time may be of another day in UTC (VALUE-26).
alter table assets add column taken_on date;
alter table assets add column latitude double precision;
alter table assets add column longitude double precision;

create function day_on_clock(at timestamp with time zone, offset_minutes integer) returns date language sql immutable as $$
  select least(greatest((at at time zone 'UTC' + make_interval(mins => coalesce(offset_minutes, 0)))::date,
    date '0001-01-01'), date '9999-12-31')
$$;

create function taken_on_of_asset(asset uuid) returns date language sql stable as $$
  select day_on_clock(v.value_date, v.value_offset) from asset_field_values v join fields d on d.id = v.field_id
  where v.asset_id = asset and d.extraction_source = 'capture_datetime' and d.read_capability is null
    and v.value_date is not null
  order by v.value_date limit 1
$$;

-- Returns longitude and latitude of text such as `48.137154, 11.576124`; null for any other text.
create function place_of_text(written text) returns point language sql immutable strict as $$
  select point(m[2]::double precision, m[1]::double precision)
  from regexp_match(written, '^\s*([-+]?\d{1,3}(?:\.\d{1,15})?)\s*[,;]\s*([-+]?\d{1,3}(?:\.\d{1,15})?)\s*$') m
  where abs(m[1]::double precision) <= 90 and abs(m[2]::double precision) <= 180
$$;

create function place_of_asset(asset uuid) returns point language sql stable as $$
  select place_of_text(v.value_text) from asset_field_values v join fields d on d.id = v.field_id
  where v.asset_id = asset and d.extraction_source = 'gps_coordinates' and d.read_capability is null
    and place_of_text(v.value_text) is not null
  order by d.display_order, d.id limit 1
$$;

-- Doubles the distance of the bits of a number of 24 bits.
create function spread_bits(number bigint) returns bigint language plpgsql immutable strict as $$
declare x bigint := number;
begin
  x := (x | (x << 16)) & 281470681808895;
  x := (x | (x << 8)) & 71777214294589695;
  x := (x | (x << 4)) & 1085102592571150095;
  x := (x | (x << 2)) & 3689348814741910323;
  return (x | (x << 1)) & 6148914691236517205;
end
$$;

-- The world as a square (Web Mercator) of 2^24 by 2^24 cells. Its edge is at 85 degrees, where places beyond it are put.
create function place_cell_of(place point) returns bigint language sql immutable strict as $$
  select spread_bits(least(16777215, floor((place[0] + 180) / 360 * 16777216)::bigint))
    + 2 * spread_bits(least(16777215, greatest(0, floor(
      (0.5 - ln(tan(pi() / 4 + radians(least(85.05, greatest(-85.05, place[1]))) / 2)) / (2 * pi())) * 16777216)::bigint)))
$$;

alter table assets
  -- The cell of the finest grid of the map. Its bits are those of column and row in turn, so that each cell of a coarser
  -- grid is one range.
  add column place_cell bigint generated always as (place_cell_of(point(longitude, latitude))) stored,
  -- Who is shown the asset without a look at anything else: 2 everyone, 1 every account; 0 if the rules decide. Most
  -- files of a library are counted by this column alone.
  add column shown_to smallint not null generated always as (
    case when status <> 'active' or visible_until is not null or processing_status = 'failed' then 0
      when processing_status = 'ready' and (sensitivity = 'public' or (sensitivity = 'posts' and exposure = 'public')) then 2
      when sensitivity in ('public', 'org') or (sensitivity = 'posts' and exposure in ('public', 'org-only')) then 1
      else 0 end) stored;

-- Writes what is kept of the values of these assets, if it has changed.
create function keep_of_values(touched uuid[]) returns void language sql as $$
  update assets a set taken_at = kept.taken_at, taken_on = kept.taken_on,
    latitude = kept.place[1], longitude = kept.place[0]
  from (select t.id, taken_of_asset(t.id) as taken_at, taken_on_of_asset(t.id) as taken_on, place_of_asset(t.id) as place
    from unnest(touched) t (id)) kept
  where a.id = kept.id and (a.taken_at, a.taken_on, a.latitude, a.longitude)
    is distinct from (kept.taken_at, kept.taken_on, kept.place[1], kept.place[0])
$$;

create or replace function keep_taken_of_values() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform keep_of_values(array(select distinct o.asset_id from old_rows o join fields d on d.id = o.field_id
      where d.extraction_source in ('capture_datetime', 'gps_coordinates')));
  else
    perform keep_of_values(array(select distinct n.asset_id from new_rows n join fields d on d.id = n.field_id
      where d.extraction_source in ('capture_datetime', 'gps_coordinates')));
  end if;
  return null;
end
$$;

create or replace function keep_taken_of_field() returns trigger language plpgsql as $$
begin
  perform keep_of_values(array(select v.asset_id from asset_field_values v where v.field_id = new.id));
  return null;
end
$$;

update assets a set taken_on = t.taken_on
from (select distinct on (v.asset_id) v.asset_id, day_on_clock(v.value_date, v.value_offset) as taken_on
  from asset_field_values v join fields d on d.id = v.field_id
  where d.extraction_source = 'capture_datetime' and d.read_capability is null and v.value_date is not null
  order by v.asset_id, v.value_date) t
where a.id = t.asset_id;

update assets a set latitude = t.place[1], longitude = t.place[0]
from (select distinct on (v.asset_id) v.asset_id, place_of_text(v.value_text) as place
  from asset_field_values v join fields d on d.id = v.field_id
  where d.extraction_source = 'gps_coordinates' and d.read_capability is null
    and place_of_text(v.value_text) is not null
  order by v.asset_id, d.display_order, d.id) t
where a.id = t.asset_id;

create index assets_by_day on assets (shown_to, taken_on) where deleted_at is null;
create index assets_by_place on assets (shown_to, place_cell) include (latitude, longitude)
  where deleted_at is null and place_cell is not null;
-- Files about which the rules decide, with every column that they read.
create index assets_by_day_and_rule on assets (taken_on) include (id, owner_user_ref, team_id, sensitivity, exposure, status,
  processing_status, visible_until, deleted_at) where deleted_at is null and shown_to = 0;
create index assets_by_place_and_rule on assets (place_cell) include (latitude, longitude, id, owner_user_ref, team_id,
  sensitivity, exposure, status, processing_status, visible_until, deleted_at)
  where deleted_at is null and shown_to = 0 and place_cell is not null;
-- Of these, the ones that visitors may be shown: until their share ends, and while a new version is prepared.
create index assets_for_visitors_for_now on assets (taken_on)
  where deleted_at is null and shown_to < 2 and (visible_until is not null or interim_hash is not null);
-- A day of every year.
create index assets_by_day_of_year on assets ((extract(month from taken_on)), (extract(day from taken_on)), taken_on)
  where deleted_at is null and taken_on is not null;
-- Files of unknown time.
create index assets_untaken on assets ((coalesce(taken_at, created_at)), id)
  where deleted_at is null and taken_on is null;

-- The directory of people, in the order of the names that signed-in callers and visitors see.
create index users_by_name on users (
  (coalesce(nullif(trim(display_name), ''), nullif(trim(fullname), ''), username)) collate natural_order, ref)
  where status = 'active';
create index users_by_public_name on users (
  (coalesce(nullif(trim(display_name), ''), username)) collate natural_order, ref)
  where status = 'active' and not hide_from_anonymous;
