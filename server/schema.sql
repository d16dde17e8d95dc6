-- The schema as it stands after every migration. Written by `npm run schema`.

CREATE OR REPLACE FUNCTION public.add_team_to_closure()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into team_closure (ancestor_id, descendant_id) values (new.id, new.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.advance_access_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update access_epoch set epoch = epoch + 1;
  perform call_out_accounts(array(select distinct user_ref from sessions where impersonator_user_ref is not null));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.ascii_key(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (octet_length(name) = length(name)) THEN lower((name COLLATE "C")) ELSE NULL::text END;

CREATE OR REPLACE FUNCTION public.asset_field_words(ids uuid[])
 RETURNS TABLE(asset_id uuid, gate text, words text)
 LANGUAGE sql
 STABLE
AS $function$
  select v.asset_id, coalesce(d.read_capability, ''),
    left(string_agg(left(field_value_text(d.type, d.id, v.value_text, v.value_options), 20000), ' ' order by d.id), 100000)
  from asset_field_values v join fields d on d.id = v.field_id join assets a on a.id = v.asset_id
  where v.asset_id = any(ids) and d.searchable and d.status <> 'archived' and d.subject_kind = 'asset'
    and d.mirrors_column is null and (d.applies_to = '{}' or a.asset_type = any(d.applies_to))
    and (v.value_text is not null or v.value_options is not null)
  group by 1, 2
$function$;

CREATE OR REPLACE FUNCTION public.call_out_accounts(refs bigint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_notify('account', string_agg(ref::text, ','))
  from (select ref, (row_number() over (order by ref) - 1) / 400 as part from unnest(refs) ref) x group by part
$function$;

CREATE OR REPLACE FUNCTION public.call_out_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform call_out_accounts(array(select distinct user_ref from old_rows));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.call_out_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform call_out_accounts(array(
    select new.ref union select user_ref from sessions where impersonator_user_ref = new.ref
  ));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.collection_field_words(ids uuid[])
 RETURNS TABLE(collection_id uuid, gate text, words text)
 LANGUAGE sql
 STABLE
AS $function$
  select v.collection_id, coalesce(d.read_capability, ''),
    left(string_agg(left(field_value_text(d.type, d.id, v.value_text, v.value_options), 20000), ' ' order by d.id), 100000)
  from collection_field_values v join fields d on d.id = v.field_id
  where v.collection_id = any(ids) and d.searchable and d.status <> 'archived' and d.subject_kind = 'collection'
    and (v.value_text is not null or v.value_options is not null)
  group by 1, 2
$function$;

CREATE OR REPLACE FUNCTION public.content_of_post(post uuid)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(md5(string_agg(a.id || a.file_hash, ',' order by a.id)), '')
  from post_members m join assets a on a.id = m.asset_id
  where m.post_id = post and a.deleted_at is null
$function$;

CREATE OR REPLACE FUNCTION public.count_comment_like()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    update comments set like_count = like_count + 1 where id = new.comment_id;
  else
    update comments set like_count = like_count - 1 where id = old.comment_id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.count_comments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    with changed as (
      select post_id, parent_id, count(*) as n, count(*) filter (where annotated_asset_id is null) as plain
      from new_rows where deleted_at is null group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count + c.n
      from (select post_id, sum(plain)::bigint as n from changed group by post_id having sum(plain) > 0) c
      where p.id = c.post_id
    )
    update comments r set reply_count = reply_count + c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  elsif tg_op = 'DELETE' then
    with changed as (
      select post_id, parent_id, count(*) as n, count(*) filter (where annotated_asset_id is null) as plain
      from old_rows where deleted_at is null group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count - c.n
      from (select post_id, sum(plain)::bigint as n from changed group by post_id having sum(plain) > 0) c
      where p.id = c.post_id
    )
    update comments r set reply_count = reply_count - c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  else
    with altered as (
      select n.post_id, n.parent_id, n.annotated_asset_id is null as plain,
        (n.deleted_at is null)::integer - (o.deleted_at is null)::integer as n
      from new_rows n join old_rows o on o.id = n.id
      where (n.deleted_at is null) <> (o.deleted_at is null)
    ), changed as (
      select post_id, parent_id, sum(n)::bigint as n, coalesce(sum(n) filter (where plain), 0)::bigint as plain
      from altered group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count + c.n
      from (select post_id, sum(plain)::bigint as n from changed group by post_id having sum(plain) <> 0) c
      where p.id = c.post_id
    )
    update comments r set reply_count = reply_count + c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.count_post_like()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    update posts set like_count = like_count + 1 where id = new.post_id;
  else
    update posts set like_count = like_count - 1 where id = old.post_id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.day_on_clock(at timestamp with time zone, offset_minutes integer)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select least(greatest((at at time zone 'UTC' + make_interval(mins => coalesce(offset_minutes, 0)))::date,
    date '0001-01-01'), date '9999-12-31')
$function$;

CREATE OR REPLACE FUNCTION public.digest_due(moment timestamp with time zone, every text, weekday integer, hour integer, zone text)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  clock timestamp;
  due timestamp;
  step interval := case when every = 'week' then interval '7 days' else interval '1 day' end;
begin
  clock := moment at time zone zone;
  due := case when every = 'week' then date_trunc('week', clock) + make_interval(days => weekday - 1)
    else date_trunc('day', clock) end + make_interval(hours => hour);
  -- Compares instants, because an hour may occur twice or not at all when clocks change.
  if due at time zone zone > moment then due := due - step; end if;
  return due at time zone zone;
exception when invalid_parameter_value then
  return digest_due(moment, every, weekday, hour, 'UTC');
end $function$;

CREATE OR REPLACE FUNCTION public.end_pending_email()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from account_links where user_ref = new.ref and purpose = 'verify_email';
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.exposure_of(visibility text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (visibility = 'public'::text) THEN 'public'::text WHEN (visibility = 'org-only'::text) THEN 'org-only'::text WHEN (visibility = ANY (ARRAY['followers'::text, 'explicit-share'::text, 'private'::text])) THEN 'narrow'::text ELSE NULL::text END;

CREATE OR REPLACE FUNCTION public.field_value_text(type text, field uuid, single text, several text[])
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select coalesce(case
    when type in ('text', 'longtext') then single
    when type = 'rich_text' then regexp_replace(regexp_replace(single, '<[^>]*>', ' ', 'g'), '&#?\w+;', ' ', 'g')
    when type in ('select', 'tree', 'multi_select') then
      (select string_agg(concat_ws(' ', t.label, t.value,
          (select string_agg(x.value, ' ') from jsonb_each_text(t.translations) x)), ' ') from field_terms t
        where t.field_id = field and t.value = any(coalesce(several, array[single])))
  end, '')
$function$;

CREATE OR REPLACE FUNCTION public.forget_confirmed_email()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.email_confirmed_at := null;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.hide_old_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from assets where id in (select asset_id from old_rows) order by id for no key update;
  delete from shown_members s using old_rows o where s.post_id = o.post_id and s.asset_id = o.asset_id
    and not exists (select from post_members m where m.post_id = o.post_id and m.asset_id = o.asset_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_alias_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.key := coalesce(new.key, ascii_key(new.alias));
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_audit_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' and current_setting('vitrine.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'audit events are never changed';
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_email_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and new.email is distinct from old.email
    and new.email_key is not distinct from old.email_key then
    new.email_key := null;
  end if;
  new.email_key := case when new.email is not null then coalesce(new.email_key, ascii_key(new.email)) end;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_follow_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.key := coalesce(new.key, ascii_key(new.tag));
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_label_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and new.label <> old.label and new.label_key is not distinct from old.label_key then
    new.label_key := null;
  end if;
  new.label_key := coalesce(new.label_key, ascii_key(new.label));
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_name_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and new.name <> old.name and new.name_key is not distinct from old.name_key then
    new.name_key := null;
  end if;
  new.name_key := coalesce(new.name_key, ascii_key(new.name));
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_of_values(touched uuid[])
 RETURNS void
 LANGUAGE sql
AS $function$
  update assets a set taken_at = kept.taken_at, taken_on = kept.taken_on,
    latitude = kept.place[1], longitude = kept.place[0]
  from (select t.id, taken_of_asset(t.id) as taken_at, taken_on_of_asset(t.id) as taken_on, place_of_asset(t.id) as place
    from unnest(touched) t (id)) kept
  where a.id = kept.id and (a.taken_at, a.taken_on, a.latitude, a.longitude)
    is distinct from (kept.taken_at, kept.taken_on, kept.place[1], kept.place[0])
$function$;

CREATE OR REPLACE FUNCTION public.keep_role_origin()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.role_provider := null;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_status_origin()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.status_provider := null;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_taken_of_field()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform keep_of_values(array(select v.asset_id from asset_field_values v where v.field_id = new.id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_taken_of_values()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.keep_user_names()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    if new.username <> old.username and new.username_key is not distinct from old.username_key then
      new.username_key := null;
    end if;
    -- A new hash contains the name of now.
    if new.password_hash is distinct from old.password_hash and new.hashed_as is not distinct from old.hashed_as then
      new.hashed_as := null;
    end if;
  end if;
  if new.username_key is null and octet_length(new.username) = length(new.username) then
    new.username_key := lower(new.username collate "C");
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.know_tags(names text[], in_public boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into tags (name, seen_in_public)
    select distinct n collate "C", in_public from unnest(names) as n order by 1
    on conflict (name) do nothing;
  if in_public then
    update tags set seen_in_public = true where name in (
      select t.name from tags t where t.name = any(names) and not t.seen_in_public
      order by t.name for no key update);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.know_tags_of_assets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  kind record;
begin
  for kind in
    select (a.sensitivity = 'public' or (a.sensitivity = 'posts' and a.exposure = 'public')) as in_public,
      array_agg(distinct t.value) as names
    from new_rows t join assets a on a.id = t.asset_id group by 1
  loop
    perform know_tags(kind.names, kind.in_public);
  end loop;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.know_tags_of_new_posts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  kind record;
begin
  for kind in
    select exposure_of(p.visibility) = 'public' as in_public, array_agg(distinct n) as names
    from new_rows p, unnest(p.tags) as n group by 1
  loop
    perform know_tags(kind.names, kind.in_public);
  end loop;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.know_tags_of_opened_asset()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform know_tags(array(select value from asset_tags where asset_id = new.id), true);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.know_tags_of_post()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform know_tags(new.tags, exposure_of(new.visibility) = 'public');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.member_audience(deleted_at timestamp with time zone, status text, processing_status text, sensitivity text, exposure text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when deleted_at is not null or status <> 'active' or processing_status not in ('ready', 'pending') then null
    when sensitivity = 'public' or (sensitivity = 'posts' and exposure = 'public')
      then case when processing_status = 'ready' then 'public' else 'org-only' end
    when sensitivity = 'org' or (sensitivity = 'posts' and exposure = 'org-only') then 'org-only'
  end
$function$;

CREATE OR REPLACE FUNCTION public.note_changed_assets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_root_edits(array(select distinct e.asset_id from edited e));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_changed_values()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_root_edits(array(select distinct e.subject_id from edited e
    where e.subject_kind = 'asset' and e.set_by in ('manual', 'api')));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_copies()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update files f set has_copies = true
  from (select distinct n.file_hash as hash from new_rows n
    where exists (select from assets b where b.file_hash = n.file_hash and b.id <> n.id)) copied
  where f.hash = copied.hash and not f.has_copies;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.note_copy()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update files f set has_copies = true where f.hash = new.file_hash and not f.has_copies
    and exists (select from assets b where b.file_hash = new.file_hash and b.id <> new.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.note_root_edits(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform graphile_worker.add_job('write-sidecars', json_build_object('root', noted.root_id),
      job_key => 'write-sidecars:' || noted.root_id || ':' || pg_current_xact_id(), max_attempts => 5)
    from (
      select distinct a.root_id from assets a join roots r on r.id = a.root_id
      where a.id = any(ids) and r.sidecars = 'write') noted;
  insert into root_edits (asset_id, root_id)
    select a.id, a.root_id from assets a join roots r on r.id = a.root_id
    where a.id = any(ids) and r.sidecars = 'write' order by a.id
    on conflict (asset_id) do update set root_id = excluded.root_id, edited_at = excluded.edited_at;
end $function$;

CREATE OR REPLACE FUNCTION public.place_cell_of(place point)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select spread_bits(least(16777215, floor((place[0] + 180) / 360 * 16777216)::bigint))
    + 2 * spread_bits(least(16777215, greatest(0, floor(
      (0.5 - ln(tan(pi() / 4 + radians(least(85.05, greatest(-85.05, place[1]))) / 2)) / (2 * pi())) * 16777216)::bigint)))
$function$;

CREATE OR REPLACE FUNCTION public.place_of_asset(asset uuid)
 RETURNS point
 LANGUAGE sql
 STABLE
AS $function$
  select place_of_text(v.value_text) from asset_field_values v join fields d on d.id = v.field_id
  where v.asset_id = asset and d.extraction_source = 'gps_coordinates' and d.read_capability is null
    and place_of_text(v.value_text) is not null
  order by d.display_order, d.id limit 1
$function$;

CREATE OR REPLACE FUNCTION public.place_of_text(written text)
 RETURNS point
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select point(m[2]::double precision, m[1]::double precision)
  from regexp_match(written, '^\s*([-+]?\d{1,3}(?:\.\d{1,15})?)\s*[,;]\s*([-+]?\d{1,3}(?:\.\d{1,15})?)\s*$') m
  where abs(m[1]::double precision) <= 90 and abs(m[2]::double precision) <= 180
$function$;

CREATE OR REPLACE FUNCTION public.place_reply()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.annotated_asset_id := (select annotated_asset_id from comments where id = new.parent_id);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.refresh_exposure(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  -- Locks first: the next statement then sees what concurrent changes to other posts of these assets committed.
  perform from assets where id = any(ids) order by id for no key update;
  update assets a set exposure = found.exposure
  from (
    select i.id, case min(case exposure_of(p.visibility) when 'public' then 1 when 'org-only' then 2 when 'narrow' then 3 end)
        when 1 then 'public' when 2 then 'org-only' when 3 then 'narrow' else 'none' end as exposure
    from (select distinct unnest(ids) as id) i
      join assets x on x.id = i.id
      left join lateral (
        select post_id from post_members where asset_id = i.id
        union all
        select t.id from posts t where t.cover_thumbnail_asset_id = i.id
      ) m on true
      left join posts p on p.id = m.post_id and p.deleted_at is null and not p.draft
        and (p.author_user_ref = x.owner_user_ref or p.team_id = x.team_id)
    group by i.id
  ) found
  where a.id = found.id and a.exposure <> found.exposure;
end
$function$;

CREATE OR REPLACE FUNCTION public.refresh_exposure_of_asset()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refresh_exposure(array[new.id]);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.refresh_exposure_of_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  ids uuid[];
begin
  -- A draft passes nothing on; a purged post no longer exists.
  ids := array(select distinct m.asset_id from changed_rows m left join posts p on p.id = m.post_id
    where p.id is null or (p.deleted_at is null and not p.draft));
  if cardinality(ids) > 0 then
    perform refresh_exposure(ids);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.refresh_exposure_of_post()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  ids uuid[] := '{}';
begin
  if tg_op <> 'INSERT' then
    ids := ids || old.cover_thumbnail_asset_id;
  end if;
  if tg_op <> 'DELETE' then
    ids := ids || new.cover_thumbnail_asset_id || array(select asset_id from post_members where post_id = new.id);
  end if;
  perform refresh_exposure(array_remove(ids, null));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.remake_team_closure()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- Serialises changes: two concurrent ones could form a cycle.
  perform pg_advisory_xact_lock(7431003);
  if exists (
    with recursive above (team_id, ancestor_id) as (
      select team_id, parent_id from team_parents
      union
      select a.team_id, p.parent_id from above a join team_parents p on p.team_id = a.ancestor_id
    )
    select from above where team_id = ancestor_id
  ) then
    raise exception 'teams would form a circle' using errcode = 'VT001';
  end if;
  delete from team_closure;
  insert into team_closure (ancestor_id, descendant_id)
    with recursive below (ancestor_id, descendant_id) as (
      select id, id from teams
      union
      select b.ancestor_id, p.team_id from below b join team_parents p on p.parent_id = b.descendant_id
    )
    select ancestor_id, descendant_id from below;
  update access_epoch set epoch = epoch + 1;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.remove_avatar()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update users set avatar_asset_id = null where avatar_asset_id = new.id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.remove_directions_of_asset()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.title := without_directions(new.title, '');
  new.file_name := without_directions(new.file_name, 'file');
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.remove_directions_of_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.name := without_directions(new.name, '-');
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.remove_directions_of_title()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.title := without_directions(new.title, '');
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.remove_directions_of_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.fullname := without_directions(new.fullname, null);
  new.display_name := without_directions(new.display_name, null);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.resembling_text(value text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select translate(left(search_text(value), 2000),
    'абвгдежзийклмнопрстуфхцчшщыэюяіїєґαβγδεζηθικλμνξοπρσςτυφχψωъь',
    'abvgdejziyklmnoprstufhcqwwyeuaiieabgdezhqiklmnxoprsstufxywoo')
$function$;

CREATE OR REPLACE FUNCTION public.search_languages()
 RETURNS regconfig[]
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select array_remove(array[
    ('pg_catalog.' || coalesce((select value #>> '{}' from settings where key = 'search_language'), 'simple'))::regconfig,
    ('pg_catalog.' || (select value ->> 'from' from settings where key = 'search_rewrite'))::regconfig], null)
$function$;

CREATE OR REPLACE FUNCTION public.search_question(words text[], are_unwanted boolean[], are_beginnings boolean[], labels text, OUT wanted tsquery, OUT unwanted tsquery, OUT either tsquery)
 RETURNS record
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET client_min_messages TO 'warning'
AS $function$
declare
  languages regconfig[] := search_languages();
  word tsquery;
begin
  wanted := '';
  unwanted := '';
  either := '';
  for i in 1 .. cardinality(words) loop
    word := search_word(languages[1], words[i], are_beginnings[i], labels);
    if cardinality(languages) > 1 then
      word := word || search_word(languages[2], words[i], are_beginnings[i], labels);
    end if;
    if are_unwanted[i] then
      unwanted := unwanted && !!word;
    else
      wanted := wanted && word;
      either := either || word;
    end if;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_text(value text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
declare
  folded text := translate(lower(unaccent('unaccent', normalize(value, nfkc))),
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ');
begin
  if octet_length(folded) = length(folded) then return folded; end if;
  folded := regexp_replace(folded,
    '[\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff]',
    '', 'g');
  folded := regexp_replace(folded,
    '[\u0080-\u00bf\u00d7\u00f7\u05be\u05c0\u05c3\u2000-\u206f\u3000-\u3004\u3008-\u3020\ufe00-\ufe6f]', ' ', 'g');
  return regexp_replace(folded,
    '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2190-\u2bff\u2e80-\u2fdf\u3005-\u3007\u3021-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003ffff])',
    ' \1 ', 'g');
end
$function$;

CREATE OR REPLACE FUNCTION public.search_vector(language regconfig, value text, weight "char")
 RETURNS tsvector
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select setweight(to_tsvector(language, search_text(left(value, 100000))), weight)
$function$;

CREATE OR REPLACE FUNCTION public.search_word(language regconfig, word text, is_beginning boolean, labels text)
 RETURNS tsquery
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET client_min_messages TO 'warning'
AS $function$
declare
  parts text[] := regexp_split_to_array(btrim(regexp_replace(search_text(word), '\s+', ' ', 'g')), ' ');
  answer tsquery := '';
  suffix text;
begin
  for i in 1 .. cardinality(parts) loop
    continue when parts[i] = '';
    suffix := labels || case when is_beginning and i = cardinality(parts) then '*' else '' end;
    answer := answer <-> to_tsquery(language, '''' || left(parts[i], 400) || '''' || case when suffix = '' then '' else ':' || suffix end);
  end loop;
  return answer;
end
$function$;

CREATE OR REPLACE FUNCTION public.show_members_of_asset()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  -- Of the row as it is now: another trigger of the same statement may have changed it since.
  shown_to text := (
    select member_audience(a.deleted_at, a.status, shown_status(a.processing_status, a.interim_hash),
      a.sensitivity, a.exposure)
    from assets a where a.id = new.id);
begin
  if shown_to is null then
    delete from shown_members s using post_members m
    where m.asset_id = new.id and s.post_id = m.post_id and s.asset_id = m.asset_id;
  else
    insert into shown_members as s (post_id, asset_id, posted_at, audience)
    select m.post_id, m.asset_id, p.posted_at, shown_to
    from post_members m join posts p on p.id = m.post_id where m.asset_id = new.id
    on conflict (post_id, asset_id) do update set audience = excluded.audience where s.audience <> excluded.audience;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.show_new_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- Locks first: the next statement then sees what concurrent changes of these assets committed.
  perform from assets where id in (select asset_id from new_rows) order by id for no key update;
  insert into shown_members as s (post_id, asset_id, posted_at, audience)
  select n.post_id, n.asset_id, p.posted_at, x.audience
  from new_rows n join posts p on p.id = n.post_id join assets a on a.id = n.asset_id
    cross join lateral (
      select member_audience(a.deleted_at, a.status, shown_status(a.processing_status, a.interim_hash),
        a.sensitivity, a.exposure) as audience) x
  where x.audience is not null
  on conflict (post_id, asset_id) do update set posted_at = excluded.posted_at, audience = excluded.audience
    where (s.posted_at, s.audience) is distinct from (excluded.posted_at, excluded.audience);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.shown_status(processing_status text, interim_hash text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when interim_hash is null then processing_status else 'ready' end
$function$;

CREATE OR REPLACE FUNCTION public.size_of_asset()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  select size_bytes into new.size_bytes from files where hash = new.file_hash;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.spread_bits(number bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE STRICT
AS $function$
declare x bigint := number;
begin
  x := (x | (x << 16)) & 281470681808895;
  x := (x | (x << 8)) & 71777214294589695;
  x := (x | (x << 4)) & 1085102592571150095;
  x := (x | (x << 2)) & 3689348814741910323;
  return (x | (x << 1)) & 6148914691236517205;
end
$function$;

CREATE OR REPLACE FUNCTION public.taken_of_asset(asset uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select min(v.value_date) from asset_field_values v join fields d on d.id = v.field_id
  where v.asset_id = asset and d.extraction_source = 'capture_datetime' and d.read_capability is null
$function$;

CREATE OR REPLACE FUNCTION public.taken_on_of_asset(asset uuid)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  select day_on_clock(v.value_date, v.value_offset) from asset_field_values v join fields d on d.id = v.field_id
  where v.asset_id = asset and d.extraction_source = 'capture_datetime' and d.read_capability is null
    and v.value_date is not null
  order by v.value_date limit 1
$function$;

CREATE OR REPLACE FUNCTION public.tell_link(link uuid, what text)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_notify('post', link || ' ' || what) where exists (
    select from link_streams where link_id = link and seen_at > now() - interval '60 seconds')
$function$;

CREATE OR REPLACE FUNCTION public.tell_of_comments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    perform tell_post(post_id, 'comment ' || id) from new_rows;
  else
    perform tell_post(n.post_id, case when n.body <> o.body or n.deleted_at is distinct from o.deleted_at
        then 'comment ' else 'resolved ' end || n.id)
      from new_rows n join old_rows o on o.id = n.id
      where (n.body, n.deleted_at, n.resolved_at, n.assignee_user_ref)
        is distinct from (o.body, o.deleted_at, o.resolved_at, o.assignee_user_ref);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tell_of_feedback()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  link uuid := coalesce(new.link_id, old.link_id);
begin
  perform tell_post(l.post_id, 'feedback ' || l.id) from share_links l where l.id = link;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tell_of_guest()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform tell_link(new.link_id, 'guest ' || new.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tell_of_guest_comment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform tell_link(new.link_id, 'comment ' || new.id);
  perform tell_post(new.post_id, 'guest ' || new.id);
  perform tell_post(new.post_id, 'feedback ' || new.link_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tell_of_terms()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform tell_link(new.id, 'terms');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tell_of_whiteboards()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  board whiteboards := coalesce(new, old);
begin
  perform tell_post(board.post_id, 'whiteboard ' || board.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tell_post(post uuid, what text)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_notify('post', post || ' ' || what) where exists (select from post_presence where post_id = post)
$function$;

CREATE OR REPLACE FUNCTION public.time_asset_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update asset_documents set at = new.created_at where asset_id = new.id and at <> new.created_at;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.time_collection_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update collection_documents set at = new.created_at where collection_id = new.id and at <> new.created_at;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.time_post_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update post_documents set at = new.posted_at where post_id = new.id and at <> new.posted_at;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.time_shown_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from assets where id in (select asset_id from post_members where post_id = new.id) order by id for no key update;
  update shown_members s set posted_at = p.posted_at from posts p
  where s.post_id = new.id and p.id = new.id and s.posted_at <> p.posted_at;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.unpin_post()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from post_pins where post_id = new.id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.wait_for_definitions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from fields where id in (select field_id from new_rows) order by id for key share;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.with_tag_renamed(list jsonb, source text, target text)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(jsonb_agg(name order by place), '[]') from (
    select case when e.name = source then target else e.name end as name, min(e.place) as place
    from jsonb_array_elements_text(list) with ordinality as e (name, place) group by 1
  ) renamed
$function$;

CREATE OR REPLACE FUNCTION public.with_text(language regconfig, document tsvector, value text)
 RETURNS tsvector
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return document || search_vector(language, value, 'D');
exception when program_limit_exceeded then
  return document;
end
$function$;

CREATE OR REPLACE FUNCTION public.without_directions(value text, otherwise text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when value !~ '[\u202a-\u202e\u2066-\u2069]' then value
    else coalesce(nullif(regexp_replace(value, '[\u202a-\u202e\u2066-\u2069]', '', 'g'), ''), otherwise) end
$function$;

CREATE OR REPLACE FUNCTION public.write_annotation_documents(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  language regconfig := (search_languages())[1];
begin
  perform from post_documents where post_id = any(ids) order by post_id for update;
  delete from post_gated_documents where post_id = any(ids);
  insert into post_gated_documents (post_id, asset_id, document)
  select x.post_id, x.asset_id, search_vector(language, string_agg(x.body, ' '), 'D')
  from (select c.post_id, c.annotated_asset_id as asset_id, c.body,
      row_number() over (partition by c.post_id, c.annotated_asset_id order by c.created_at desc, c.id desc) as place
    from comments c
    where c.post_id = any(ids) and c.annotated_asset_id is not null and c.deleted_at is null and c.body <> '') x
  where x.place <= 1000 group by x.post_id, x.asset_id;
  update post_documents d set gated = not d.gated where post_id = any(ids)
    and gated <> exists (select from post_gated_documents g where g.post_id = d.post_id);
end
$function$;

CREATE OR REPLACE FUNCTION public.write_asset_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_asset_documents(array[new.id]);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_asset_documents(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  language regconfig := (search_languages())[1];
begin
  perform from asset_documents where asset_id = any(ids) order by asset_id for update;
  delete from asset_gated_documents where asset_id = any(ids);
  with words as materialized (select asset_id, gate, words from asset_field_words(ids)),
  gated as (
    insert into asset_gated_documents (asset_id, gate, document)
    select w.asset_id, w.gate, search_vector(language, w.words, 'C') from words w where w.gate <> ''
    union all
    select a.id, 'mature', with_text(language, search_vector(language, a.file_name, 'B'), f.text)
    from assets a join files f on f.hash = a.file_hash where a.id = any(ids) and a.mature)
  insert into asset_documents as d (asset_id, at, document, names, gated)
  select a.id, a.created_at,
    case when f.text = '' or a.mature then own.document else with_text(language, own.document, f.text) end,
    resembling_text(a.title || ' ' || tags.words), a.mature or g.asset_id is not null
  from assets a join files f on f.hash = a.file_hash
    left join words w on w.asset_id = a.id and w.gate = ''
    left join (select distinct asset_id from words where gate <> '') g on g.asset_id = a.id
    cross join lateral (select coalesce(string_agg(t.value, ' ' order by t.position, t.value), '') as words
      from asset_tags t where t.asset_id = a.id) tags
    cross join lateral (select search_vector(language, a.title, 'A')
      || search_vector(language, tags.words, 'B')
      || search_vector(language, case when a.mature then '' else a.file_name end, 'B')
      || search_vector(language, a.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C') as document) own
  where a.id = any(ids) order by a.id
  on conflict (asset_id) do update
    set at = excluded.at, document = excluded.document, names = excluded.names, gated = excluded.gated
    where (d.at, d.document, d.names, d.gated) is distinct from (excluded.at, excluded.document, excluded.names, excluded.gated);
end
$function$;

CREATE OR REPLACE FUNCTION public.write_collection_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_collection_documents(array[new.id]);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_collection_documents(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  language regconfig := (search_languages())[1];
begin
  perform from collection_documents where collection_id = any(ids) order by collection_id for update;
  insert into collection_documents as d (collection_id, at, document, names)
  select c.id, c.created_at, search_vector(language, c.name, 'A') || search_vector(language, c.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C'), resembling_text(c.name)
  from collections c left join collection_field_words(ids) w on w.collection_id = c.id and w.gate = ''
  where c.id = any(ids) order by c.id
  on conflict (collection_id) do update set at = excluded.at, document = excluded.document, names = excluded.names
    where (d.at, d.document, d.names) is distinct from (excluded.at, excluded.document, excluded.names);
  delete from collection_gated_documents where collection_id = any(ids);
  insert into collection_gated_documents (collection_id, gate, document)
  select w.collection_id, w.gate, search_vector(language, w.words, 'C') from collection_field_words(ids) w where w.gate <> '';
  update collection_documents d set gated = not d.gated where collection_id = any(ids)
    and gated <> exists (select from collection_gated_documents g where g.collection_id = d.collection_id);
end
$function$;

CREATE OR REPLACE FUNCTION public.write_documents_of_assets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    perform write_asset_documents(array(select distinct asset_id from old_rows));
  elsif tg_op = 'INSERT' then
    perform write_asset_documents(array(select distinct asset_id from new_rows));
  else
    perform write_asset_documents(array(select asset_id from new_rows union select asset_id from old_rows));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_documents_of_collections()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    perform write_collection_documents(array(select distinct collection_id from old_rows));
  elsif tg_op = 'INSERT' then
    perform write_collection_documents(array(select distinct collection_id from new_rows));
  else
    perform write_collection_documents(array(
      select collection_id from new_rows union select collection_id from old_rows));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_documents_of_comments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  language regconfig := (search_languages())[1];
  told uuid[];
  outgrown uuid[];
begin
  if tg_op = 'INSERT' then
    told := array(select distinct post_id from new_rows where deleted_at is null);
    perform from post_documents where post_id = any(told) order by post_id for update;
    insert into post_gated_documents as g (post_id, asset_id, document)
    select post_id, annotated_asset_id, search_vector(language, string_agg(body, ' '), 'D') from new_rows
    where deleted_at is null and annotated_asset_id is not null and body <> '' group by 1, 2
    on conflict (post_id, asset_id) do update set document = case
      -- A document has a largest size. Words of later annotations are then found once it is written anew.
      when length(g.document) > 50000 then g.document else g.document || excluded.document end;
    update post_documents d set gated = true where not d.gated and d.post_id in (
      select post_id from new_rows where deleted_at is null and annotated_asset_id is not null and body <> '');
    -- Adds the words of new comments, and writes the document anew with every hundredth: it keeps words of the newest
    -- 1,000 comments and of at most 99 more.
    outgrown := array(
      select p.id from posts p
        join (select post_id, count(*) as n from new_rows where deleted_at is null and annotated_asset_id is null
          group by post_id) c on c.post_id = p.id
      where p.comment_count / 100 <> (p.comment_count - c.n) / 100);
    update post_documents d set document = with_text(language, d.document, added.words)
    from (select post_id, string_agg(body, ' ') as words from new_rows
      where deleted_at is null and annotated_asset_id is null and post_id <> all(outgrown) group by post_id) added
    where d.post_id = added.post_id;
    if cardinality(outgrown) > 0 then
      perform write_post_documents(outgrown);
    end if;
  elsif tg_op = 'DELETE' then
    perform write_post_documents(array(select distinct post_id from old_rows
      where deleted_at is null and annotated_asset_id is null));
    perform write_annotation_documents(array(select distinct o.post_id from old_rows o join posts p on p.id = o.post_id
      where o.deleted_at is null and o.annotated_asset_id is not null));
  else
    perform write_post_documents(array(select distinct n.post_id from new_rows n join old_rows o on o.id = n.id
      where n.annotated_asset_id is null and (n.body <> o.body or (n.deleted_at is null) <> (o.deleted_at is null))));
    perform write_annotation_documents(array(select distinct n.post_id from new_rows n join old_rows o on o.id = n.id
      where n.annotated_asset_id is not null and (n.body <> o.body or (n.deleted_at is null) <> (o.deleted_at is null))));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_documents_of_text()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from assets where file_hash = new.hash order by id for no key update;
  perform write_asset_documents(array(select id from assets where file_hash = new.hash));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_new_asset_documents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_asset_documents(array(select id from new_rows));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_new_collection_documents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_collection_documents(array(select id from new_rows));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_new_post_documents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_post_documents(array(select id from new_rows));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_new_user_documents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_user_documents(array(select ref from new_rows));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_post_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_post_documents(array[new.id]);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_post_documents(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  language regconfig := (search_languages())[1];
begin
  -- Locks in id order, which prevents deadlocks, before reading the current state.
  perform from post_documents where post_id = any(ids) order by post_id for update;
  insert into post_documents as d (post_id, at, document, names)
  select p.id, p.posted_at, search_vector(language, p.title, 'A')
      || search_vector(language, array_to_string(p.tags, ' '), 'B')
      || search_vector(language, p.description, 'C')
      || search_vector(language, coalesce(case when p.comment_count > 0 then (
          select string_agg(c.body, ' ') from (
            select c.body from comments c
            where c.post_id = p.id and c.deleted_at is null and c.annotated_asset_id is null
            order by c.created_at desc, c.id desc limit 1000) c) end, ''), 'D'),
    resembling_text(p.title || ' ' || array_to_string(p.tags, ' '))
  from posts p where p.id = any(ids) order by p.id
  on conflict (post_id) do update set at = excluded.at, document = excluded.document, names = excluded.names
    where (d.at, d.document, d.names) is distinct from (excluded.at, excluded.document, excluded.names);
  perform write_annotation_documents(ids);
end
$function$;

CREATE OR REPLACE FUNCTION public.write_tag_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into tag_documents (tag, document, names)
    values (new.name, search_vector('simple', new.name, 'A'), resembling_text(new.name))
  on conflict (tag) do update set document = excluded.document, names = excluded.names;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_user_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform write_user_documents(array[new.ref]);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_user_documents(refs bigint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into user_documents as d (user_ref, document, names, full_document, full_names)
  select u.ref, search_vector('simple', n.told, 'A'), resembling_text(n.told),
    search_vector('simple', n.full_told, 'A'), resembling_text(n.full_told)
  from users u cross join lateral (select u.username || ' ' || coalesce(u.display_name, '') as told,
    concat_ws(' ', u.username, u.display_name, u.fullname) as full_told) n
  where u.ref = any(refs) order by u.ref
  on conflict (user_ref) do update set document = excluded.document, names = excluded.names,
    full_document = excluded.full_document, full_names = excluded.full_names
$function$;

create table access_epoch (
  only_row boolean not null default true,
  epoch bigint not null,
  constraint access_epoch_pkey PRIMARY KEY (only_row),
  constraint access_epoch_only_row_check CHECK (only_row)
);

create table access_tokens (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  name text not null,
  token_hash bytea not null,
  scopes text[] not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  constraint access_tokens_token_hash_key UNIQUE (token_hash),
  constraint access_tokens_pkey PRIMARY KEY (id),
  constraint access_tokens_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX access_tokens_user ON public.access_tokens USING btree (user_ref, created_at DESC, id DESC);
CREATE TRIGGER access_tokens_called_out AFTER DELETE ON public.access_tokens REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION call_out_removed();

create table account_exports (
  id uuid not null default gen_random_uuid(),
  user_ref bigint,
  state text not null default 'queued'::text,
  total integer not null default 0,
  files integer not null default 0,
  left_out integer not null default 0,
  size_bytes bigint,
  reason text,
  created_at timestamp(3) with time zone not null default now(),
  reported_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  constraint account_exports_user_ref_key UNIQUE (user_ref),
  constraint account_exports_pkey PRIMARY KEY (id),
  constraint account_exports_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint account_exports_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX account_exports_expiry ON public.account_exports USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table account_links (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  purpose text not null,
  email text not null,
  token_hash bytea,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  constraint account_links_pkey PRIMARY KEY (id),
  constraint account_links_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint account_links_purpose_check CHECK ((purpose = ANY (ARRAY['password_reset'::text, 'verify_email'::text])))
);
CREATE INDEX account_links_expiry ON public.account_links USING btree (expires_at);
CREATE UNIQUE INDEX account_links_purpose ON public.account_links USING btree (user_ref, purpose);
CREATE UNIQUE INDEX account_links_token ON public.account_links USING btree (token_hash) WHERE (token_hash IS NOT NULL);

create table activitypub_actors (
  id uuid not null default gen_random_uuid(),
  user_ref bigint,
  public_key text,
  private_key_sealed bytea,
  created_at timestamp(3) with time zone not null default now(),
  withdrawn_at timestamp(3) with time zone,
  constraint activitypub_actors_pkey PRIMARY KEY (id),
  constraint activitypub_actors_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint activitypub_actors_active_check CHECK (((withdrawn_at IS NOT NULL) OR ((user_ref IS NOT NULL) AND (public_key IS NOT NULL) AND (private_key_sealed IS NOT NULL))))
);
CREATE UNIQUE INDEX activitypub_actors_active ON public.activitypub_actors USING btree (user_ref) WHERE (withdrawn_at IS NULL);
CREATE INDEX activitypub_actors_user ON public.activitypub_actors USING btree (user_ref);

create table activitypub_deliveries (
  id bigint not null generated always as identity,
  actor_id uuid not null,
  inbox text not null,
  activity text not null,
  attempts integer not null default 0,
  next_attempt_at timestamp(3) with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  constraint activitypub_deliveries_pkey PRIMARY KEY (id),
  constraint activitypub_deliveries_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES activitypub_actors(id) ON DELETE CASCADE,
  constraint activitypub_deliveries_inbox_fkey FOREIGN KEY (inbox) REFERENCES activitypub_inboxes(inbox) ON DELETE CASCADE
);
CREATE INDEX activitypub_deliveries_actor ON public.activitypub_deliveries USING btree (actor_id);
CREATE INDEX activitypub_deliveries_order ON public.activitypub_deliveries USING btree (inbox, id);

create table activitypub_followers (
  actor_id uuid not null,
  uri text not null,
  inbox text not null,
  created_at timestamp(3) with time zone not null default now(),
  activity_uri text,
  constraint activitypub_followers_pkey PRIMARY KEY (actor_id, uri),
  constraint activitypub_followers_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES activitypub_actors(id) ON DELETE CASCADE,
  constraint activitypub_followers_activity_uri_check CHECK ((char_length(activity_uri) <= 500)),
  constraint activitypub_followers_inbox_check CHECK ((char_length(inbox) <= 500)),
  constraint activitypub_followers_uri_check CHECK ((char_length(uri) <= 500))
);
CREATE INDEX activitypub_followers_inbox ON public.activitypub_followers USING btree (inbox);
CREATE INDEX activitypub_followers_uri ON public.activitypub_followers USING btree (uri);

create table activitypub_inboxes (
  inbox text not null,
  delivering_until timestamp(3) with time zone,
  last_error text,
  constraint activitypub_inboxes_pkey PRIMARY KEY (inbox),
  constraint activitypub_inboxes_inbox_check CHECK ((char_length(inbox) <= 500))
);

create table activitypub_memory (
  key text not null,
  value jsonb not null,
  expires_at timestamp(3) with time zone,
  constraint activitypub_memory_pkey PRIMARY KEY (key)
);
CREATE INDEX activitypub_memory_expiry ON public.activitypub_memory USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table activitypub_posts (
  actor_id uuid not null,
  post_id uuid not null,
  digest text,
  withdrawn boolean not null default false,
  updated_at timestamp(3) with time zone not null default now(),
  constraint activitypub_posts_pkey PRIMARY KEY (actor_id, post_id),
  constraint activitypub_posts_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES activitypub_actors(id) ON DELETE CASCADE
);
CREATE INDEX activitypub_posts_post ON public.activitypub_posts USING btree (post_id);

create table activitypub_reactions (
  post_id uuid not null,
  actor_id uuid not null,
  uri text not null,
  kind text not null,
  activity_uri text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint activitypub_reactions_pkey PRIMARY KEY (actor_id, post_id, uri, kind),
  constraint activitypub_reactions_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES activitypub_actors(id) ON DELETE CASCADE,
  constraint activitypub_reactions_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint activitypub_reactions_activity_uri_check CHECK ((char_length(activity_uri) <= 500)),
  constraint activitypub_reactions_kind_check CHECK ((kind = ANY (ARRAY['like'::text, 'boost'::text]))),
  constraint activitypub_reactions_uri_check CHECK ((char_length(uri) <= 500))
);
CREATE INDEX activitypub_reactions_post ON public.activitypub_reactions USING btree (post_id);
CREATE INDEX activitypub_reactions_uri ON public.activitypub_reactions USING btree (uri);

create table annotations (
  comment_id uuid not null,
  version integer not null,
  anchor jsonb not null,
  strokes jsonb,
  constraint annotations_pkey PRIMARY KEY (comment_id),
  constraint annotations_comment_id_fkey FOREIGN KEY (comment_id) REFERENCES comments(id) ON DELETE CASCADE,
  constraint annotations_version_check CHECK ((version >= 1))
);

create table archive_files (
  archive_id uuid not null,
  position integer not null,
  asset_id uuid not null,
  name text,
  file_hash text,
  size_bytes bigint,
  constraint archive_files_pkey PRIMARY KEY (archive_id, "position"),
  constraint archive_files_archive_id_fkey FOREIGN KEY (archive_id) REFERENCES archives(id) ON DELETE CASCADE
);

create table archives (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  name text not null,
  size_bytes bigint,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  preset text,
  made_count integer not null default 0,
  left_out_count integer not null default 0,
  reported_at timestamp(3) with time zone,
  outcome text,
  constraint archives_pkey PRIMARY KEY (id),
  constraint archives_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint archives_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'stopped'::text])))
);
CREATE INDEX archives_expiry ON public.archives USING btree (expires_at);
CREATE INDEX archives_owner ON public.archives USING btree (user_ref, created_at DESC, id DESC);

create table asset_changes (
  id uuid not null default gen_random_uuid(),
  asset_id uuid not null,
  actor_user_ref bigint,
  properties text[] not null,
  at timestamp(3) with time zone not null default clock_timestamp(),
  constraint asset_changes_pkey PRIMARY KEY (id),
  constraint asset_changes_actor_user_ref_fkey FOREIGN KEY (actor_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint asset_changes_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE
);
CREATE INDEX asset_changes_actor ON public.asset_changes USING btree (actor_user_ref) WHERE (actor_user_ref IS NOT NULL);
CREATE INDEX asset_changes_asset ON public.asset_changes USING btree (asset_id, at DESC, id DESC);
CREATE TRIGGER assets_changed AFTER INSERT ON public.asset_changes REFERENCING NEW TABLE AS edited FOR EACH STATEMENT EXECUTE FUNCTION note_changed_assets();

create table asset_documents (
  asset_id uuid not null,
  at timestamp(3) with time zone not null,
  document tsvector not null,
  names text not null,
  gated boolean not null default false,
  constraint asset_documents_pkey PRIMARY KEY (asset_id),
  constraint asset_documents_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE
);
CREATE INDEX asset_documents_at ON public.asset_documents USING btree (at DESC, asset_id DESC);
CREATE INDEX asset_documents_names ON public.asset_documents USING gin (names gin_trgm_ops);
CREATE INDEX asset_documents_titles ON public.asset_documents USING gin (ts_filter(document, '{a}'::"char"[]));
CREATE INDEX asset_documents_words ON public.asset_documents USING gin (document);

create table asset_downloads (
  id uuid not null default gen_random_uuid(),
  asset_id uuid not null,
  user_ref bigint,
  download_count bigint not null default 1,
  last_downloaded_at timestamp(3) with time zone not null default now(),
  constraint asset_downloads_asset_id_user_ref_key UNIQUE (asset_id, user_ref),
  constraint asset_downloads_pkey PRIMARY KEY (id),
  constraint asset_downloads_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint asset_downloads_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE SET NULL
);
CREATE INDEX asset_downloads_user ON public.asset_downloads USING btree (user_ref) WHERE (user_ref IS NOT NULL);

create table asset_field_values (
  asset_id uuid not null,
  field_id uuid not null,
  value_text text,
  value_num double precision,
  value_date timestamp(3) with time zone,
  value_options text[],
  value_ref uuid,
  set_by text not null,
  set_at timestamp(3) with time zone not null default now(),
  set_by_user_ref bigint,
  value_offset smallint,
  constraint asset_field_values_pkey PRIMARY KEY (asset_id, field_id),
  constraint asset_field_values_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint asset_field_values_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id),
  constraint asset_field_values_check CHECK ((num_nonnulls(value_text, value_num, value_date, value_options, value_ref) = 1)),
  constraint asset_field_values_set_by_check CHECK ((set_by = ANY (ARRAY['manual'::text, 'exif'::text, 'iptc'::text, 'xmp'::text, 'api'::text, 'import'::text, 'computed'::text, 'default'::text, 'mirror'::text]))),
  constraint asset_field_values_value_offset_check CHECK (((value_offset >= '-899'::integer) AND (value_offset <= 899)))
);
CREATE INDEX asset_field_values_date ON public.asset_field_values USING btree (field_id, value_date, asset_id) WHERE (value_date IS NOT NULL);
CREATE INDEX asset_field_values_num ON public.asset_field_values USING btree (field_id, value_num, asset_id) WHERE (value_num IS NOT NULL);
CREATE INDEX asset_field_values_options ON public.asset_field_values USING gin (field_id, value_options) WHERE (value_options IS NOT NULL);
CREATE INDEX asset_field_values_ref ON public.asset_field_values USING btree (field_id, value_ref, asset_id) WHERE (value_ref IS NOT NULL);
CREATE INDEX asset_field_values_text ON public.asset_field_values USING btree (field_id, "left"(value_text, 100), asset_id) WHERE (value_text IS NOT NULL);
CREATE INDEX asset_field_values_words ON public.asset_field_values USING gin (field_id, value_text gin_trgm_ops) WHERE (value_text IS NOT NULL);
CREATE TRIGGER asset_field_values_await_anew AFTER UPDATE ON public.asset_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wait_for_definitions();
CREATE TRIGGER asset_field_values_await_in AFTER INSERT ON public.asset_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wait_for_definitions();
CREATE TRIGGER asset_field_values_searched_anew AFTER UPDATE ON public.asset_field_values REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('vitrine.filling'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION write_documents_of_assets();
CREATE TRIGGER asset_field_values_searched_in AFTER INSERT ON public.asset_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('vitrine.filling'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION write_documents_of_assets();
CREATE TRIGGER asset_field_values_searched_out AFTER DELETE ON public.asset_field_values REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION write_documents_of_assets();
CREATE TRIGGER asset_field_values_taken_anew AFTER UPDATE ON public.asset_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_taken_of_values();
CREATE TRIGGER asset_field_values_taken_in AFTER INSERT ON public.asset_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_taken_of_values();
CREATE TRIGGER asset_field_values_taken_out AFTER DELETE ON public.asset_field_values REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_taken_of_values();

create table asset_gated_documents (
  asset_id uuid not null,
  gate text not null,
  document tsvector not null,
  constraint asset_gated_documents_pkey PRIMARY KEY (asset_id, gate),
  constraint asset_gated_documents_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE
);
CREATE INDEX asset_gated_documents_words ON public.asset_gated_documents USING gin (document);

create table asset_shares (
  asset_id uuid not null,
  user_ref bigint not null,
  shared_by_user_ref bigint,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  constraint asset_shares_pkey PRIMARY KEY (asset_id, user_ref),
  constraint asset_shares_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint asset_shares_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX asset_shares_expiry ON public.asset_shares USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX asset_shares_user ON public.asset_shares USING btree (user_ref, asset_id);

create table asset_sidecars (
  asset_id uuid not null,
  kind text not null,
  file_name text not null,
  file_hash text not null,
  sources jsonb not null,
  former jsonb not null default '{}'::jsonb,
  raw jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint asset_sidecars_pkey PRIMARY KEY (asset_id, kind),
  constraint asset_sidecars_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint asset_sidecars_kind_check CHECK ((kind = ANY (ARRAY['takeout'::text, 'stem'::text, 'named'::text, 'immich'::text])))
);

create table asset_tags (
  asset_id uuid not null,
  value text not null,
  source text not null,
  confidence double precision,
  created_by_provider text,
  created_by_model text,
  position integer not null default 0,
  constraint asset_tags_pkey PRIMARY KEY (asset_id, value),
  constraint asset_tags_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint asset_tags_check CHECK (((source = 'ai'::text) = (confidence IS NOT NULL))),
  constraint asset_tags_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
  constraint asset_tags_source_check CHECK ((source = ANY (ARRAY['manual'::text, 'ai'::text, 'import'::text])))
);
CREATE INDEX asset_tags_value ON public.asset_tags USING btree (value);
CREATE TRIGGER asset_tags_known AFTER INSERT ON public.asset_tags REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('vitrine.merging_tags'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION know_tags_of_assets();
CREATE TRIGGER asset_tags_searched_anew AFTER UPDATE ON public.asset_tags REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('vitrine.merging_tags'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION write_documents_of_assets();
CREATE TRIGGER asset_tags_searched_in AFTER INSERT ON public.asset_tags REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('vitrine.merging_tags'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION write_documents_of_assets();
CREATE TRIGGER asset_tags_searched_out AFTER DELETE ON public.asset_tags REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN ((current_setting('vitrine.merging_tags'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION write_documents_of_assets();

create table asset_types (
  ref integer not null,
  code text not null,
  label text not null,
  constraint asset_types_code_key UNIQUE (code),
  constraint asset_types_pkey PRIMARY KEY (ref)
);

create table asset_versions (
  asset_id uuid not null,
  number integer not null,
  file_hash text not null,
  file_name text not null,
  note text not null default ''::text,
  had_subtitles boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  created_by_user_ref bigint,
  constraint asset_versions_pkey PRIMARY KEY (asset_id, number),
  constraint asset_versions_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint asset_versions_created_by_user_ref_fkey FOREIGN KEY (created_by_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint asset_versions_file_hash_fkey FOREIGN KEY (file_hash) REFERENCES files(hash),
  constraint asset_versions_note_check CHECK ((char_length(note) <= 2000)),
  constraint asset_versions_number_check CHECK ((number >= 1))
);
CREATE INDEX asset_versions_creator ON public.asset_versions USING btree (created_by_user_ref) WHERE (created_by_user_ref IS NOT NULL);
CREATE INDEX asset_versions_file ON public.asset_versions USING btree (file_hash);

create table assets (
  id uuid not null default gen_random_uuid(),
  owner_user_ref bigint,
  title text not null default ''::text,
  description text not null default ''::text,
  asset_type integer not null,
  status text not null default 'active'::text,
  sensitivity text not null default 'public'::text,
  mature boolean not null default false,
  ai_provenance text,
  file_hash text not null,
  file_name text not null,
  metadata jsonb not null default '{}'::jsonb,
  state_id uuid,
  team_id uuid,
  processing_status text not null default 'pending'::text,
  processing_error text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  deleted_reason text,
  deleted_by_user_ref bigint,
  exposure text not null default 'none'::text,
  origin_peer_id uuid,
  visible_until timestamp(3) with time zone,
  interim_hash text,
  size_bytes bigint not null default 0,
  taken_at timestamp(3) with time zone,
  root_id uuid,
  root_path text,
  missing_since timestamp(3) with time zone,
  film_hash text,
  taken_on date,
  latitude double precision,
  longitude double precision,
  place_cell bigint generated always as (place_cell_of(point(longitude, latitude))) stored,
  shown_to smallint not null generated always as (
CASE
    WHEN ((status <> 'active'::text) OR (visible_until IS NOT NULL) OR (processing_status = 'failed'::text)) THEN 0
    WHEN ((processing_status = 'ready'::text) AND ((sensitivity = 'public'::text) OR ((sensitivity = 'posts'::text) AND (exposure = 'public'::text)))) THEN 2
    WHEN ((sensitivity = ANY (ARRAY['public'::text, 'org'::text])) OR ((sensitivity = 'posts'::text) AND (exposure = ANY (ARRAY['public'::text, 'org-only'::text])))) THEN 1
    ELSE 0
END) stored,
  constraint assets_pkey PRIMARY KEY (id),
  constraint assets_asset_type_fkey FOREIGN KEY (asset_type) REFERENCES asset_types(ref),
  constraint assets_file_hash_fkey FOREIGN KEY (file_hash) REFERENCES files(hash),
  constraint assets_film_hash_fkey FOREIGN KEY (film_hash) REFERENCES files(hash),
  constraint assets_interim_hash_fkey FOREIGN KEY (interim_hash) REFERENCES files(hash),
  constraint assets_origin_peer_id_fkey FOREIGN KEY (origin_peer_id) REFERENCES federation_peers(id),
  constraint assets_root_id_fkey FOREIGN KEY (root_id) REFERENCES roots(id) ON DELETE SET NULL,
  constraint assets_state_id_fkey FOREIGN KEY (state_id) REFERENCES workflow_states(id),
  constraint assets_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint assets_ai_provenance_check CHECK ((ai_provenance = ANY (ARRAY['none'::text, 'assisted'::text, 'generated'::text]))),
  constraint assets_exposure_check CHECK ((exposure = ANY (ARRAY['none'::text, 'narrow'::text, 'org-only'::text, 'public'::text]))),
  constraint assets_interim CHECK (((interim_hash IS NULL) OR (processing_status = 'pending'::text))),
  constraint assets_processing_status_check CHECK ((processing_status = ANY (ARRAY['pending'::text, 'ready'::text, 'failed'::text]))),
  constraint assets_sensitivity_check CHECK ((sensitivity = ANY (ARRAY['posts'::text, 'public'::text, 'org'::text, 'team'::text, 'restricted'::text]))),
  constraint assets_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'archived'::text])))
);
CREATE INDEX assets_by_day ON public.assets USING btree (shown_to, taken_on) WHERE (deleted_at IS NULL);
CREATE INDEX assets_by_day_and_rule ON public.assets USING btree (taken_on) INCLUDE (id, owner_user_ref, team_id, sensitivity, exposure, status, processing_status, visible_until, deleted_at) WHERE ((deleted_at IS NULL) AND (shown_to = 0));
CREATE INDEX assets_by_day_of_year ON public.assets USING btree (EXTRACT(month FROM taken_on), EXTRACT(day FROM taken_on), taken_on) WHERE ((deleted_at IS NULL) AND (taken_on IS NOT NULL));
CREATE INDEX assets_by_file_name ON public.assets USING btree (file_name) WHERE (deleted_at IS NULL);
CREATE INDEX assets_by_origin ON public.assets USING btree (origin_peer_id, created_at DESC, id DESC) WHERE (origin_peer_id IS NOT NULL);
CREATE INDEX assets_by_place ON public.assets USING btree (shown_to, place_cell) INCLUDE (latitude, longitude) WHERE ((deleted_at IS NULL) AND (place_cell IS NOT NULL));
CREATE INDEX assets_by_place_and_rule ON public.assets USING btree (place_cell) INCLUDE (latitude, longitude, id, owner_user_ref, team_id, sensitivity, exposure, status, processing_status, visible_until, deleted_at) WHERE ((deleted_at IS NULL) AND (shown_to = 0) AND (place_cell IS NOT NULL));
CREATE INDEX assets_by_size ON public.assets USING btree (size_bytes, id) WHERE (deleted_at IS NULL);
CREATE INDEX assets_by_taken ON public.assets USING btree (COALESCE(taken_at, created_at), id) WHERE (deleted_at IS NULL);
CREATE INDEX assets_by_title ON public.assets USING btree ("left"(title, 100) COLLATE natural_order, id) WHERE (deleted_at IS NULL);
CREATE INDEX assets_exposed ON public.assets USING btree (created_at DESC, id DESC) WHERE ((deleted_at IS NULL) AND (((sensitivity = 'public'::text) AND (exposure <> 'public'::text)) OR ((sensitivity = 'org'::text) AND (exposure = ANY (ARRAY['none'::text, 'narrow'::text])))));
CREATE INDEX assets_file ON public.assets USING btree (file_hash);
CREATE INDEX assets_film ON public.assets USING btree (film_hash) WHERE (film_hash IS NOT NULL);
CREATE INDEX assets_for_accounts ON public.assets USING btree (created_at DESC, id DESC) WHERE ((deleted_at IS NULL) AND ((sensitivity <> 'posts'::text) OR (exposure = ANY (ARRAY['public'::text, 'org-only'::text]))));
CREATE INDEX assets_for_some ON public.assets USING btree (created_at DESC, id DESC) WHERE ((deleted_at IS NULL) AND (sensitivity = 'posts'::text) AND (exposure = 'narrow'::text));
CREATE INDEX assets_for_visitors ON public.assets USING btree (created_at DESC, id DESC) WHERE ((deleted_at IS NULL) AND ((sensitivity = 'public'::text) OR ((sensitivity = 'posts'::text) AND (exposure = 'public'::text))));
CREATE INDEX assets_for_visitors_for_now ON public.assets USING btree (taken_on) WHERE ((deleted_at IS NULL) AND (shown_to < 2) AND ((visible_until IS NOT NULL) OR (interim_hash IS NOT NULL)));
CREATE INDEX assets_list ON public.assets USING btree (created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX assets_of_owner_by_size ON public.assets USING btree (owner_user_ref, size_bytes, id) WHERE (deleted_at IS NULL);
CREATE INDEX assets_of_owner_by_stem ON public.assets USING btree (owner_user_ref, lower((NORMALIZE(regexp_replace(file_name, '\.[^.]*$'::text, ''::text), NFC) COLLATE "C"))) WHERE (deleted_at IS NULL);
CREATE INDEX assets_of_owner_by_taken ON public.assets USING btree (owner_user_ref, COALESCE(taken_at, created_at), id) WHERE (deleted_at IS NULL);
CREATE INDEX assets_of_owner_by_title ON public.assets USING btree (owner_user_ref, "left"(title, 100) COLLATE natural_order, id) WHERE (deleted_at IS NULL);
CREATE INDEX assets_owner ON public.assets USING btree (owner_user_ref, created_at DESC, id DESC);
CREATE INDEX assets_owner_files ON public.assets USING btree (owner_user_ref, file_hash) WHERE (deleted_at IS NULL);
CREATE INDEX assets_root ON public.assets USING btree (root_id) WHERE (root_id IS NOT NULL);
CREATE INDEX assets_state ON public.assets USING btree (state_id, created_at DESC, id DESC) WHERE ((state_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX assets_team ON public.assets USING btree (team_id, created_at DESC, id DESC) WHERE (team_id IS NOT NULL);
CREATE INDEX assets_team_live ON public.assets USING btree (team_id) WHERE ((team_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX assets_trash_age ON public.assets USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX assets_trash_deleter ON public.assets USING btree (deleted_by_user_ref, deleted_at DESC, id DESC) WHERE (deleted_at IS NOT NULL);
CREATE INDEX assets_trash_owner ON public.assets USING btree (owner_user_ref, deleted_at DESC, id DESC) WHERE (deleted_at IS NOT NULL);
CREATE INDEX assets_unfinished ON public.assets USING btree (processing_status, created_at) WHERE (processing_status <> 'ready'::text);
CREATE INDEX assets_untaken ON public.assets USING btree (COALESCE(taken_at, created_at), id) WHERE ((deleted_at IS NULL) AND (taken_on IS NULL));
CREATE INDEX assets_waiting ON public.assets USING btree (owner_user_ref) WHERE (processing_status = 'pending'::text);
CREATE TRIGGER assets_avatar AFTER UPDATE OF deleted_at, status, sensitivity, mature, owner_user_ref ON public.assets FOR EACH ROW WHEN (((new.deleted_at IS NOT NULL) OR (new.status <> 'active'::text) OR (new.sensitivity <> 'public'::text) OR new.mature OR (new.owner_user_ref IS DISTINCT FROM old.owner_user_ref))) EXECUTE FUNCTION remove_avatar();
CREATE TRIGGER assets_copied_anew AFTER UPDATE OF file_hash ON public.assets FOR EACH ROW WHEN ((new.file_hash IS DISTINCT FROM old.file_hash)) EXECUTE FUNCTION note_copy();
CREATE TRIGGER assets_copied_in AFTER INSERT ON public.assets REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_copies();
CREATE TRIGGER assets_directions BEFORE INSERT OR UPDATE OF title, file_name ON public.assets FOR EACH ROW WHEN (((new.title || new.file_name) ~ '[\u202a-\u202e\u2066-\u2069]'::text)) EXECUTE FUNCTION remove_directions_of_asset();
CREATE TRIGGER assets_document AFTER INSERT ON public.assets REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('vitrine.filling'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION write_new_asset_documents();
CREATE TRIGGER assets_document_anew AFTER UPDATE OF title, description, file_name, mature, asset_type, file_hash ON public.assets FOR EACH ROW WHEN (((new.title IS DISTINCT FROM old.title) OR (new.description IS DISTINCT FROM old.description) OR (new.file_name IS DISTINCT FROM old.file_name) OR (new.mature IS DISTINCT FROM old.mature) OR (new.asset_type IS DISTINCT FROM old.asset_type) OR (new.file_hash IS DISTINCT FROM old.file_hash))) EXECUTE FUNCTION write_asset_document();
CREATE TRIGGER assets_document_timed AFTER UPDATE ON public.assets FOR EACH ROW WHEN ((new.created_at IS DISTINCT FROM old.created_at)) EXECUTE FUNCTION time_asset_document();
CREATE TRIGGER assets_expose AFTER UPDATE OF owner_user_ref, team_id ON public.assets FOR EACH ROW WHEN (((new.owner_user_ref IS DISTINCT FROM old.owner_user_ref) OR (new.team_id IS DISTINCT FROM old.team_id))) EXECUTE FUNCTION refresh_exposure_of_asset();
CREATE TRIGGER assets_show_members AFTER UPDATE OF deleted_at, status, processing_status, interim_hash, sensitivity, exposure ON public.assets FOR EACH ROW WHEN ((member_audience(new.deleted_at, new.status, shown_status(new.processing_status, new.interim_hash), new.sensitivity, new.exposure) IS DISTINCT FROM member_audience(old.deleted_at, old.status, shown_status(old.processing_status, old.interim_hash), old.sensitivity, old.exposure))) EXECUTE FUNCTION show_members_of_asset();
CREATE TRIGGER assets_sized BEFORE INSERT OR UPDATE OF file_hash ON public.assets FOR EACH ROW EXECUTE FUNCTION size_of_asset();
CREATE TRIGGER assets_tags_known AFTER UPDATE OF sensitivity, exposure ON public.assets FOR EACH ROW WHEN ((((new.sensitivity = 'public'::text) OR ((new.sensitivity = 'posts'::text) AND (new.exposure = 'public'::text))) AND (NOT ((old.sensitivity = 'public'::text) OR ((old.sensitivity = 'posts'::text) AND (old.exposure = 'public'::text)))))) EXECUTE FUNCTION know_tags_of_opened_asset();

create table audit_events (
  id uuid not null default gen_random_uuid(),
  event text not null,
  actor_user_ref bigint,
  impersonator_user_ref bigint,
  subject_user_ref bigint,
  target_kind text,
  target_id uuid,
  metadata jsonb not null default '{}'::jsonb,
  occurred_at timestamp(3) with time zone not null default now(),
  constraint audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_actor ON public.audit_events USING btree (actor_user_ref, occurred_at DESC, id DESC);
CREATE INDEX audit_events_asset ON public.audit_events USING btree (target_id, occurred_at DESC, id DESC) WHERE (target_kind = 'asset'::text);
CREATE INDEX audit_events_event ON public.audit_events USING btree (event text_pattern_ops, occurred_at DESC, id DESC);
CREATE INDEX audit_events_impersonator ON public.audit_events USING btree (impersonator_user_ref, occurred_at DESC, id DESC) WHERE (impersonator_user_ref IS NOT NULL);
CREATE INDEX audit_events_newest_sign_ins ON public.audit_events USING btree (occurred_at DESC, id DESC) WHERE (event = 'auth.signed_in'::text);
CREATE INDEX audit_events_signed_in ON public.audit_events USING btree (subject_user_ref, occurred_at DESC, id DESC) WHERE (event = 'auth.signed_in'::text);
CREATE INDEX audit_events_subject ON public.audit_events USING btree (subject_user_ref, occurred_at DESC, id DESC);
CREATE INDEX audit_events_time ON public.audit_events USING btree (occurred_at DESC, id DESC);
CREATE TRIGGER audit_events_kept BEFORE DELETE OR UPDATE ON public.audit_events FOR EACH ROW EXECUTE FUNCTION keep_audit_events();
CREATE TRIGGER audit_events_not_emptied BEFORE TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_events();

create table batch_items (
  batch_id uuid not null,
  position integer not null,
  object_id uuid,
  outcome text,
  reason text,
  record jsonb,
  given jsonb,
  object_ref bigint,
  constraint batch_items_pkey PRIMARY KEY (batch_id, "position"),
  constraint batch_items_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES batches(id) ON DELETE CASCADE,
  constraint batch_items_object_check CHECK ((num_nonnulls(object_id, object_ref) = 1)),
  constraint batch_items_outcome_check CHECK ((outcome = ANY (ARRAY['changed'::text, 'unchanged'::text, 'refused'::text])))
);
CREATE INDEX batch_items_refused ON public.batch_items USING btree (batch_id, "position") WHERE (outcome = 'refused'::text);
CREATE INDEX batch_items_waiting ON public.batch_items USING btree (batch_id, "position") WHERE (outcome IS NULL);

create table batches (
  id uuid not null default gen_random_uuid(),
  subject text not null,
  action jsonb,
  undoes uuid,
  user_ref bigint not null,
  token_id uuid,
  impersonator_user_ref bigint,
  state text not null default 'queued'::text,
  total integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  refused integer not null default 0,
  post_id uuid,
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint batches_undoes_key UNIQUE (undoes),
  constraint batches_pkey PRIMARY KEY (id),
  constraint batches_undoes_fkey FOREIGN KEY (undoes) REFERENCES batches(id) ON DELETE CASCADE,
  constraint batches_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint batches_check CHECK (((action IS NULL) = (undoes IS NOT NULL))),
  constraint batches_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'cancelled'::text, 'failed'::text]))),
  constraint batches_subject_check CHECK ((subject = ANY (ARRAY['asset'::text, 'post'::text, 'user'::text])))
);
CREATE INDEX batches_by_age ON public.batches USING btree (created_at);
CREATE INDEX batches_of_account ON public.batches USING btree (user_ref, created_at DESC, id DESC);

create table collection_assets (
  collection_id uuid not null,
  asset_id uuid not null,
  position bigint not null,
  added_by bigint not null,
  added_at timestamp(3) with time zone not null default now(),
  constraint collection_assets_pkey PRIMARY KEY (collection_id, asset_id),
  constraint collection_assets_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint collection_assets_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE
);
CREATE INDEX collection_assets_asset ON public.collection_assets USING btree (asset_id, collection_id);
CREATE INDEX collection_assets_order ON public.collection_assets USING btree (collection_id, "position", asset_id);

create table collection_documents (
  collection_id uuid not null,
  at timestamp(3) with time zone not null,
  document tsvector not null,
  names text not null,
  gated boolean not null default false,
  constraint collection_documents_pkey PRIMARY KEY (collection_id),
  constraint collection_documents_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE
);
CREATE INDEX collection_documents_at ON public.collection_documents USING btree (at DESC, collection_id DESC);
CREATE INDEX collection_documents_names ON public.collection_documents USING gin (names gin_trgm_ops);
CREATE INDEX collection_documents_titles ON public.collection_documents USING gin (ts_filter(document, '{a}'::"char"[]));
CREATE INDEX collection_documents_words ON public.collection_documents USING gin (document);

create table collection_field_values (
  collection_id uuid not null,
  field_id uuid not null,
  value_text text,
  value_num double precision,
  value_date timestamp(3) with time zone,
  value_options text[],
  value_ref uuid,
  set_by text not null,
  set_at timestamp(3) with time zone not null default now(),
  set_by_user_ref bigint,
  value_offset smallint,
  constraint collection_field_values_pkey PRIMARY KEY (collection_id, field_id),
  constraint collection_field_values_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE,
  constraint collection_field_values_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id),
  constraint collection_field_values_check CHECK ((num_nonnulls(value_text, value_num, value_date, value_options, value_ref) = 1)),
  constraint collection_field_values_set_by_check CHECK ((set_by = ANY (ARRAY['manual'::text, 'exif'::text, 'iptc'::text, 'xmp'::text, 'api'::text, 'import'::text, 'computed'::text, 'default'::text, 'mirror'::text]))),
  constraint collection_field_values_value_offset_check CHECK (((value_offset >= '-899'::integer) AND (value_offset <= 899)))
);
CREATE INDEX collection_field_values_date ON public.collection_field_values USING btree (field_id, value_date, collection_id) WHERE (value_date IS NOT NULL);
CREATE INDEX collection_field_values_num ON public.collection_field_values USING btree (field_id, value_num, collection_id) WHERE (value_num IS NOT NULL);
CREATE INDEX collection_field_values_options ON public.collection_field_values USING gin (field_id, value_options) WHERE (value_options IS NOT NULL);
CREATE INDEX collection_field_values_ref ON public.collection_field_values USING btree (field_id, value_ref, collection_id) WHERE (value_ref IS NOT NULL);
CREATE INDEX collection_field_values_text ON public.collection_field_values USING btree (field_id, "left"(value_text, 100), collection_id) WHERE (value_text IS NOT NULL);
CREATE INDEX collection_field_values_words ON public.collection_field_values USING gin (field_id, value_text gin_trgm_ops) WHERE (value_text IS NOT NULL);
CREATE TRIGGER collection_field_values_await_anew AFTER UPDATE ON public.collection_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wait_for_definitions();
CREATE TRIGGER collection_field_values_await_in AFTER INSERT ON public.collection_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wait_for_definitions();
CREATE TRIGGER collection_field_values_searched_anew AFTER UPDATE ON public.collection_field_values REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_documents_of_collections();
CREATE TRIGGER collection_field_values_searched_in AFTER INSERT ON public.collection_field_values REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_documents_of_collections();
CREATE TRIGGER collection_field_values_searched_out AFTER DELETE ON public.collection_field_values REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION write_documents_of_collections();

create table collection_gated_documents (
  collection_id uuid not null,
  gate text not null,
  document tsvector not null,
  constraint collection_gated_documents_pkey PRIMARY KEY (collection_id, gate),
  constraint collection_gated_documents_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE
);
CREATE INDEX collection_gated_documents_words ON public.collection_gated_documents USING gin (document);

create table collection_posts (
  collection_id uuid not null,
  post_id uuid not null,
  position bigint not null,
  added_by bigint not null,
  added_at timestamp(3) with time zone not null default now(),
  constraint collection_posts_pkey PRIMARY KEY (collection_id, post_id),
  constraint collection_posts_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE,
  constraint collection_posts_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);
CREATE INDEX collection_posts_order ON public.collection_posts USING btree (collection_id, "position", post_id);
CREATE INDEX collection_posts_post ON public.collection_posts USING btree (post_id, collection_id);

create table collection_shares (
  collection_id uuid not null,
  user_ref bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  constraint collection_shares_pkey PRIMARY KEY (collection_id, user_ref),
  constraint collection_shares_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE,
  constraint collection_shares_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX collection_shares_user ON public.collection_shares USING btree (user_ref);

create table collections (
  id uuid not null default gen_random_uuid(),
  owner_user_ref bigint not null,
  name text not null,
  description text not null default ''::text,
  visibility text not null default 'org-only'::text,
  cover_post_id uuid,
  cover_focal_x double precision,
  cover_focal_y double precision,
  cover_focal_asset_id uuid,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  deleted_reason text,
  deleted_by_user_ref bigint,
  origin_peer_id uuid,
  visible_until timestamp(3) with time zone,
  query jsonb,
  constraint collections_pkey PRIMARY KEY (id),
  constraint collections_origin_peer_id_fkey FOREIGN KEY (origin_peer_id) REFERENCES federation_peers(id),
  constraint collections_check CHECK (((cover_focal_x IS NULL) = (cover_focal_y IS NULL))),
  constraint collections_cover_focal_x_check CHECK (((cover_focal_x >= (0)::double precision) AND (cover_focal_x <= (1)::double precision))),
  constraint collections_cover_focal_y_check CHECK (((cover_focal_y >= (0)::double precision) AND (cover_focal_y <= (1)::double precision))),
  constraint collections_name_check CHECK ((name <> ''::text)),
  constraint collections_visibility_check CHECK ((visibility = ANY (ARRAY['public'::text, 'private'::text, 'org-only'::text, 'followers'::text, 'explicit-share'::text])))
);
CREATE INDEX collections_by_origin ON public.collections USING btree (origin_peer_id) WHERE (origin_peer_id IS NOT NULL);
CREATE INDEX collections_list ON public.collections USING btree (created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX collections_name ON public.collections USING gin (name gin_trgm_ops) WHERE (deleted_at IS NULL);
CREATE INDEX collections_owner ON public.collections USING btree (owner_user_ref, created_at DESC, id DESC);
CREATE INDEX collections_trash_age ON public.collections USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX collections_trash_deleter ON public.collections USING btree (deleted_by_user_ref, deleted_at DESC, id DESC) WHERE (deleted_at IS NOT NULL);
CREATE INDEX collections_trash_owner ON public.collections USING btree (owner_user_ref, deleted_at DESC, id DESC) WHERE (deleted_at IS NOT NULL);
CREATE TRIGGER collections_directions BEFORE INSERT OR UPDATE OF name ON public.collections FOR EACH ROW WHEN ((new.name ~ '[\u202a-\u202e\u2066-\u2069]'::text)) EXECUTE FUNCTION remove_directions_of_name();
CREATE TRIGGER collections_document AFTER INSERT ON public.collections REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_new_collection_documents();
CREATE TRIGGER collections_document_anew AFTER UPDATE OF name, description ON public.collections FOR EACH ROW WHEN (((new.name IS DISTINCT FROM old.name) OR (new.description IS DISTINCT FROM old.description))) EXECUTE FUNCTION write_collection_document();
CREATE TRIGGER collections_document_timed AFTER UPDATE ON public.collections FOR EACH ROW WHEN ((new.created_at IS DISTINCT FROM old.created_at)) EXECUTE FUNCTION time_collection_document();

create table comment_likes (
  comment_id uuid not null,
  user_ref bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint comment_likes_pkey PRIMARY KEY (comment_id, user_ref),
  constraint comment_likes_comment_id_fkey FOREIGN KEY (comment_id) REFERENCES comments(id) ON DELETE CASCADE,
  constraint comment_likes_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX comment_likes_user ON public.comment_likes USING btree (user_ref);
CREATE TRIGGER comment_likes_counted AFTER INSERT OR DELETE ON public.comment_likes FOR EACH ROW EXECUTE FUNCTION count_comment_like();

create table comments (
  id uuid not null default gen_random_uuid(),
  post_id uuid not null,
  parent_id uuid,
  author_user_ref bigint,
  remote_display_name text,
  body text not null,
  like_count bigint not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  edited_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  deleted_by_user_ref bigint,
  reply_count bigint not null default 0,
  remote_actor_ref bigint,
  relayed_for text,
  relayed_library text,
  annotated_asset_id uuid,
  resolved_at timestamp(3) with time zone,
  resolved_by_user_ref bigint,
  assignee_user_ref bigint,
  constraint comments_pkey PRIMARY KEY (id),
  constraint comments_annotated_asset_id_fkey FOREIGN KEY (annotated_asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint comments_assignee_user_ref_fkey FOREIGN KEY (assignee_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint comments_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES comments(id) ON DELETE CASCADE,
  constraint comments_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint comments_remote_actor_ref_fkey FOREIGN KEY (remote_actor_ref) REFERENCES remote_actors(ref),
  constraint comments_resolved_by_user_ref_fkey FOREIGN KEY (resolved_by_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint comments_check CHECK (((relayed_for IS NULL) = (relayed_library IS NULL))),
  constraint comments_relayed_for_check CHECK ((char_length(relayed_for) <= 500)),
  constraint comments_relayed_library_check CHECK ((char_length(relayed_library) <= 200))
);
CREATE INDEX comments_annotated ON public.comments USING btree (post_id, annotated_asset_id, created_at DESC, id DESC) INCLUDE (resolved_at) WHERE ((annotated_asset_id IS NOT NULL) AND (parent_id IS NULL) AND (deleted_at IS NULL));
CREATE INDEX comments_assignee ON public.comments USING btree (assignee_user_ref) WHERE (assignee_user_ref IS NOT NULL);
CREATE INDEX comments_author ON public.comments USING btree (author_user_ref);
CREATE INDEX comments_by_remote_actor ON public.comments USING btree (remote_actor_ref) WHERE (remote_actor_ref IS NOT NULL);
CREATE INDEX comments_of_asset ON public.comments USING btree (annotated_asset_id) WHERE (annotated_asset_id IS NOT NULL);
CREATE INDEX comments_parent ON public.comments USING btree (parent_id, created_at DESC, id DESC) WHERE ((parent_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX comments_plain_roots ON public.comments USING btree (post_id, created_at DESC, id DESC) WHERE ((annotated_asset_id IS NULL) AND (parent_id IS NULL) AND (deleted_at IS NULL));
CREATE INDEX comments_post ON public.comments USING btree (post_id, created_at DESC, id DESC);
CREATE INDEX comments_replies ON public.comments USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX comments_resolver ON public.comments USING btree (resolved_by_user_ref) WHERE (resolved_by_user_ref IS NOT NULL);
CREATE INDEX comments_roots ON public.comments USING btree (post_id, created_at DESC, id DESC) WHERE ((parent_id IS NULL) AND (deleted_at IS NULL));
CREATE TRIGGER comments_counted_anew AFTER UPDATE ON public.comments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION count_comments();
CREATE TRIGGER comments_counted_in AFTER INSERT ON public.comments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
CREATE TRIGGER comments_counted_out AFTER DELETE ON public.comments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
CREATE TRIGGER comments_reply BEFORE INSERT ON public.comments FOR EACH ROW WHEN ((new.parent_id IS NOT NULL)) EXECUTE FUNCTION place_reply();
CREATE TRIGGER comments_searched_anew AFTER UPDATE ON public.comments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION write_documents_of_comments();
CREATE TRIGGER comments_searched_in AFTER INSERT ON public.comments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_documents_of_comments();
CREATE TRIGGER comments_searched_out AFTER DELETE ON public.comments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION write_documents_of_comments();
CREATE TRIGGER comments_told_anew AFTER UPDATE ON public.comments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION tell_of_comments();
CREATE TRIGGER comments_told_in AFTER INSERT ON public.comments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tell_of_comments();

create table converted_files (
  object text not null,
  hash text not null,
  size_bytes bigint not null,
  used_at timestamp(3) with time zone not null default now(),
  constraint converted_files_pkey PRIMARY KEY (object),
  constraint converted_files_hash_fkey FOREIGN KEY (hash) REFERENCES files(hash) ON DELETE CASCADE
);
CREATE INDEX converted_files_hash ON public.converted_files USING btree (hash);
CREATE INDEX converted_files_used ON public.converted_files USING btree (used_at);

create table deletion_requests (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  note text not null default ''::text,
  state text not null default 'pending'::text,
  requested_at timestamp(3) with time zone not null default now(),
  decided_at timestamp(3) with time zone,
  decided_by_user_ref bigint,
  decision_reason text,
  constraint deletion_requests_user_ref_key UNIQUE (user_ref),
  constraint deletion_requests_pkey PRIMARY KEY (id),
  constraint deletion_requests_decided_by_user_ref_fkey FOREIGN KEY (decided_by_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint deletion_requests_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint deletion_requests_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'refused'::text, 'archived'::text])))
);
CREATE INDEX deletion_requests_decider ON public.deletion_requests USING btree (decided_by_user_ref) WHERE (decided_by_user_ref IS NOT NULL);
CREATE INDEX deletion_requests_order ON public.deletion_requests USING btree (requested_at DESC, id DESC);

create table different_assets (
  first_id uuid not null,
  second_id uuid not null,
  user_ref bigint,
  marked_at timestamp with time zone not null default now(),
  constraint different_assets_pkey PRIMARY KEY (first_id, second_id),
  constraint different_assets_first_id_fkey FOREIGN KEY (first_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint different_assets_second_id_fkey FOREIGN KEY (second_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint different_assets_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint different_assets_check CHECK ((first_id < second_id))
);
CREATE INDEX different_assets_second ON public.different_assets USING btree (second_id);
CREATE INDEX different_assets_user ON public.different_assets USING btree (user_ref);

create table extraction_runs (
  id uuid not null default gen_random_uuid(),
  state text not null default 'running'::text,
  field_id uuid,
  only_failed boolean not null default false,
  passed text not null default ''::text,
  total bigint not null,
  done bigint not null default 0,
  failed bigint not null default 0,
  started_by_user_ref bigint,
  started_at timestamp(3) with time zone not null default now(),
  finished_at timestamp(3) with time zone,
  constraint extraction_runs_pkey PRIMARY KEY (id),
  constraint extraction_runs_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id),
  constraint extraction_runs_state_check CHECK ((state = ANY (ARRAY['running'::text, 'finished'::text, 'cancelled'::text, 'failed'::text])))
);
CREATE UNIQUE INDEX extraction_runs_one ON public.extraction_runs USING btree ((true)) WHERE (state = 'running'::text);
CREATE INDEX extraction_runs_time ON public.extraction_runs USING btree (started_at DESC);

create table failed_sign_ins (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  at timestamp(3) with time zone not null default now(),
  method text not null,
  address text not null,
  user_agent text,
  constraint failed_sign_ins_pkey PRIMARY KEY (id),
  constraint failed_sign_ins_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX failed_sign_ins_newest ON public.failed_sign_ins USING btree (at DESC, id DESC);
CREATE INDEX failed_sign_ins_user ON public.failed_sign_ins USING btree (user_ref, at DESC, id DESC);

create table featured_posts (
  post_id uuid not null,
  position integer not null,
  featured_by_user_ref bigint,
  created_at timestamp(3) with time zone not null default now(),
  constraint featured_posts_pkey PRIMARY KEY (post_id),
  constraint featured_posts_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);

create table federated_collection_items (
  collection_id uuid not null,
  uri text not null,
  position integer not null,
  constraint federated_collection_items_pkey PRIMARY KEY (collection_id, uri),
  constraint federated_collection_items_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE,
  constraint federated_collection_items_uri_check CHECK ((char_length(uri) <= 500))
);
CREATE INDEX federated_collection_items_by_uri ON public.federated_collection_items USING btree (uri);

create table federated_objects (
  uri text not null,
  peer_id uuid not null,
  kind text not null,
  local_id uuid not null,
  version timestamp(3) with time zone not null,
  constraint federated_objects_kind_local_id_key UNIQUE (kind, local_id),
  constraint federated_objects_pkey PRIMARY KEY (uri),
  constraint federated_objects_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federated_objects_kind_check CHECK ((kind = ANY (ARRAY['post'::text, 'asset'::text, 'collection'::text, 'comment'::text, 'team'::text]))),
  constraint federated_objects_uri_check CHECK ((char_length(uri) <= 500))
);
CREATE INDEX federated_objects_of_peer ON public.federated_objects USING btree (peer_id, kind, uri);

create table federated_recipients (
  asset_id uuid not null,
  uri text not null,
  user_ref bigint not null,
  constraint federated_recipients_pkey PRIMARY KEY (asset_id, uri, user_ref),
  constraint federated_recipients_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint federated_recipients_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint federated_recipients_uri_check CHECK ((char_length(uri) <= 500))
);
CREATE INDEX federated_recipients_by_uri ON public.federated_recipients USING btree (uri);

create table federated_subtitles (
  asset_id uuid not null,
  lang text not null,
  label text not null,
  file_hash text not null,
  size_bytes bigint not null,
  source_format text not null,
  confidence double precision not null,
  constraint federated_subtitles_pkey PRIMARY KEY (asset_id, lang),
  constraint federated_subtitles_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint federated_subtitles_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
  constraint federated_subtitles_file_hash_check CHECK ((file_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint federated_subtitles_label_check CHECK ((char_length(label) <= 200)),
  constraint federated_subtitles_lang_check CHECK (((char_length(lang) >= 1) AND (char_length(lang) <= 100))),
  constraint federated_subtitles_size_bytes_check CHECK ((size_bytes >= 0)),
  constraint federated_subtitles_source_format_check CHECK ((source_format = ANY (ARRAY['srt'::text, 'vtt'::text, 'ass'::text, 'ssa'::text, 'sbv'::text])))
);

create table federated_values (
  uri text not null,
  code text not null,
  value jsonb not null,
  constraint federated_values_pkey PRIMARY KEY (uri, code),
  constraint federated_values_uri_fkey FOREIGN KEY (uri) REFERENCES federated_objects(uri) ON DELETE CASCADE,
  constraint federated_values_code_check CHECK (((char_length(code) >= 1) AND (char_length(code) <= 64)))
);
CREATE INDEX federated_values_by_code ON public.federated_values USING btree (code, uri);

create table federation_announced (
  peer_id uuid not null,
  kind text not null,
  object_id uuid not null,
  withdrawn_by uuid,
  constraint federation_announced_pkey PRIMARY KEY (peer_id, kind, object_id),
  constraint federation_announced_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federation_announced_kind_check CHECK ((kind = ANY (ARRAY['post'::text, 'asset'::text, 'collection'::text, 'comment'::text])))
);

create table federation_box_keys (
  user_ref bigint not null,
  version integer not null,
  public_key bytea not null,
  sealed bytea not null,
  created_at timestamp(3) with time zone not null default now(),
  retained_until timestamp(3) with time zone,
  constraint federation_box_keys_pkey PRIMARY KEY (user_ref, version),
  constraint federation_box_keys_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint federation_box_keys_public_key_check CHECK ((octet_length(public_key) = 32)),
  constraint federation_box_keys_version_check CHECK ((version > 0))
);
CREATE UNIQUE INDEX federation_box_keys_current ON public.federation_box_keys USING btree (user_ref) WHERE (retained_until IS NULL);

create table federation_fields (
  peer_id uuid not null,
  code text not null,
  offered jsonb not null,
  version timestamp(3) with time zone not null,
  agrees boolean not null default false,
  compared_epoch bigint not null default 0,
  decision text,
  field_id uuid,
  decided_by_user_ref bigint,
  decided_at timestamp(3) with time zone,
  received_at timestamp(3) with time zone not null default now(),
  constraint federation_fields_pkey PRIMARY KEY (peer_id, code),
  constraint federation_fields_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id),
  constraint federation_fields_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federation_fields_check CHECK ((COALESCE((decision = ANY (ARRAY['map'::text, 'adopt'::text])), false) = (field_id IS NOT NULL))),
  constraint federation_fields_code_check CHECK (((char_length(code) >= 1) AND (char_length(code) <= 64))),
  constraint federation_fields_decision_check CHECK ((decision = ANY (ARRAY['map'::text, 'adopt'::text, 'ignore'::text])))
);
CREATE INDEX federation_fields_target ON public.federation_fields USING btree (field_id) WHERE (field_id IS NOT NULL);

create table federation_grants (
  id uuid not null default gen_random_uuid(),
  peer_id uuid not null,
  uri text not null,
  kind text not null,
  target_user_ref bigint,
  scope text not null,
  granted_by text not null,
  expires_at timestamp(3) with time zone,
  received_at timestamp(3) with time zone not null default now(),
  target_team_id uuid,
  constraint federation_grants_pkey PRIMARY KEY (id),
  constraint federation_grants_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federation_grants_target_team_id_fkey FOREIGN KEY (target_team_id) REFERENCES teams(id) ON DELETE CASCADE,
  constraint federation_grants_target_user_ref_fkey FOREIGN KEY (target_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint federation_grants_check CHECK (((target_team_id IS NULL) OR (target_user_ref IS NULL))),
  constraint federation_grants_kind_check CHECK ((kind = ANY (ARRAY['post'::text, 'asset'::text, 'collection'::text]))),
  constraint federation_grants_scope_check CHECK ((scope = ANY (ARRAY['view'::text, 'comment'::text]))),
  constraint federation_grants_uri_check CHECK ((char_length(uri) <= 500))
);
CREATE INDEX federation_grants_expiring ON public.federation_grants USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX federation_grants_of_team ON public.federation_grants USING btree (target_team_id) WHERE (target_team_id IS NOT NULL);
CREATE UNIQUE INDEX federation_grants_once ON public.federation_grants USING btree (peer_id, uri, target_user_ref, target_team_id) NULLS NOT DISTINCT;

create table federation_inbox (
  activity_uri text not null,
  peer_id uuid not null,
  type text not null,
  received_at timestamp(3) with time zone not null default now(),
  constraint federation_inbox_pkey PRIMARY KEY (activity_uri),
  constraint federation_inbox_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federation_inbox_activity_uri_check CHECK ((char_length(activity_uri) <= 500))
);
CREATE INDEX federation_inbox_received ON public.federation_inbox USING btree (received_at);

create table federation_keys (
  user_ref bigint not null,
  signing_public bytea not null,
  signing_sealed bytea not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint federation_keys_pkey PRIMARY KEY (user_ref),
  constraint federation_keys_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint federation_keys_signing_public_check CHECK ((octet_length(signing_public) = 32))
);

create table federation_offers (
  id uuid not null default gen_random_uuid(),
  instance_url text not null,
  display_name text not null,
  public_key bytea not null,
  capabilities text[] not null,
  nonce text not null,
  offered_from text not null,
  received_at timestamp(3) with time zone not null default now(),
  started_at timestamp(3) with time zone,
  settled_at timestamp(3) with time zone,
  constraint federation_offers_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX federation_offers_waiting ON public.federation_offers USING btree (instance_url, public_key) WHERE (settled_at IS NULL);

create table federation_outbox (
  seq bigint not null generated always as identity,
  peer_id uuid not null,
  activity_id uuid not null default gen_random_uuid(),
  activity text not null,
  kind text not null,
  object_id uuid not null,
  actor_ref bigint,
  details jsonb not null default '{}'::jsonb,
  envelope text,
  status text not null default 'queued'::text,
  attempts integer not null default 0,
  last_error text,
  next_attempt_at timestamp(3) with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  sent_at timestamp(3) with time zone,
  preludes text[] not null default '{}'::text[],
  constraint federation_outbox_activity_id_key UNIQUE (activity_id),
  constraint federation_outbox_pkey PRIMARY KEY (seq),
  constraint federation_outbox_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federation_outbox_activity_check CHECK ((activity = ANY (ARRAY['create'::text, 'update'::text, 'delete'::text, 'like'::text, 'unlike'::text, 'share'::text, 'unshare'::text]))),
  constraint federation_outbox_kind_check CHECK ((kind = ANY (ARRAY['post'::text, 'asset'::text, 'collection'::text, 'comment'::text, 'field'::text]))),
  constraint federation_outbox_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text, 'cancelled'::text, 'skipped'::text])))
);
CREATE INDEX federation_outbox_queued ON public.federation_outbox USING btree (peer_id, seq) WHERE (status = 'queued'::text);
CREATE INDEX federation_outbox_sent ON public.federation_outbox USING btree (sent_at) WHERE (status <> 'queued'::text);

create table federation_peers (
  id uuid not null default gen_random_uuid(),
  instance_url text not null,
  display_name text not null default ''::text,
  public_key bytea not null,
  capabilities text[] not null default '{}'::text[],
  state text not null,
  nonce text not null,
  accepted_here_at timestamp(3) with time zone,
  accepted_there_at timestamp(3) with time zone,
  accept_public boolean not null default false,
  last_seen_at timestamp(3) with time zone,
  last_error text,
  delivering_until timestamp(3) with time zone,
  created_by_user_ref bigint,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  announced_key bytea,
  cursor_seq bigint not null default 0,
  cursor_id text,
  resent_at timestamp(3) with time zone,
  offered_from text,
  constraint federation_peers_instance_url_key UNIQUE (instance_url),
  constraint federation_peers_pkey PRIMARY KEY (id),
  constraint federation_peers_announced_key_check CHECK ((octet_length(announced_key) = 32)),
  constraint federation_peers_display_name_check CHECK ((char_length(display_name) <= 200)),
  constraint federation_peers_instance_url_check CHECK (((char_length(instance_url) >= 1) AND (char_length(instance_url) <= 500))),
  constraint federation_peers_public_key_check CHECK ((octet_length(public_key) = 32)),
  constraint federation_peers_state_check CHECK ((state = ANY (ARRAY['pending_inbound'::text, 'pending_outbound'::text, 'connected'::text, 'disabled'::text])))
);

create table federation_rejections (
  id uuid not null default gen_random_uuid(),
  peer_id uuid,
  instance_url text not null default ''::text,
  activity_uri text,
  type text,
  reason text not null,
  detail text not null default ''::text,
  received_at timestamp(3) with time zone not null default now(),
  constraint federation_rejections_pkey PRIMARY KEY (id),
  constraint federation_rejections_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE
);
CREATE INDEX federation_rejections_newest ON public.federation_rejections USING btree (received_at DESC, id DESC);

create table federation_retired_keys (
  owner text not null,
  peer_id uuid not null,
  public_key bytea not null,
  accepted_until timestamp(3) with time zone not null,
  constraint federation_retired_keys_pkey PRIMARY KEY (owner, public_key),
  constraint federation_retired_keys_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federation_retired_keys_owner_check CHECK ((char_length(owner) <= 500)),
  constraint federation_retired_keys_public_key_check CHECK ((octet_length(public_key) = 32))
);
CREATE INDEX federation_retired_keys_of_peer ON public.federation_retired_keys USING btree (peer_id);

create table federation_rotations (
  id bigint not null generated always as identity,
  user_ref bigint,
  previous_key bytea not null,
  next_key bytea not null,
  published timestamp(3) with time zone not null,
  signature bytea not null,
  previous_sealed bytea,
  retained_until timestamp(3) with time zone not null,
  constraint federation_rotations_pkey PRIMARY KEY (id),
  constraint federation_rotations_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint federation_rotations_next_key_check CHECK ((octet_length(next_key) = 32)),
  constraint federation_rotations_previous_key_check CHECK ((octet_length(previous_key) = 32)),
  constraint federation_rotations_signature_check CHECK ((octet_length(signature) = 64))
);
CREATE INDEX federation_rotations_by_user ON public.federation_rotations USING btree (user_ref, id);

create table federation_sent_fields (
  peer_id uuid not null,
  field_id uuid not null,
  digest text not null,
  constraint federation_sent_fields_pkey PRIMARY KEY (peer_id, field_id),
  constraint federation_sent_fields_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id) ON DELETE CASCADE,
  constraint federation_sent_fields_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE
);
CREATE INDEX federation_sent_fields_by_field ON public.federation_sent_fields USING btree (field_id);

create table federation_shares (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  object_id uuid not null,
  peer_id uuid not null,
  target_actor text,
  scope text not null default 'view'::text,
  granted_by_user_ref bigint not null,
  granted_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  sensitive_assets uuid[] not null default '{}'::uuid[],
  target_team text,
  target_team_name text not null default ''::text,
  withdrawn_at timestamp(3) with time zone,
  sensitive_confirmed_by bigint,
  sensitive_lapsed uuid[] not null default '{}'::uuid[],
  constraint federation_shares_pkey PRIMARY KEY (id),
  constraint federation_shares_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint federation_shares_check CHECK (((target_team IS NULL) OR (target_actor IS NULL))),
  constraint federation_shares_kind_check CHECK ((kind = ANY (ARRAY['post'::text, 'asset'::text, 'collection'::text]))),
  constraint federation_shares_scope_check CHECK ((scope = ANY (ARRAY['view'::text, 'comment'::text]))),
  constraint federation_shares_target_actor_check CHECK ((char_length(target_actor) <= 500)),
  constraint federation_shares_target_team_check CHECK ((char_length(target_team) <= 500))
);
CREATE UNIQUE INDEX federation_shares_current ON public.federation_shares USING btree (kind, object_id, peer_id, target_actor, target_team) NULLS NOT DISTINCT WHERE (revoked_at IS NULL);
CREATE INDEX federation_shares_expiring ON public.federation_shares USING btree (expires_at) WHERE (revoked_at IS NULL);
CREATE INDEX federation_shares_of_peer ON public.federation_shares USING btree (peer_id, kind, object_id) WHERE (revoked_at IS NULL);

create table feed_views (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  name text not null,
  query jsonb not null,
  position integer not null,
  created_at timestamp(3) with time zone not null default now(),
  name_key text,
  constraint feed_views_pkey PRIMARY KEY (id),
  constraint feed_views_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE UNIQUE INDEX feed_views_name_key ON public.feed_views USING btree (user_ref, name_key);
CREATE INDEX feed_views_without_key ON public.feed_views USING btree (user_ref, id) WHERE (name_key IS NULL);
CREATE TRIGGER feed_views_key_kept BEFORE INSERT OR UPDATE OF name, name_key ON public.feed_views FOR EACH ROW EXECUTE FUNCTION keep_name_key();

create table field_default_overrides (
  field_id uuid not null,
  team_id uuid not null,
  default_value jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint field_default_overrides_pkey PRIMARY KEY (field_id, team_id),
  constraint field_default_overrides_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id) ON DELETE CASCADE,
  constraint field_default_overrides_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE
);
CREATE INDEX field_default_overrides_team ON public.field_default_overrides USING btree (team_id);

create table field_runs (
  number bigint not null generated always as identity,
  id uuid not null default gen_random_uuid(),
  field_id uuid not null,
  kind text not null,
  source text,
  target text,
  subject_kind text not null default 'asset'::text,
  after uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  actor_ref bigint not null,
  done bigint not null default 0,
  total bigint not null,
  started_at timestamp(3) with time zone not null default now(),
  finished_at timestamp(3) with time zone,
  constraint field_runs_id_key UNIQUE (id),
  constraint field_runs_pkey PRIMARY KEY (number),
  constraint field_runs_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id) ON DELETE CASCADE,
  constraint field_runs_check CHECK (((kind = 'merge'::text) = ((source IS NOT NULL) AND (target IS NOT NULL)))),
  constraint field_runs_kind_check CHECK ((kind = ANY (ARRAY['merge'::text, 'words'::text]))),
  constraint field_runs_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['asset'::text, 'collection'::text])))
);
CREATE INDEX field_runs_unfinished ON public.field_runs USING btree (number) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX field_runs_words ON public.field_runs USING btree (field_id) WHERE ((finished_at IS NULL) AND (kind = 'words'::text));

create table field_term_aliases (
  field_id uuid not null,
  alias text not null,
  value text not null,
  key text,
  constraint field_term_aliases_pkey PRIMARY KEY (field_id, alias),
  constraint field_term_aliases_field_id_value_fkey FOREIGN KEY (field_id, value) REFERENCES field_terms(field_id, value) ON DELETE CASCADE
);
CREATE UNIQUE INDEX field_term_aliases_key ON public.field_term_aliases USING btree (field_id, key);
CREATE INDEX field_term_aliases_search ON public.field_term_aliases USING gin (field_id, key gin_trgm_ops);
CREATE INDEX field_term_aliases_value ON public.field_term_aliases USING btree (field_id, value);
CREATE INDEX field_term_aliases_without_key ON public.field_term_aliases USING btree (field_id, alias) WHERE (key IS NULL);
CREATE TRIGGER field_term_aliases_key_kept BEFORE INSERT ON public.field_term_aliases FOR EACH ROW EXECUTE FUNCTION keep_alias_key();

create table field_terms (
  field_id uuid not null,
  value text not null,
  label text not null,
  status text not null default 'active'::text,
  replaced_by text,
  parent text,
  path text[] not null,
  depth integer generated always as (cardinality(path)) stored,
  position double precision not null,
  created_at timestamp(3) with time zone not null default now(),
  label_key text,
  translations jsonb not null default '{}'::jsonb,
  translation_keys text not null default ''::text,
  constraint field_terms_pkey PRIMARY KEY (field_id, value),
  constraint field_terms_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id) ON DELETE CASCADE,
  constraint field_terms_field_id_parent_fkey FOREIGN KEY (field_id, parent) REFERENCES field_terms(field_id, value),
  constraint field_terms_field_id_replaced_by_fkey FOREIGN KEY (field_id, replaced_by) REFERENCES field_terms(field_id, value),
  constraint field_terms_check CHECK ((replaced_by <> value)),
  constraint field_terms_check1 CHECK ((parent <> value)),
  constraint field_terms_status_check CHECK ((status = ANY (ARRAY['active'::text, 'deprecated'::text, 'archived'::text])))
);
CREATE INDEX field_terms_label ON public.field_terms USING btree (field_id, lower(label), value);
CREATE INDEX field_terms_label_key ON public.field_terms USING btree (field_id, label_key, value);
CREATE INDEX field_terms_order ON public.field_terms USING btree (field_id, depth, "position", value);
CREATE INDEX field_terms_parent ON public.field_terms USING btree (field_id, parent) WHERE (parent IS NOT NULL);
CREATE INDEX field_terms_path ON public.field_terms USING gin (field_id, path);
CREATE INDEX field_terms_replaced ON public.field_terms USING btree (field_id, replaced_by) WHERE (replaced_by IS NOT NULL);
CREATE INDEX field_terms_search ON public.field_terms USING gin (field_id, label_key gin_trgm_ops, value gin_trgm_ops);
CREATE INDEX field_terms_translations ON public.field_terms USING gin (field_id, translation_keys gin_trgm_ops);
CREATE INDEX field_terms_without_key ON public.field_terms USING btree (label) WHERE (label_key IS NULL);
CREATE TRIGGER field_terms_key_kept BEFORE INSERT OR UPDATE OF label, label_key ON public.field_terms FOR EACH ROW EXECUTE FUNCTION keep_label_key();

create table field_value_history (
  id uuid not null default gen_random_uuid(),
  subject_kind text not null,
  subject_id uuid not null,
  field_id uuid not null,
  before jsonb,
  after jsonb,
  set_by text not null,
  actor_user_ref bigint,
  at timestamp(3) with time zone not null default clock_timestamp(),
  constraint field_value_history_pkey PRIMARY KEY (id),
  constraint field_value_history_field_id_fkey FOREIGN KEY (field_id) REFERENCES fields(id),
  constraint field_value_history_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['asset'::text, 'collection'::text])))
);
CREATE INDEX field_value_history_subject ON public.field_value_history USING btree (subject_id, field_id, at DESC, id DESC);
CREATE TRIGGER values_changed AFTER INSERT ON public.field_value_history REFERENCING NEW TABLE AS edited FOR EACH STATEMENT EXECUTE FUNCTION note_changed_values();

create table fields (
  id uuid not null default gen_random_uuid(),
  code text not null,
  label text not null,
  description text not null default ''::text,
  type text not null,
  subject_kind text not null default 'asset'::text,
  options jsonb not null default '{}'::jsonb,
  open_vocabulary boolean not null default false,
  required boolean not null default false,
  searchable boolean not null default true,
  applies_to integer[] not null default '{}'::integer[],
  read_capability text,
  write_capability text,
  display_order integer not null default 100,
  display_group text not null default 'general'::text,
  extraction_source text not null default ''::text,
  extraction_mode text not null default ''::text,
  show_on_card boolean not null default false,
  show_in_advanced_search boolean not null default true,
  show_on_upload boolean not null default true,
  edit_tab text,
  read_only boolean not null default false,
  regexp_filter text,
  mirrors_column text,
  display_condition text[],
  status text not null default 'active'::text,
  deprecated_replacement_id uuid,
  default_value jsonb,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  translations jsonb not null default '{}'::jsonb,
  constraint fields_code_key UNIQUE (code),
  constraint fields_pkey PRIMARY KEY (id),
  constraint fields_deprecated_replacement_id_fkey FOREIGN KEY (deprecated_replacement_id) REFERENCES fields(id),
  constraint fields_check CHECK ((NOT (show_on_card AND (read_capability IS NOT NULL)))),
  constraint fields_check1 CHECK (((mirrors_column IS NULL) OR ((NOT read_only) AND (regexp_filter IS NULL) AND (subject_kind = 'asset'::text)))),
  constraint fields_display_condition_check CHECK ((display_condition <> '{}'::text[])),
  constraint fields_edit_tab_check CHECK ((edit_tab <> ''::text)),
  constraint fields_extraction_mode_check CHECK ((extraction_mode = ANY (ARRAY[''::text, 'skip_if_set'::text, 'replace'::text, 'append'::text, 'prepend'::text]))),
  constraint fields_mirrors_column_check CHECK ((mirrors_column = ANY (ARRAY['title'::text, 'description'::text]))),
  constraint fields_regexp_filter_check CHECK ((regexp_filter <> ''::text)),
  constraint fields_status_check CHECK ((status = ANY (ARRAY['active'::text, 'deprecated'::text, 'archived'::text]))),
  constraint fields_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['asset'::text, 'collection'::text]))),
  constraint fields_type_check CHECK ((type = ANY (ARRAY['text'::text, 'longtext'::text, 'rich_text'::text, 'number'::text, 'boolean'::text, 'date'::text, 'datetime'::text, 'select'::text, 'multi_select'::text, 'tree'::text, 'reference'::text])))
);
CREATE INDEX fields_card ON public.fields USING btree (display_order, code) WHERE show_on_card;
CREATE UNIQUE INDEX fields_mirrors ON public.fields USING btree (mirrors_column) WHERE (mirrors_column IS NOT NULL);
CREATE INDEX fields_order ON public.fields USING btree (display_order, code);
CREATE INDEX fields_replacement ON public.fields USING btree (deprecated_replacement_id) WHERE (deprecated_replacement_id IS NOT NULL);
CREATE TRIGGER fields_taken AFTER UPDATE OF extraction_source, read_capability ON public.fields FOR EACH ROW WHEN (((old.extraction_source IS DISTINCT FROM new.extraction_source) OR (old.read_capability IS DISTINCT FROM new.read_capability))) EXECUTE FUNCTION keep_taken_of_field();

create table fields_epoch (
  only_row boolean not null default true,
  epoch bigint not null,
  constraint fields_epoch_pkey PRIMARY KEY (only_row),
  constraint fields_epoch_only_row_check CHECK (only_row)
);

create table file_checksums (
  hash text not null,
  crc32 bigint not null,
  constraint file_checksums_pkey PRIMARY KEY (hash),
  constraint file_checksums_hash_fkey FOREIGN KEY (hash) REFERENCES files(hash) ON DELETE CASCADE
);

create table file_metadata (
  hash text not null,
  sources jsonb not null default '{}'::jsonb,
  raw jsonb not null default '{}'::jsonb,
  reader text not null,
  error text,
  extracted_at timestamp(3) with time zone not null default now(),
  id uuid not null default gen_random_uuid(),
  constraint file_metadata_pkey PRIMARY KEY (hash),
  constraint file_metadata_hash_fkey FOREIGN KEY (hash) REFERENCES files(hash) ON DELETE CASCADE
);
CREATE INDEX file_metadata_failed ON public.file_metadata USING btree (hash) WHERE (error IS NOT NULL);
CREATE INDEX file_metadata_failures ON public.file_metadata USING btree (extracted_at DESC, id DESC) WHERE (error IS NOT NULL);

create table files (
  hash text not null,
  size_bytes bigint not null,
  mime text not null,
  extension text,
  pixel_width integer,
  pixel_height integer,
  thumbhash text,
  exif jsonb,
  renditions jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  media jsonb not null default '{}'::jsonb,
  poster_seconds double precision,
  text text not null default ''::text,
  ladder_version integer not null default 1,
  makers_version integer not null default 0,
  origin_peer_id uuid,
  fetched_at timestamp(3) with time zone,
  origin_renditions jsonb not null default '{}'::jsonb,
  origin_key bytea,
  origin_hash text,
  has_copies boolean not null default false,
  in_place boolean not null default false,
  constraint files_pkey PRIMARY KEY (hash),
  constraint files_origin_peer_id_fkey FOREIGN KEY (origin_peer_id) REFERENCES federation_peers(id) ON DELETE SET NULL,
  constraint files_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint files_origin_hash_check CHECK ((origin_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint files_origin_key_check CHECK ((octet_length(origin_key) = 32)),
  constraint files_poster_seconds_check CHECK ((poster_seconds >= (0)::double precision)),
  constraint files_text_check CHECK ((length(text) <= 100000))
);
CREATE INDEX files_by_ladder ON public.files USING btree (ladder_version, hash) WHERE (renditions ? 'col'::text);
CREATE INDEX files_by_makers ON public.files USING btree (makers_version, hash);
CREATE INDEX files_by_rendition ON public.files USING gin (jsonb_path_query_array(renditions, '$.*."sha256"'::jsonpath)) WHERE (origin_peer_id IS NULL);
CREATE INDEX files_fetched ON public.files USING btree (fetched_at) WHERE (origin_peer_id IS NOT NULL);
CREATE INDEX files_in_place ON public.files USING btree (hash) WHERE in_place;
CREATE UNIQUE INDEX files_of_peer ON public.files USING btree (origin_peer_id, origin_hash) WHERE (origin_peer_id IS NOT NULL);
CREATE INDEX files_size ON public.files USING btree (hash) INCLUDE (size_bytes);
CREATE INDEX files_with_copies ON public.files USING btree (hash) WHERE has_copies;
CREATE INDEX files_with_preview ON public.files USING btree (hash) WHERE (renditions ? 'preview'::text);
CREATE TRIGGER files_text_searched AFTER UPDATE OF text ON public.files FOR EACH ROW WHEN ((new.text <> old.text)) EXECUTE FUNCTION write_documents_of_text();

create table guest_comments (
  id uuid not null default gen_random_uuid(),
  link_id uuid not null,
  guest_id uuid not null,
  post_id uuid,
  asset_id uuid,
  body text not null,
  version integer,
  anchor jsonb,
  strokes jsonb,
  created_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  deleted_by_user_ref bigint,
  constraint guest_comments_pkey PRIMARY KEY (id),
  constraint guest_comments_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint guest_comments_deleted_by_user_ref_fkey FOREIGN KEY (deleted_by_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint guest_comments_guest_id_fkey FOREIGN KEY (guest_id) REFERENCES link_guests(id) ON DELETE CASCADE,
  constraint guest_comments_link_id_fkey FOREIGN KEY (link_id) REFERENCES share_links(id) ON DELETE CASCADE,
  constraint guest_comments_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint guest_comments_annotation CHECK ((((anchor IS NULL) = (version IS NULL)) AND ((anchor IS NULL) OR (asset_id IS NOT NULL)))),
  constraint guest_comments_body_check CHECK ((char_length(body) <= 10000)),
  constraint guest_comments_version_check CHECK ((version >= 1))
);
CREATE INDEX guest_comments_asset ON public.guest_comments USING btree (asset_id) WHERE (asset_id IS NOT NULL);
CREATE INDEX guest_comments_deleter ON public.guest_comments USING btree (deleted_by_user_ref) WHERE (deleted_by_user_ref IS NOT NULL);
CREATE INDEX guest_comments_guest ON public.guest_comments USING btree (guest_id);
CREATE INDEX guest_comments_newest ON public.guest_comments USING btree (link_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX guest_comments_post ON public.guest_comments USING btree (post_id, created_at DESC, id DESC) WHERE (post_id IS NOT NULL);
CREATE TRIGGER guest_comments_told AFTER INSERT OR UPDATE OF deleted_at ON public.guest_comments FOR EACH ROW WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION tell_of_guest_comment();

create table identity_providers (
  name text not null,
  kind text not null,
  settings jsonb not null,
  client_secret_sealed bytea,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint identity_providers_pkey PRIMARY KEY (name),
  constraint identity_providers_kind_check CHECK ((kind = ANY (ARRAY['oidc'::text, 'saml'::text]))),
  constraint identity_providers_name_check CHECK ((name ~ '^[a-z][a-z0-9-]{0,31}$'::text))
);

create table import_runs (
  id uuid not null default gen_random_uuid(),
  system text not null,
  state text not null default 'running'::text,
  step text not null default 'definitions'::text,
  done integer not null default 0,
  total integer,
  error text,
  report jsonb not null default '{}'::jsonb,
  started_at timestamp(3) with time zone not null default now(),
  seen_at timestamp(3) with time zone not null default now(),
  finished_at timestamp(3) with time zone,
  constraint import_runs_pkey PRIMARY KEY (id),
  constraint import_runs_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'stopped'::text, 'failed'::text])))
);
CREATE INDEX import_runs_started ON public.import_runs USING btree (started_at DESC, id DESC);

create table imported_ids (
  system text not null,
  kind text not null,
  old_id text not null,
  target text not null,
  fingerprint text not null default ''::text,
  imported_at timestamp(3) with time zone not null default now(),
  constraint imported_ids_pkey PRIMARY KEY (system, kind, old_id)
);
CREATE INDEX imported_ids_old ON public.imported_ids USING btree (kind, old_id);
CREATE INDEX imported_ids_target ON public.imported_ids USING btree (kind, target);

create table invitation_teams (
  invitation_id uuid not null,
  team_id uuid not null,
  constraint invitation_teams_pkey PRIMARY KEY (invitation_id, team_id),
  constraint invitation_teams_invitation_id_fkey FOREIGN KEY (invitation_id) REFERENCES invitations(id) ON DELETE CASCADE,
  constraint invitation_teams_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE
);
CREATE INDEX invitation_teams_team ON public.invitation_teams USING btree (team_id);

create table invitations (
  id uuid not null default gen_random_uuid(),
  token_hash bytea not null,
  mailed_token_hash bytea,
  email text,
  email_key text,
  role_id uuid not null,
  message text,
  max_uses integer not null,
  uses integer not null default 0,
  mailed boolean not null default false,
  created_by_user_ref bigint,
  given_by_user_ref bigint,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  revoked_at timestamp(3) with time zone,
  opened_at timestamp(3) with time zone not null default now(),
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_created_by_user_ref_fkey FOREIGN KEY (created_by_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint invitations_given_by_user_ref_fkey FOREIGN KEY (given_by_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint invitations_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id),
  constraint invitations_check CHECK (((uses >= 0) AND (uses <= max_uses))),
  constraint invitations_max_uses_check CHECK (((max_uses >= 1) AND (max_uses <= 1000)))
);
CREATE INDEX invitations_creator ON public.invitations USING btree (created_by_user_ref) WHERE (created_by_user_ref IS NOT NULL);
CREATE INDEX invitations_email ON public.invitations USING btree (email_key) WHERE (email_key IS NOT NULL);
CREATE INDEX invitations_giver ON public.invitations USING btree (given_by_user_ref) WHERE (given_by_user_ref IS NOT NULL);
CREATE UNIQUE INDEX invitations_mailed_token ON public.invitations USING btree (mailed_token_hash) WHERE (mailed_token_hash IS NOT NULL);
CREATE INDEX invitations_newest ON public.invitations USING btree (created_at DESC, id DESC);
CREATE INDEX invitations_role ON public.invitations USING btree (role_id);
CREATE UNIQUE INDEX invitations_token ON public.invitations USING btree (token_hash);

create table job_progress (
  job_id bigint not null,
  part double precision not null,
  updated_at timestamp with time zone not null default now(),
  constraint job_progress_pkey PRIMARY KEY (job_id),
  constraint job_progress_part_check CHECK (((part >= (0)::double precision) AND (part <= (1)::double precision)))
);
CREATE INDEX job_progress_updated ON public.job_progress USING btree (updated_at);

create table job_workers (
  worker_id text not null,
  process integer not null,
  kinds text[],
  constraint job_workers_pkey PRIMARY KEY (worker_id)
);

create unlogged table last_writes (
  user_ref bigint not null,
  position pg_lsn not null,
  constraint last_writes_pkey PRIMARY KEY (user_ref)
);

create table link_decisions (
  id uuid not null default gen_random_uuid(),
  link_id uuid not null,
  guest_id uuid not null,
  asset_id uuid,
  decision text not null,
  note text not null default ''::text,
  decided_at timestamp(3) with time zone not null default now(),
  constraint link_decisions_guest_id_asset_id_key UNIQUE NULLS NOT DISTINCT (guest_id, asset_id),
  constraint link_decisions_pkey PRIMARY KEY (id),
  constraint link_decisions_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint link_decisions_guest_id_fkey FOREIGN KEY (guest_id) REFERENCES link_guests(id) ON DELETE CASCADE,
  constraint link_decisions_link_id_fkey FOREIGN KEY (link_id) REFERENCES share_links(id) ON DELETE CASCADE,
  constraint link_decisions_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'changes_requested'::text]))),
  constraint link_decisions_note_check CHECK ((char_length(note) <= 10000))
);
CREATE INDEX link_decisions_asset ON public.link_decisions USING btree (asset_id) WHERE (asset_id IS NOT NULL);
CREATE INDEX link_decisions_newest ON public.link_decisions USING btree (link_id, decided_at DESC, id DESC);
CREATE TRIGGER link_decisions_listed AFTER INSERT OR UPDATE ON public.link_decisions FOR EACH ROW WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION tell_of_feedback();

create table link_guests (
  id uuid not null default gen_random_uuid(),
  link_id uuid not null,
  token_hash bytea not null,
  name text not null,
  muted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint link_guests_token_hash_key UNIQUE (token_hash),
  constraint link_guests_pkey PRIMARY KEY (id),
  constraint link_guests_link_id_fkey FOREIGN KEY (link_id) REFERENCES share_links(id) ON DELETE CASCADE,
  constraint link_guests_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint link_guests_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE INDEX link_guests_newest ON public.link_guests USING btree (link_id, created_at DESC, id DESC);
CREATE TRIGGER link_guests_listed AFTER INSERT OR UPDATE ON public.link_guests FOR EACH ROW WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION tell_of_feedback();
CREATE TRIGGER link_guests_told AFTER UPDATE OF name, muted_at ON public.link_guests FOR EACH ROW WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION tell_of_guest();

create table link_picks (
  id uuid not null default gen_random_uuid(),
  link_id uuid not null,
  guest_id uuid not null,
  asset_id uuid not null,
  picked_at timestamp(3) with time zone not null default now(),
  constraint link_picks_guest_id_asset_id_key UNIQUE (guest_id, asset_id),
  constraint link_picks_pkey PRIMARY KEY (id),
  constraint link_picks_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint link_picks_guest_id_fkey FOREIGN KEY (guest_id) REFERENCES link_guests(id) ON DELETE CASCADE,
  constraint link_picks_link_id_fkey FOREIGN KEY (link_id) REFERENCES share_links(id) ON DELETE CASCADE
);
CREATE INDEX link_picks_asset ON public.link_picks USING btree (asset_id);
CREATE INDEX link_picks_newest ON public.link_picks USING btree (link_id, picked_at DESC, id DESC);
CREATE TRIGGER link_picks_listed AFTER INSERT OR DELETE ON public.link_picks FOR EACH ROW WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION tell_of_feedback();

create unlogged table link_streams (
  stream_id uuid not null,
  link_id uuid not null,
  seen_at timestamp(3) with time zone not null default now(),
  constraint link_streams_pkey PRIMARY KEY (stream_id),
  constraint link_streams_link_id_fkey FOREIGN KEY (link_id) REFERENCES share_links(id) ON DELETE CASCADE
);
CREATE INDEX link_streams_of_link ON public.link_streams USING btree (link_id, seen_at);

create table logos (
  hash text not null,
  content_type text not null,
  width integer not null,
  height integer not null,
  size_bytes integer not null,
  last_used_at timestamp(3) with time zone not null default now(),
  constraint logos_pkey PRIMARY KEY (hash),
  constraint logos_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text))
);

create table mail_counts (
  key text not null,
  sent integer not null default 1,
  since timestamp(3) with time zone not null default now(),
  constraint mail_counts_pkey PRIMARY KEY (key)
);

create table migrations (
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (name)
);

create table notification_preferences (
  user_ref bigint not null,
  mail_enabled boolean not null default true,
  kinds jsonb not null default '{}'::jsonb,
  digest_every text not null default 'day'::text,
  digest_hour smallint not null default 8,
  digest_weekday smallint not null default 1,
  digest_zone text not null default 'UTC'::text,
  constraint notification_preferences_pkey PRIMARY KEY (user_ref),
  constraint notification_preferences_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint notification_preferences_digest_every_check CHECK ((digest_every = ANY (ARRAY['day'::text, 'week'::text]))),
  constraint notification_preferences_digest_hour_check CHECK (((digest_hour >= 0) AND (digest_hour <= 23))),
  constraint notification_preferences_digest_weekday_check CHECK (((digest_weekday >= 1) AND (digest_weekday <= 7)))
);

create table notifications (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  kind text not null,
  act text,
  actor_user_ref bigint,
  post_id uuid,
  comment_id uuid,
  request_id uuid,
  in_app boolean not null,
  mail text not null,
  mailed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  happened_at timestamp(3) with time zone not null default now(),
  read_at timestamp(3) with time zone,
  team_id uuid,
  member_user_ref bigint,
  review_id uuid,
  asset_id uuid,
  state_id uuid,
  link_id uuid,
  review_decision text,
  constraint notifications_pkey PRIMARY KEY (id),
  constraint notifications_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint notifications_comment_id_fkey FOREIGN KEY (comment_id) REFERENCES comments(id) ON DELETE CASCADE,
  constraint notifications_link_id_fkey FOREIGN KEY (link_id) REFERENCES share_links(id) ON DELETE CASCADE,
  constraint notifications_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint notifications_request_id_fkey FOREIGN KEY (request_id) REFERENCES resource_requests(id) ON DELETE CASCADE,
  constraint notifications_review_id_fkey FOREIGN KEY (review_id) REFERENCES reviews(id) ON DELETE CASCADE,
  constraint notifications_state_id_fkey FOREIGN KEY (state_id) REFERENCES workflow_states(id) ON DELETE CASCADE,
  constraint notifications_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE,
  constraint notifications_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint notifications_check CHECK (((kind = ANY (ARRAY['like'::text, 'guest_feedback'::text])) = (act IS NULL))),
  constraint notifications_kind_check CHECK ((kind = ANY (ARRAY['request_received'::text, 'request_decided'::text, 'comment'::text, 'reply'::text, 'watched_comment'::text, 'like'::text, 'follow'::text, 'mention'::text, 'team_member_added'::text, 'publish_failed'::text, 'review_requested'::text, 'review_decided'::text, 'review_reopened'::text, 'review_due'::text, 'state_changed'::text, 'assigned'::text, 'guest_feedback'::text, 'deletion_requested'::text, 'deletion_decided'::text]))),
  constraint notifications_mail_check CHECK ((mail = ANY (ARRAY['off'::text, 'now'::text, 'digest'::text]))),
  constraint notifications_review_decision_check CHECK ((review_decision = ANY (ARRAY['approved'::text, 'changes_requested'::text])))
);
CREATE INDEX notifications_age ON public.notifications USING btree (happened_at);
CREATE INDEX notifications_asset ON public.notifications USING btree (asset_id) WHERE (asset_id IS NOT NULL);
CREATE INDEX notifications_comment ON public.notifications USING btree (comment_id) WHERE (comment_id IS NOT NULL);
CREATE INDEX notifications_digest ON public.notifications USING btree (user_ref, created_at) WHERE ((mail = 'digest'::text) AND (mailed_at IS NULL));
CREATE UNIQUE INDEX notifications_likes ON public.notifications USING btree (user_ref, post_id) WHERE ((kind = 'like'::text) AND (read_at IS NULL));
CREATE INDEX notifications_link ON public.notifications USING btree (link_id) WHERE (link_id IS NOT NULL);
CREATE INDEX notifications_list ON public.notifications USING btree (user_ref, happened_at DESC, id DESC) WHERE in_app;
CREATE UNIQUE INDEX notifications_once ON public.notifications USING btree (user_ref, act) WHERE (act IS NOT NULL);
CREATE INDEX notifications_post ON public.notifications USING btree (post_id) WHERE (post_id IS NOT NULL);
CREATE INDEX notifications_request ON public.notifications USING btree (request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX notifications_review ON public.notifications USING btree (review_id) WHERE (review_id IS NOT NULL);
CREATE INDEX notifications_state ON public.notifications USING btree (state_id) WHERE (state_id IS NOT NULL);
CREATE INDEX notifications_team ON public.notifications USING btree (team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX notifications_unread ON public.notifications USING btree (user_ref, happened_at DESC, id DESC) WHERE (in_app AND (read_at IS NULL));
CREATE UNIQUE INDEX notifications_unread_link ON public.notifications USING btree (user_ref, link_id) WHERE ((kind = 'guest_feedback'::text) AND (read_at IS NULL));

create table notified_likes (
  post_id uuid not null,
  actor_user_ref bigint not null,
  notification_id uuid not null,
  constraint notified_likes_pkey PRIMARY KEY (post_id, actor_user_ref),
  constraint notified_likes_actor_user_ref_fkey FOREIGN KEY (actor_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint notified_likes_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notifications(id) ON DELETE CASCADE,
  constraint notified_likes_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);
CREATE INDEX notified_likes_actor ON public.notified_likes USING btree (actor_user_ref);
CREATE INDEX notified_likes_notification ON public.notified_likes USING btree (notification_id);

create table passkey_challenges (
  challenge_hash bytea not null,
  session_id uuid,
  user_handle bytea,
  expires_at timestamp(3) with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (challenge_hash),
  constraint passkey_challenges_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  constraint passkey_challenges_check CHECK (((session_id IS NULL) = (user_handle IS NULL)))
);
CREATE INDEX passkey_challenges_expiry ON public.passkey_challenges USING btree (expires_at);
CREATE INDEX passkey_challenges_session ON public.passkey_challenges USING btree (session_id) WHERE (session_id IS NOT NULL);

create table passkeys (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  name text not null,
  credential_id bytea not null,
  public_key bytea not null,
  user_handle bytea not null,
  counter bigint not null,
  transports text[] not null default '{}'::text[],
  multi_device boolean not null,
  backed_up boolean not null,
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone,
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint passkeys_counter_check CHECK ((counter >= 0)),
  constraint passkeys_credential_id_check CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023))),
  constraint passkeys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
  constraint passkeys_user_handle_check CHECK (((octet_length(user_handle) >= 1) AND (octet_length(user_handle) <= 64)))
);
CREATE UNIQUE INDEX passkeys_credential ON public.passkeys USING btree (credential_id);
CREATE INDEX passkeys_user ON public.passkeys USING btree (user_ref, created_at, id);

create table picture_codes (
  file_hash text not null,
  model text not null,
  code bit(512) not null,
  constraint picture_codes_pkey PRIMARY KEY (file_hash, model),
  constraint picture_codes_file_hash_fkey FOREIGN KEY (file_hash) REFERENCES files(hash) ON DELETE CASCADE
);

create table picture_prints (
  file_hash text not null,
  print bit(128),
  pieces integer[] not null default '{}'::integer[],
  made_at timestamp with time zone not null default now(),
  constraint picture_prints_pkey PRIMARY KEY (file_hash),
  constraint picture_prints_file_hash_fkey FOREIGN KEY (file_hash) REFERENCES files(hash) ON DELETE CASCADE
);
CREATE INDEX picture_prints_pieces ON public.picture_prints USING gin (pieces);

create table picture_vectors (
  file_hash text not null,
  model text not null,
  vector real[],
  error text,
  encoded_at timestamp(3) with time zone not null default now(),
  constraint picture_vectors_pkey PRIMARY KEY (file_hash, model),
  constraint picture_vectors_file_hash_fkey FOREIGN KEY (file_hash) REFERENCES files(hash) ON DELETE CASCADE,
  constraint picture_vectors_check CHECK (((vector IS NULL) = (error IS NOT NULL)))
);

create table post_documents (
  post_id uuid not null,
  at timestamp(3) with time zone not null,
  document tsvector not null,
  names text not null,
  gated boolean not null default false,
  constraint post_documents_pkey PRIMARY KEY (post_id),
  constraint post_documents_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);
CREATE INDEX post_documents_at ON public.post_documents USING btree (at DESC, post_id DESC);
CREATE INDEX post_documents_names ON public.post_documents USING gin (names gin_trgm_ops);
CREATE INDEX post_documents_titles ON public.post_documents USING gin (ts_filter(document, '{a}'::"char"[]));
CREATE INDEX post_documents_words ON public.post_documents USING gin (document);

create table post_gated_documents (
  post_id uuid not null,
  asset_id uuid not null,
  document tsvector not null,
  constraint post_gated_documents_pkey PRIMARY KEY (post_id, asset_id),
  constraint post_gated_documents_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint post_gated_documents_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);
CREATE INDEX post_gated_documents_asset ON public.post_gated_documents USING btree (asset_id);
CREATE INDEX post_gated_documents_words ON public.post_gated_documents USING gin (document);

create table post_likes (
  post_id uuid not null,
  user_ref bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint post_likes_pkey PRIMARY KEY (post_id, user_ref),
  constraint post_likes_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint post_likes_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX post_likes_posts ON public.post_likes USING btree (user_ref, post_id);
CREATE INDEX post_likes_user ON public.post_likes USING btree (user_ref, created_at DESC);
CREATE TRIGGER post_likes_counted AFTER INSERT OR DELETE ON public.post_likes FOR EACH ROW EXECUTE FUNCTION count_post_like();

create table post_members (
  post_id uuid not null,
  asset_id uuid not null,
  sort_order integer not null,
  constraint post_members_pkey PRIMARY KEY (post_id, asset_id),
  constraint post_members_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint post_members_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);
CREATE INDEX post_members_asset ON public.post_members USING btree (asset_id, post_id);
CREATE TRIGGER post_members_expose AFTER INSERT ON public.post_members REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION refresh_exposure_of_members();
CREATE TRIGGER post_members_show AFTER INSERT ON public.post_members REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION show_new_members();
CREATE TRIGGER post_members_show_no_more AFTER DELETE ON public.post_members REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hide_old_members();
CREATE TRIGGER post_members_withdraw AFTER DELETE ON public.post_members REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION refresh_exposure_of_members();

create table post_pins (
  post_id uuid not null,
  user_ref bigint not null,
  pinned_at timestamp(3) with time zone not null default now(),
  constraint post_pins_pkey PRIMARY KEY (post_id),
  constraint post_pins_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint post_pins_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX post_pins_user ON public.post_pins USING btree (user_ref, pinned_at DESC, post_id);

create unlogged table post_presence (
  stream_id uuid not null,
  post_id uuid not null,
  user_ref bigint,
  seen_at timestamp(3) with time zone not null default now(),
  constraint post_presence_pkey PRIMARY KEY (stream_id),
  constraint post_presence_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint post_presence_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX post_presence_of_post ON public.post_presence USING btree (post_id, seen_at);
CREATE INDEX post_presence_of_user ON public.post_presence USING btree (user_ref);

create table post_schedules (
  post_id uuid not null,
  publish_at timestamp(3) with time zone not null,
  user_ref bigint,
  token_id uuid,
  impersonator_user_ref bigint,
  override_reason text,
  constraint post_schedules_pkey PRIMARY KEY (post_id),
  constraint post_schedules_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint post_schedules_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint post_schedules_override_reason_check CHECK ((char_length(override_reason) <= 1000))
);
CREATE INDEX post_schedules_of_account ON public.post_schedules USING btree (user_ref);

create table post_shares (
  post_id uuid not null,
  user_ref bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  constraint post_shares_pkey PRIMARY KEY (post_id, user_ref),
  constraint post_shares_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint post_shares_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX post_shares_user ON public.post_shares USING btree (user_ref);

create table post_watches (
  post_id uuid not null,
  user_ref bigint not null,
  watching boolean not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint post_watches_pkey PRIMARY KEY (post_id, user_ref),
  constraint post_watches_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint post_watches_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX post_watches_user ON public.post_watches USING btree (user_ref);

create table posts (
  id uuid not null default gen_random_uuid(),
  author_user_ref bigint not null,
  title text not null default ''::text,
  description text not null default ''::text,
  visibility text not null default 'org-only'::text,
  cover_asset_id uuid,
  cover_thumbnail_asset_id uuid,
  cover_focal_x double precision,
  cover_focal_y double precision,
  state_id uuid not null,
  draft boolean not null generated always as ((state_id = '00000000-0000-4000-8000-000000000201'::uuid)) stored,
  comments_enabled boolean not null default true,
  tags text[] not null default '{}'::text[],
  team_id uuid,
  like_count bigint not null default 0,
  comment_count bigint not null default 0,
  posted_at timestamp(3) with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  deleted_reason text,
  deleted_by_user_ref bigint,
  published_at timestamp(3) with time zone,
  trend double precision not null generated always as ((log((GREATEST((like_count + (2 * comment_count)), (1)::bigint))::double precision) + ((EXTRACT(epoch FROM (posted_at - '2020-01-01 00:00:00+00'::timestamp with time zone)))::double precision / (45000)::double precision))) stored,
  cover_focal_asset_id uuid,
  origin_peer_id uuid,
  remote_visibility text,
  remote_comments boolean,
  visible_until timestamp(3) with time zone,
  constraint posts_pkey PRIMARY KEY (id),
  constraint posts_cover_thumbnail_asset_id_fkey FOREIGN KEY (cover_thumbnail_asset_id) REFERENCES assets(id) ON DELETE SET NULL,
  constraint posts_origin_peer_id_fkey FOREIGN KEY (origin_peer_id) REFERENCES federation_peers(id),
  constraint posts_state_id_fkey FOREIGN KEY (state_id) REFERENCES workflow_states(id),
  constraint posts_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint posts_check CHECK (((cover_focal_x IS NULL) = (cover_focal_y IS NULL))),
  constraint posts_comment_count_check CHECK ((comment_count >= 0)),
  constraint posts_cover_focal_x_check CHECK (((cover_focal_x >= (0)::double precision) AND (cover_focal_x <= (1)::double precision))),
  constraint posts_cover_focal_y_check CHECK (((cover_focal_y >= (0)::double precision) AND (cover_focal_y <= (1)::double precision))),
  constraint posts_like_count_check CHECK ((like_count >= 0)),
  constraint posts_visibility_check CHECK ((visibility = ANY (ARRAY['public'::text, 'private'::text, 'org-only'::text, 'followers'::text, 'explicit-share'::text])))
);
CREATE INDEX posts_author ON public.posts USING btree (author_user_ref, posted_at DESC, id DESC);
CREATE INDEX posts_by_origin ON public.posts USING btree (origin_peer_id, posted_at DESC, id DESC) WHERE (origin_peer_id IS NOT NULL);
CREATE INDEX posts_cover_thumbnail ON public.posts USING btree (cover_thumbnail_asset_id) WHERE (cover_thumbnail_asset_id IS NOT NULL);
CREATE INDEX posts_drafts ON public.posts USING btree (posted_at DESC, id DESC) WHERE ((deleted_at IS NULL) AND draft);
CREATE INDEX posts_feed ON public.posts USING btree (posted_at DESC, id DESC) WHERE ((deleted_at IS NULL) AND (NOT draft));
CREATE INDEX posts_tags ON public.posts USING gin (tags);
CREATE INDEX posts_team ON public.posts USING btree (team_id, posted_at DESC, id DESC) WHERE (team_id IS NOT NULL);
CREATE INDEX posts_trash_age ON public.posts USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX posts_trash_author ON public.posts USING btree (author_user_ref, deleted_at DESC, id DESC) WHERE (deleted_at IS NOT NULL);
CREATE INDEX posts_trash_deleter ON public.posts USING btree (deleted_by_user_ref, deleted_at DESC, id DESC) WHERE (deleted_at IS NOT NULL);
CREATE INDEX posts_trend ON public.posts USING btree (trend DESC, id DESC) WHERE ((deleted_at IS NULL) AND (NOT draft));
CREATE INDEX posts_visibility ON public.posts USING btree (visibility, posted_at DESC, id DESC) WHERE ((deleted_at IS NULL) AND (NOT draft));
CREATE TRIGGER posts_directions BEFORE INSERT OR UPDATE OF title ON public.posts FOR EACH ROW WHEN ((new.title ~ '[\u202a-\u202e\u2066-\u2069]'::text)) EXECUTE FUNCTION remove_directions_of_title();
CREATE TRIGGER posts_document AFTER INSERT ON public.posts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_new_post_documents();
CREATE TRIGGER posts_document_anew AFTER UPDATE OF title, description, tags ON public.posts FOR EACH ROW WHEN (((((new.title IS DISTINCT FROM old.title) OR (new.description IS DISTINCT FROM old.description)) OR (new.tags IS DISTINCT FROM old.tags)) AND (current_setting('vitrine.merging_tags'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION write_post_document();
CREATE TRIGGER posts_document_timed AFTER UPDATE ON public.posts FOR EACH ROW WHEN ((new.posted_at IS DISTINCT FROM old.posted_at)) EXECUTE FUNCTION time_post_document();
CREATE TRIGGER posts_expose AFTER INSERT ON public.posts FOR EACH ROW WHEN (((new.cover_thumbnail_asset_id IS NOT NULL) AND (new.deleted_at IS NULL) AND (NOT new.draft))) EXECUTE FUNCTION refresh_exposure_of_post();
CREATE TRIGGER posts_expose_anew AFTER UPDATE ON public.posts FOR EACH ROW WHEN (((((new.deleted_at IS NULL) AND (NOT new.draft)) IS DISTINCT FROM ((old.deleted_at IS NULL) AND (NOT old.draft))) OR ((new.deleted_at IS NULL) AND (NOT new.draft) AND ((new.visibility IS DISTINCT FROM old.visibility) OR (new.author_user_ref IS DISTINCT FROM old.author_user_ref) OR (new.team_id IS DISTINCT FROM old.team_id) OR (new.cover_thumbnail_asset_id IS DISTINCT FROM old.cover_thumbnail_asset_id))))) EXECUTE FUNCTION refresh_exposure_of_post();
CREATE TRIGGER posts_shown_members_timed AFTER UPDATE OF posted_at ON public.posts FOR EACH ROW WHEN ((new.posted_at IS DISTINCT FROM old.posted_at)) EXECUTE FUNCTION time_shown_members();
CREATE TRIGGER posts_tags_known AFTER INSERT ON public.posts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION know_tags_of_new_posts();
CREATE TRIGGER posts_tags_known_anew AFTER UPDATE OF tags, visibility ON public.posts FOR EACH ROW WHEN ((((new.tags <> old.tags) OR (new.visibility <> old.visibility)) AND (cardinality(new.tags) > 0) AND (current_setting('vitrine.merging_tags'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION know_tags_of_post();
CREATE TRIGGER posts_unpin AFTER UPDATE OF draft, deleted_at, author_user_ref ON public.posts FOR EACH ROW WHEN ((new.draft OR (new.deleted_at IS NOT NULL) OR (new.author_user_ref IS DISTINCT FROM old.author_user_ref))) EXECUTE FUNCTION unpin_post();
CREATE TRIGGER posts_withdraw AFTER DELETE ON public.posts FOR EACH ROW WHEN ((old.cover_thumbnail_asset_id IS NOT NULL)) EXECUTE FUNCTION refresh_exposure_of_post();

create table push_subscriptions (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  session_id uuid not null,
  endpoint text not null,
  p256dh text not null,
  auth text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint push_subscriptions_endpoint_key UNIQUE (endpoint),
  constraint push_subscriptions_pkey PRIMARY KEY (id),
  constraint push_subscriptions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  constraint push_subscriptions_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint push_subscriptions_auth_check CHECK ((octet_length(auth) <= 100)),
  constraint push_subscriptions_endpoint_check CHECK ((octet_length(endpoint) <= 2000)),
  constraint push_subscriptions_p256dh_check CHECK ((octet_length(p256dh) <= 100))
);
CREATE INDEX push_subscriptions_session ON public.push_subscriptions USING btree (session_id);
CREATE INDEX push_subscriptions_user ON public.push_subscriptions USING btree (user_ref, created_at DESC, id);

create unlogged table rate_budgets (
  key text not null,
  used integer not null,
  ends_at timestamp(3) with time zone not null,
  constraint rate_budgets_pkey PRIMARY KEY (key)
);

create table recovery_codes (
  user_ref bigint not null,
  code_hash bytea not null,
  constraint recovery_codes_pkey PRIMARY KEY (user_ref, code_hash),
  constraint recovery_codes_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES two_factor(user_ref) ON DELETE CASCADE
);

create table related_assets (
  asset_id uuid not null,
  related_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint related_assets_pkey PRIMARY KEY (asset_id, related_id),
  constraint related_assets_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint related_assets_related_id_fkey FOREIGN KEY (related_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint related_assets_check CHECK ((asset_id < related_id))
);
CREATE INDEX related_assets_related ON public.related_assets USING btree (related_id);

create table remote_actors (
  ref bigint not null,
  peer_id uuid not null,
  uri text not null,
  username text not null,
  display_name text not null,
  signing_key bytea not null,
  fetched_at timestamp(3) with time zone not null default now(),
  box_key bytea,
  box_version integer,
  constraint remote_actors_uri_key UNIQUE (uri),
  constraint remote_actors_pkey PRIMARY KEY (ref),
  constraint remote_actors_peer_id_fkey FOREIGN KEY (peer_id) REFERENCES federation_peers(id) ON DELETE CASCADE,
  constraint remote_actors_box_key_check CHECK ((octet_length(box_key) = 32)),
  constraint remote_actors_signing_key_check CHECK ((octet_length(signing_key) = 32)),
  constraint remote_actors_uri_check CHECK ((char_length(uri) <= 500))
);
CREATE INDEX remote_actors_of_peer ON public.remote_actors USING btree (peer_id);

create table remote_post_likes (
  post_id uuid not null,
  actor_ref bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint remote_post_likes_pkey PRIMARY KEY (post_id, actor_ref),
  constraint remote_post_likes_actor_ref_fkey FOREIGN KEY (actor_ref) REFERENCES remote_actors(ref) ON DELETE CASCADE,
  constraint remote_post_likes_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);
CREATE TRIGGER remote_post_likes_counted AFTER INSERT OR DELETE ON public.remote_post_likes FOR EACH ROW EXECUTE FUNCTION count_post_like();

create table resource_requests (
  id uuid not null default gen_random_uuid(),
  requester_user_ref bigint not null,
  target_kind text not null,
  target_id uuid not null,
  requested_capability text not null,
  reason text,
  state text not null default 'pending'::text,
  requested_at timestamp(3) with time zone not null default now(),
  decided_at timestamp(3) with time zone,
  decided_by_user_ref bigint,
  decision_reason text,
  grant_ended_at timestamp(3) with time zone,
  constraint resource_requests_pkey PRIMARY KEY (id),
  constraint resource_requests_requester_user_ref_fkey FOREIGN KEY (requester_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint resource_requests_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'granted'::text, 'denied'::text, 'expired'::text]))),
  constraint resource_requests_target_kind_check CHECK ((target_kind = ANY (ARRAY['asset'::text, 'post'::text, 'collection'::text])))
);
CREATE UNIQUE INDEX resource_requests_once ON public.resource_requests USING btree (requester_user_ref, target_kind, target_id, requested_capability) WHERE (state = 'pending'::text);
CREATE INDEX resource_requests_queue ON public.resource_requests USING btree (requested_at DESC, id DESC);
CREATE INDEX resource_requests_requester ON public.resource_requests USING btree (requester_user_ref, requested_at DESC, id DESC);
CREATE INDEX resource_requests_state ON public.resource_requests USING btree (state, requested_at DESC, id DESC);
CREATE INDEX resource_requests_target ON public.resource_requests USING btree (target_kind, target_id);

create table review_file_decisions (
  review_id uuid not null,
  user_ref bigint not null,
  asset_id uuid not null,
  decision text not null,
  note text,
  constraint review_file_decisions_pkey PRIMARY KEY (review_id, user_ref, asset_id),
  constraint review_file_decisions_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint review_file_decisions_review_id_user_ref_fkey FOREIGN KEY (review_id, user_ref) REFERENCES review_reviewers(review_id, user_ref) ON DELETE CASCADE,
  constraint review_file_decisions_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'changes_requested'::text]))),
  constraint review_file_decisions_note_check CHECK ((char_length(note) <= 2000))
);
CREATE INDEX review_file_decisions_asset ON public.review_file_decisions USING btree (asset_id);

create table review_reviewers (
  review_id uuid not null,
  user_ref bigint not null,
  position integer not null,
  decision text,
  note text,
  version integer,
  decided_at timestamp(3) with time zone,
  constraint review_reviewers_pkey PRIMARY KEY (review_id, user_ref),
  constraint review_reviewers_review_id_fkey FOREIGN KEY (review_id) REFERENCES reviews(id) ON DELETE CASCADE,
  constraint review_reviewers_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint review_reviewers_check CHECK ((((decision IS NULL) = (version IS NULL)) AND ((decision IS NULL) = (decided_at IS NULL)))),
  constraint review_reviewers_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'changes_requested'::text]))),
  constraint review_reviewers_note_check CHECK ((char_length(note) <= 2000))
);
CREATE INDEX review_reviewers_user ON public.review_reviewers USING btree (user_ref, review_id);

create table reviewed_posts (
  post_id uuid not null,
  version integer not null default 1,
  content text not null,
  constraint reviewed_posts_pkey PRIMARY KEY (post_id),
  constraint reviewed_posts_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint reviewed_posts_version_check CHECK ((version >= 1))
);

create table reviews (
  id uuid not null default gen_random_uuid(),
  post_id uuid not null,
  requested_by_user_ref bigint,
  note text,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  closed_at timestamp(3) with time zone,
  reminded_before boolean not null default false,
  reminded_after boolean not null default false,
  constraint reviews_pkey PRIMARY KEY (id),
  constraint reviews_post_id_fkey FOREIGN KEY (post_id) REFERENCES reviewed_posts(post_id) ON DELETE CASCADE,
  constraint reviews_requested_by_user_ref_fkey FOREIGN KEY (requested_by_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint reviews_note_check CHECK ((char_length(note) <= 2000))
);
CREATE INDEX reviews_due ON public.reviews USING btree (due_at) WHERE ((closed_at IS NULL) AND (due_at IS NOT NULL) AND (NOT reminded_after));
CREATE INDEX reviews_of_post ON public.reviews USING btree (post_id, created_at DESC, id DESC);
CREATE INDEX reviews_requester ON public.reviews USING btree (requested_by_user_ref) WHERE (requested_by_user_ref IS NOT NULL);

create table role_capabilities (
  role_id uuid not null,
  capability text not null,
  constraint role_capabilities_pkey PRIMARY KEY (role_id, capability),
  constraint role_capabilities_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON DELETE CASCADE
);
CREATE TRIGGER role_capabilities_epoch AFTER INSERT OR DELETE OR UPDATE ON public.role_capabilities FOR EACH STATEMENT EXECUTE FUNCTION advance_access_epoch();

create table roles (
  id uuid not null default gen_random_uuid(),
  code text not null,
  label text not null,
  parent_id uuid,
  description text not null default ''::text,
  requires_second_factor boolean not null default false,
  seeded boolean not null default false,
  constraint roles_code_key UNIQUE (code),
  constraint roles_pkey PRIMARY KEY (id),
  constraint roles_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES roles(id),
  constraint roles_description_check CHECK ((char_length(description) <= 500))
);
CREATE INDEX roles_parent ON public.roles USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE TRIGGER roles_epoch AFTER INSERT OR DELETE OR UPDATE ON public.roles FOR EACH STATEMENT EXECUTE FUNCTION advance_access_epoch();

create table root_changes (
  root_id uuid not null,
  folder bytea not null,
  due_at timestamp(3) with time zone not null default now(),
  constraint root_changes_pkey PRIMARY KEY (root_id, folder),
  constraint root_changes_root_id_fkey FOREIGN KEY (root_id) REFERENCES roots(id) ON DELETE CASCADE,
  constraint root_changes_folder_check CHECK ((octet_length(folder) <= 2000))
);

create table root_edits (
  asset_id uuid not null,
  root_id uuid not null,
  edited_at timestamp with time zone not null default clock_timestamp(),
  constraint root_edits_pkey PRIMARY KEY (asset_id),
  constraint root_edits_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint root_edits_root_id_fkey FOREIGN KEY (root_id) REFERENCES roots(id) ON DELETE CASCADE
);
CREATE INDEX root_edits_root ON public.root_edits USING btree (root_id, asset_id);

create table root_files (
  id bigint not null generated always as identity,
  root_id uuid not null,
  path bytea not null,
  is_sidecar boolean not null default false,
  size_bytes bigint not null,
  modified_us bigint not null,
  device text not null,
  hash text not null,
  asset_id uuid,
  missing_since timestamp(3) with time zone,
  is_film boolean not null default false,
  constraint root_files_root_id_path_key UNIQUE (root_id, path),
  constraint root_files_pkey PRIMARY KEY (id),
  constraint root_files_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE SET NULL,
  constraint root_files_root_id_fkey FOREIGN KEY (root_id) REFERENCES roots(id) ON DELETE CASCADE,
  constraint root_files_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint root_files_path_check CHECK (((octet_length(path) >= 1) AND (octet_length(path) <= 2000)))
);
CREATE INDEX root_files_asset ON public.root_files USING btree (asset_id) WHERE (asset_id IS NOT NULL);
CREATE INDEX root_files_hash ON public.root_files USING btree (hash);

create table roots (
  id uuid not null default gen_random_uuid(),
  path text not null,
  owner_user_ref bigint,
  team_id uuid,
  sensitivity text not null,
  writable boolean not null default false,
  sidecars text not null default 'read'::text,
  skip text[] not null default '{}'::text[],
  fields jsonb not null default '[]'::jsonb,
  identity text,
  scan_id uuid,
  scan_state text not null default 'never'::text,
  scan_counts jsonb not null default '{}'::jsonb,
  scan_reason text,
  scan_at timestamp(3) with time zone,
  lease uuid,
  lease_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  unstacked_from bigint,
  constraint roots_path_key UNIQUE (path),
  constraint roots_pkey PRIMARY KEY (id),
  constraint roots_owner_user_ref_fkey FOREIGN KEY (owner_user_ref) REFERENCES users(ref) ON DELETE SET NULL,
  constraint roots_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE SET NULL,
  constraint roots_scan_state_check CHECK ((scan_state = ANY (ARRAY['never'::text, 'waiting'::text, 'running'::text, 'done'::text, 'unavailable'::text, 'failed'::text]))),
  constraint roots_sensitivity_check CHECK ((sensitivity = ANY (ARRAY['posts'::text, 'public'::text, 'org'::text, 'team'::text, 'restricted'::text]))),
  constraint roots_sidecars_check CHECK ((sidecars = ANY (ARRAY['off'::text, 'read'::text, 'write'::text])))
);
CREATE INDEX roots_owner ON public.roots USING btree (owner_user_ref);
CREATE INDEX roots_team ON public.roots USING btree (team_id) WHERE (team_id IS NOT NULL);

create table saved_searches (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  name text not null,
  query jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  name_key text,
  constraint saved_searches_pkey PRIMARY KEY (id),
  constraint saved_searches_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE UNIQUE INDEX saved_searches_name_key ON public.saved_searches USING btree (user_ref, name_key);
CREATE INDEX saved_searches_without_key ON public.saved_searches USING btree (user_ref, id) WHERE (name_key IS NULL);
CREATE TRIGGER saved_searches_key_kept BEFORE INSERT OR UPDATE OF name, name_key ON public.saved_searches FOR EACH ROW EXECUTE FUNCTION keep_name_key();

create table scim_groups (
  id uuid not null default gen_random_uuid(),
  provider text not null,
  display_name text not null,
  display_name_key text not null,
  external_id text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint scim_groups_pkey PRIMARY KEY (id),
  constraint scim_groups_display_name_check CHECK (((char_length(display_name) >= 1) AND (char_length(display_name) <= 500))),
  constraint scim_groups_external_id_check CHECK ((octet_length(external_id) <= 1000))
);
CREATE UNIQUE INDEX scim_groups_external ON public.scim_groups USING btree (provider, external_id) WHERE (external_id IS NOT NULL);
CREATE UNIQUE INDEX scim_groups_name ON public.scim_groups USING btree (provider, display_name_key);

create table scim_members (
  group_id uuid not null,
  user_ref bigint not null,
  constraint scim_members_pkey PRIMARY KEY (group_id, user_ref),
  constraint scim_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES scim_groups(id) ON DELETE CASCADE,
  constraint scim_members_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX scim_members_user ON public.scim_members USING btree (user_ref);

create table scim_tokens (
  id uuid not null default gen_random_uuid(),
  provider text not null,
  name text not null,
  token_hash bytea not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  constraint scim_tokens_pkey PRIMARY KEY (id),
  constraint scim_tokens_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100)))
);
CREATE UNIQUE INDEX scim_tokens_hash ON public.scim_tokens USING btree (token_hash);
CREATE INDEX scim_tokens_provider ON public.scim_tokens USING btree (provider, created_at DESC, id DESC);

create table scim_users (
  user_ref bigint not null,
  provider text not null,
  external_id text,
  attributes jsonb not null default '{}'::jsonb,
  status_before text,
  constraint scim_users_pkey PRIMARY KEY (user_ref),
  constraint scim_users_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint scim_users_external_id_check CHECK ((octet_length(external_id) <= 1000)),
  constraint scim_users_status_before_check CHECK ((status_before = ANY (ARRAY['disabled'::text, 'archived'::text])))
);
CREATE UNIQUE INDEX scim_users_external ON public.scim_users USING btree (provider, external_id) WHERE (external_id IS NOT NULL);

create table sessions (
  id uuid not null default gen_random_uuid(),
  token_hash bytea not null,
  user_ref bigint not null,
  impersonator_user_ref bigint,
  user_agent text not null default ''::text,
  address text not null default ''::text,
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  provider text,
  provider_sid text,
  constraint sessions_token_hash_key UNIQUE (token_hash),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_impersonator_user_ref_fkey FOREIGN KEY (impersonator_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint sessions_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint sessions_provider_sid_check CHECK ((octet_length(provider_sid) <= 1000))
);
CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_impersonator ON public.sessions USING btree (impersonator_user_ref) WHERE (impersonator_user_ref IS NOT NULL);
CREATE INDEX sessions_provider ON public.sessions USING btree (provider, provider_sid) WHERE (provider_sid IS NOT NULL);
CREATE INDEX sessions_user ON public.sessions USING btree (user_ref, created_at DESC, id DESC);
CREATE TRIGGER sessions_called_out AFTER DELETE ON public.sessions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION call_out_removed();

create table settings (
  key text not null,
  value jsonb not null,
  updated_at timestamp(3) with time zone not null default now(),
  constraint settings_pkey PRIMARY KEY (key)
);

create table share_link_files (
  link_id uuid not null,
  asset_id uuid not null,
  view_count bigint not null default 0,
  download_count bigint not null default 0,
  last_viewed_at timestamp(3) with time zone,
  last_downloaded_at timestamp(3) with time zone,
  last_at timestamp(3) with time zone not null default now(),
  id uuid not null default gen_random_uuid(),
  guest_id uuid,
  constraint share_link_files_user UNIQUE NULLS NOT DISTINCT (link_id, asset_id, guest_id),
  constraint share_link_files_pkey PRIMARY KEY (id),
  constraint share_link_files_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint share_link_files_guest_id_fkey FOREIGN KEY (guest_id) REFERENCES link_guests(id) ON DELETE CASCADE,
  constraint share_link_files_link_id_fkey FOREIGN KEY (link_id) REFERENCES share_links(id) ON DELETE CASCADE
);
CREATE INDEX share_link_files_asset ON public.share_link_files USING btree (asset_id);
CREATE INDEX share_link_files_guest ON public.share_link_files USING btree (guest_id) WHERE (guest_id IS NOT NULL);
CREATE INDEX share_link_files_newest ON public.share_link_files USING btree (link_id, last_at DESC, id DESC);

create table share_links (
  id uuid not null default gen_random_uuid(),
  token_hash bytea not null,
  post_id uuid,
  asset_id uuid,
  collection_id uuid,
  created_by_user_ref bigint not null,
  label text not null default ''::text,
  password_hash text,
  allow_download boolean not null default false,
  watermark text,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  opened_count bigint not null default 0,
  last_opened_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  token_sealed bytea,
  view_count bigint not null default 0,
  download_count bigint not null default 0,
  version integer,
  presets text[],
  allow_feedback boolean not null default false,
  allow_picks boolean not null default false,
  max_picks integer,
  constraint share_links_token_hash_key UNIQUE (token_hash),
  constraint share_links_pkey PRIMARY KEY (id),
  constraint share_links_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint share_links_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collections(id) ON DELETE CASCADE,
  constraint share_links_created_by_user_ref_fkey FOREIGN KEY (created_by_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint share_links_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint share_links_label_check CHECK ((char_length(label) <= 200)),
  constraint share_links_max_picks_check CHECK (((max_picks >= 1) AND (max_picks <= 10000))),
  constraint share_links_one_target CHECK ((num_nonnulls(post_id, asset_id, collection_id) = 1)),
  constraint share_links_presets_check CHECK (((cardinality(presets) >= 1) AND (cardinality(presets) <= 50))),
  constraint share_links_token_hash_check CHECK ((octet_length(token_hash) = 32)),
  constraint share_links_version_check CHECK ((version >= 1)),
  constraint share_links_version_of_asset CHECK (((version IS NULL) OR (asset_id IS NOT NULL))),
  constraint share_links_watermark_check CHECK (((char_length(watermark) >= 1) AND (char_length(watermark) <= 200)))
);
CREATE INDEX share_links_asset ON public.share_links USING btree (asset_id, created_at DESC, id DESC) WHERE (asset_id IS NOT NULL);
CREATE INDEX share_links_collection ON public.share_links USING btree (collection_id, created_at DESC, id DESC) WHERE (collection_id IS NOT NULL);
CREATE INDEX share_links_creator ON public.share_links USING btree (created_by_user_ref, created_at DESC, id DESC);
CREATE INDEX share_links_newest ON public.share_links USING btree (created_at DESC, id DESC);
CREATE INDEX share_links_post ON public.share_links USING btree (post_id, created_at DESC, id DESC) WHERE (post_id IS NOT NULL);
CREATE TRIGGER share_links_told AFTER UPDATE OF token_hash, password_hash, allow_feedback, expires_at, revoked_at ON public.share_links FOR EACH ROW EXECUTE FUNCTION tell_of_terms();

create table shown_members (
  post_id uuid not null,
  asset_id uuid not null,
  posted_at timestamp(3) with time zone not null,
  audience text not null,
  constraint shown_members_pkey PRIMARY KEY (post_id, asset_id),
  constraint shown_members_audience_check CHECK ((audience = ANY (ARRAY['org-only'::text, 'public'::text])))
);
CREATE INDEX shown_members_at ON public.shown_members USING btree (posted_at DESC, post_id) INCLUDE (audience);

create table sign_in_failures (
  name text not null,
  failures integer not null,
  last_at timestamp(3) with time zone not null default now(),
  locked_until timestamp(3) with time zone,
  constraint sign_in_failures_pkey PRIMARY KEY (name)
);
CREATE INDEX sign_in_failures_age ON public.sign_in_failures USING btree (last_at);

create table sign_in_flows (
  id uuid not null default gen_random_uuid(),
  browser_hash bytea not null,
  provider text not null,
  purpose text not null,
  user_ref bigint,
  session_id uuid,
  return_to text,
  identity jsonb,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  invitation_id uuid,
  constraint sign_in_flows_pkey PRIMARY KEY (id),
  constraint sign_in_flows_invitation_id_fkey FOREIGN KEY (invitation_id) REFERENCES invitations(id) ON DELETE SET NULL,
  constraint sign_in_flows_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  constraint sign_in_flows_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint sign_in_flows_purpose_check CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'link'::text, 'confirm'::text, 'second_factor'::text])))
);
CREATE INDEX sign_in_flows_expiry ON public.sign_in_flows USING btree (expires_at);
CREATE INDEX sign_in_flows_invitation ON public.sign_in_flows USING btree (invitation_id) WHERE (invitation_id IS NOT NULL);
CREATE INDEX sign_in_flows_session ON public.sign_in_flows USING btree (session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX sign_in_flows_user ON public.sign_in_flows USING btree (user_ref) WHERE (user_ref IS NOT NULL);

create table similar_files (
  id uuid not null default gen_random_uuid(),
  first_hash text not null,
  second_hash text not null,
  bits integer not null,
  found_at timestamp with time zone not null default now(),
  constraint similar_files_first_hash_second_hash_key UNIQUE (first_hash, second_hash),
  constraint similar_files_pkey PRIMARY KEY (id),
  constraint similar_files_first_hash_fkey FOREIGN KEY (first_hash) REFERENCES files(hash) ON DELETE CASCADE,
  constraint similar_files_second_hash_fkey FOREIGN KEY (second_hash) REFERENCES files(hash) ON DELETE CASCADE,
  constraint similar_files_check CHECK ((first_hash < second_hash))
);
CREATE INDEX similar_files_by_time ON public.similar_files USING btree (found_at DESC, id DESC);
CREATE INDEX similar_files_second ON public.similar_files USING btree (second_hash);

create table stacked_assets (
  asset_id uuid not null,
  stack_id uuid not null,
  place integer not null,
  constraint stacked_assets_pkey PRIMARY KEY (asset_id),
  constraint stacked_assets_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE
);
CREATE INDEX stacked_assets_of_stack ON public.stacked_assets USING btree (stack_id, place, asset_id);

create table subtitles (
  asset_id uuid not null,
  lang text not null,
  label text not null default ''::text,
  file_hash text not null,
  size_bytes bigint not null,
  source_format text not null,
  confidence double precision not null,
  created_at timestamp(3) with time zone not null default now(),
  embedded boolean not null default false,
  constraint subtitles_pkey PRIMARY KEY (asset_id, lang),
  constraint subtitles_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE CASCADE,
  constraint subtitles_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
  constraint subtitles_file_hash_check CHECK ((file_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint subtitles_label_check CHECK ((char_length(label) <= 200)),
  constraint subtitles_lang_check CHECK (((char_length(lang) >= 1) AND (char_length(lang) <= 100))),
  constraint subtitles_size_bytes_check CHECK ((size_bytes >= 0)),
  constraint subtitles_source_format_check CHECK ((source_format = ANY (ARRAY['srt'::text, 'vtt'::text, 'ass'::text, 'ssa'::text, 'sbv'::text, 'pgs'::text, 'vobsub'::text])))
);
CREATE INDEX subtitles_file ON public.subtitles USING btree (file_hash);

create table tag_documents (
  tag text not null,
  document tsvector not null,
  names text not null,
  constraint tag_documents_pkey PRIMARY KEY (tag),
  constraint tag_documents_tag_fkey FOREIGN KEY (tag) REFERENCES tags(name) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX tag_documents_names ON public.tag_documents USING gin (names gin_trgm_ops);
CREATE INDEX tag_documents_words ON public.tag_documents USING gin (document);

create table tag_follows (
  user_ref bigint not null,
  tag text not null,
  created_at timestamp(3) with time zone not null default now(),
  key text,
  constraint tag_follows_pkey PRIMARY KEY (user_ref, tag),
  constraint tag_follows_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX tag_follows_by_key ON public.tag_follows USING btree (key);
CREATE UNIQUE INDEX tag_follows_key ON public.tag_follows USING btree (user_ref, key);
CREATE INDEX tag_follows_tag ON public.tag_follows USING btree (tag);
CREATE INDEX tag_follows_without_key ON public.tag_follows USING btree (tag) WHERE (key IS NULL);
CREATE TRIGGER tag_follows_key_kept BEFORE INSERT ON public.tag_follows FOR EACH ROW EXECUTE FUNCTION keep_follow_key();

create table tag_runs (
  number bigint not null generated always as identity,
  id uuid not null default gen_random_uuid(),
  source text not null,
  target text not null,
  done bigint not null default 0,
  total bigint not null,
  started_at timestamp(3) with time zone not null default now(),
  finished_at timestamp(3) with time zone,
  constraint tag_runs_id_key UNIQUE (id),
  constraint tag_runs_pkey PRIMARY KEY (number)
);
CREATE INDEX tag_runs_unfinished ON public.tag_runs USING btree (number) WHERE (finished_at IS NULL);

create table tags (
  name text not null,
  folded text not null generated always as (lower((name COLLATE "default"))) stored,
  seen_in_public boolean not null default false,
  key text,
  constraint tags_pkey PRIMARY KEY (name)
);
CREATE UNIQUE INDEX tags_key ON public.tags USING btree (key);
CREATE INDEX tags_seen_in_public ON public.tags USING btree (key) WHERE seen_in_public;
CREATE INDEX tags_within ON public.tags USING gin (key gin_trgm_ops);
CREATE INDEX tags_without_key ON public.tags USING btree (name) WHERE (key IS NULL);
CREATE TRIGGER tags_document AFTER INSERT OR UPDATE OF name ON public.tags FOR EACH ROW EXECUTE FUNCTION write_tag_document();

create table team_closure (
  ancestor_id uuid not null,
  descendant_id uuid not null,
  constraint team_closure_pkey PRIMARY KEY (ancestor_id, descendant_id),
  constraint team_closure_ancestor_id_fkey FOREIGN KEY (ancestor_id) REFERENCES teams(id) ON DELETE CASCADE,
  constraint team_closure_descendant_id_fkey FOREIGN KEY (descendant_id) REFERENCES teams(id) ON DELETE CASCADE
);
CREATE INDEX team_closure_descendant ON public.team_closure USING btree (descendant_id);

create table team_follows (
  user_ref bigint not null,
  team_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint team_follows_pkey PRIMARY KEY (user_ref, team_id),
  constraint team_follows_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE,
  constraint team_follows_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX team_follows_team ON public.team_follows USING btree (team_id);

create table team_members (
  team_id uuid not null,
  user_ref bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  provider text,
  role text not null default 'member'::text,
  constraint team_members_pkey PRIMARY KEY (team_id, user_ref),
  constraint team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE,
  constraint team_members_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint team_members_role_check CHECK ((role = ANY (ARRAY['lead'::text, 'member'::text, 'contributor'::text, 'viewer'::text])))
);
CREATE INDEX team_members_leads ON public.team_members USING btree (user_ref, team_id) WHERE (role = 'lead'::text);
CREATE INDEX team_members_provider ON public.team_members USING btree (user_ref, provider) WHERE (provider IS NOT NULL);
CREATE INDEX team_members_user ON public.team_members USING btree (user_ref);
CREATE TRIGGER team_members_lead_added AFTER INSERT ON public.team_members FOR EACH ROW WHEN ((new.role = 'lead'::text)) EXECUTE FUNCTION advance_access_epoch();
CREATE TRIGGER team_members_lead_changed AFTER UPDATE ON public.team_members FOR EACH ROW WHEN ((((new.role = 'lead'::text) IS DISTINCT FROM (old.role = 'lead'::text)) OR ((new.role = 'lead'::text) AND ((new.user_ref IS DISTINCT FROM old.user_ref) OR (new.team_id IS DISTINCT FROM old.team_id))))) EXECUTE FUNCTION advance_access_epoch();
CREATE TRIGGER team_members_lead_removed AFTER DELETE ON public.team_members FOR EACH ROW WHEN ((old.role = 'lead'::text)) EXECUTE FUNCTION advance_access_epoch();

create table team_parents (
  team_id uuid not null,
  parent_id uuid not null,
  constraint team_parents_pkey PRIMARY KEY (team_id, parent_id),
  constraint team_parents_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES teams(id) ON DELETE CASCADE,
  constraint team_parents_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id) ON DELETE CASCADE,
  constraint team_parents_check CHECK ((team_id <> parent_id))
);
CREATE INDEX team_parents_parent ON public.team_parents USING btree (parent_id);
CREATE TRIGGER team_parents_closure AFTER INSERT OR DELETE OR UPDATE ON public.team_parents FOR EACH STATEMENT EXECUTE FUNCTION remake_team_closure();

create table teams (
  id uuid not null default gen_random_uuid(),
  slug text not null,
  name text not null,
  description text not null default ''::text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  origin_server_id uuid,
  hero_asset_id uuid,
  deleted_by_user_ref bigint,
  constraint teams_pkey PRIMARY KEY (id),
  constraint teams_hero_asset_id_fkey FOREIGN KEY (hero_asset_id) REFERENCES assets(id) ON DELETE SET NULL
);
CREATE INDEX teams_hero ON public.teams USING btree (hero_asset_id) WHERE (hero_asset_id IS NOT NULL);
CREATE INDEX teams_name ON public.teams USING btree (lower(name), id) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX teams_slug ON public.teams USING btree (origin_server_id, slug) NULLS NOT DISTINCT;
CREATE TRIGGER teams_closure AFTER INSERT ON public.teams FOR EACH ROW EXECUTE FUNCTION add_team_to_closure();
CREATE TRIGGER teams_directions BEFORE INSERT OR UPDATE OF name ON public.teams FOR EACH ROW WHEN ((new.name ~ '[\u202a-\u202e\u2066-\u2069]'::text)) EXECUTE FUNCTION remove_directions_of_name();

create table transcodes (
  file_hash text not null,
  state text not null,
  progress real not null default 0,
  error text,
  updated_at timestamp with time zone not null default now(),
  constraint transcodes_pkey PRIMARY KEY (file_hash),
  constraint transcodes_file_hash_fkey FOREIGN KEY (file_hash) REFERENCES files(hash) ON DELETE CASCADE,
  constraint transcodes_progress_check CHECK (((progress >= (0)::double precision) AND (progress <= (1)::double precision))),
  constraint transcodes_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

create table two_factor (
  user_ref bigint not null,
  sealed_secret bytea not null,
  enrolled_at timestamp(3) with time zone not null default now(),
  confirmed_at timestamp(3) with time zone,
  last_step bigint not null default 0,
  last_used_at timestamp(3) with time zone,
  constraint two_factor_pkey PRIMARY KEY (user_ref),
  constraint two_factor_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);

create table uploads (
  id uuid not null,
  owner_user_ref bigint not null,
  size_bytes bigint,
  received_bytes bigint not null default 0,
  metadata jsonb not null default '{}'::jsonb,
  writer uuid,
  file_hash text,
  mime text,
  extension text,
  finished_at timestamp(3) with time zone,
  used_at timestamp(3) with time zone,
  asset_id uuid,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  constraint uploads_pkey PRIMARY KEY (id),
  constraint uploads_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE SET NULL,
  constraint uploads_owner_user_ref_fkey FOREIGN KEY (owner_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint uploads_file_hash_check CHECK ((file_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint uploads_finished CHECK ((((finished_at IS NULL) = (file_hash IS NULL)) AND ((finished_at IS NULL) = (mime IS NULL)))),
  constraint uploads_received CHECK (((received_bytes >= 0) AND (received_bytes <= size_bytes))),
  constraint uploads_size_bytes_check CHECK ((size_bytes >= 0))
);
CREATE INDEX uploads_asset ON public.uploads USING btree (asset_id) WHERE (asset_id IS NOT NULL);
CREATE INDEX uploads_expiry ON public.uploads USING btree (expires_at);
CREATE INDEX uploads_owner ON public.uploads USING btree (owner_user_ref, created_at DESC, id DESC);

create table used_logout_tokens (
  provider text not null,
  id_hash bytea not null,
  expires_at timestamp(3) with time zone not null,
  constraint used_logout_tokens_pkey PRIMARY KEY (provider, id_hash)
);
CREATE INDEX used_logout_tokens_expiry ON public.used_logout_tokens USING btree (expires_at);

create table user_capability_grants (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  capability text not null,
  team_id uuid,
  note text,
  granted_by_user_ref bigint,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  request_ref uuid,
  constraint user_capability_grants_request_ref_key UNIQUE (request_ref),
  constraint user_capability_grants_pkey PRIMARY KEY (id),
  constraint user_capability_grants_request_ref_fkey FOREIGN KEY (request_ref) REFERENCES resource_requests(id) ON DELETE CASCADE,
  constraint user_capability_grants_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX user_capability_grants_expiry ON public.user_capability_grants USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE UNIQUE INDEX user_capability_grants_once ON public.user_capability_grants USING btree (user_ref, capability, team_id) NULLS NOT DISTINCT WHERE (request_ref IS NULL);
CREATE INDEX user_capability_grants_user ON public.user_capability_grants USING btree (user_ref);
CREATE TRIGGER user_capability_grants_epoch AFTER INSERT OR DELETE OR UPDATE ON public.user_capability_grants FOR EACH STATEMENT EXECUTE FUNCTION advance_access_epoch();

create table user_capability_revokes (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  capability text not null,
  team_id uuid,
  note text,
  revoked_by_user_ref bigint,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  constraint user_capability_revokes_pkey PRIMARY KEY (id),
  constraint user_capability_revokes_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX user_capability_revokes_expiry ON public.user_capability_revokes USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE UNIQUE INDEX user_capability_revokes_once ON public.user_capability_revokes USING btree (user_ref, capability, team_id) NULLS NOT DISTINCT;
CREATE INDEX user_capability_revokes_user ON public.user_capability_revokes USING btree (user_ref);
CREATE TRIGGER user_capability_revokes_epoch AFTER INSERT OR DELETE OR UPDATE ON public.user_capability_revokes FOR EACH STATEMENT EXECUTE FUNCTION advance_access_epoch();

create table user_documents (
  user_ref bigint not null,
  document tsvector not null,
  names text not null,
  full_document tsvector not null,
  full_names text not null,
  constraint user_documents_pkey PRIMARY KEY (user_ref),
  constraint user_documents_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE
);
CREATE INDEX user_documents_full_names ON public.user_documents USING gin (full_names gin_trgm_ops);
CREATE INDEX user_documents_full_words ON public.user_documents USING gin (full_document);
CREATE INDEX user_documents_names ON public.user_documents USING gin (names gin_trgm_ops);
CREATE INDEX user_documents_words ON public.user_documents USING gin (document);

create table user_follows (
  follower_user_ref bigint not null,
  followed_user_ref bigint not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint user_follows_pkey PRIMARY KEY (follower_user_ref, followed_user_ref),
  constraint user_follows_followed_user_ref_fkey FOREIGN KEY (followed_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint user_follows_follower_user_ref_fkey FOREIGN KEY (follower_user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint user_follows_check CHECK ((follower_user_ref <> followed_user_ref))
);
CREATE INDEX user_follows_followed ON public.user_follows USING btree (followed_user_ref);

create table user_identities (
  id uuid not null default gen_random_uuid(),
  user_ref bigint not null,
  kind text not null,
  issuer text not null,
  subject text not null,
  provider text not null,
  username text,
  email text,
  created_at timestamp(3) with time zone not null default now(),
  last_used_at timestamp(3) with time zone,
  groups text[] not null default '{}'::text[],
  constraint user_identities_pkey PRIMARY KEY (id),
  constraint user_identities_user_ref_fkey FOREIGN KEY (user_ref) REFERENCES users(ref) ON DELETE CASCADE,
  constraint user_identities_issuer_check CHECK ((octet_length(issuer) <= 1000)),
  constraint user_identities_kind_check CHECK ((kind = ANY (ARRAY['oidc'::text, 'saml'::text]))),
  constraint user_identities_subject_check CHECK ((octet_length(subject) <= 1000))
);
CREATE UNIQUE INDEX user_identities_subject ON public.user_identities USING btree (kind, issuer, subject);
CREATE INDEX user_identities_user ON public.user_identities USING btree (user_ref, created_at, id);

create table users (
  ref bigint not null generated always as identity,
  username text not null,
  password_hash text,
  role_id uuid not null,
  status text not null default 'active'::text,
  fullname text,
  email text,
  display_name text,
  bio text not null default ''::text,
  avatar_asset_id uuid,
  hide_from_anonymous boolean not null default false,
  preferences jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  provider text not null default 'password'::text,
  provider_subject text,
  last_seen_at timestamp(3) with time zone,
  quota_bytes bigint,
  username_key text,
  hashed_as text,
  email_key text,
  role_provider text,
  email_confirmed_at timestamp(3) with time zone,
  registration text,
  expires_at timestamp(3) with time zone,
  status_provider text,
  picture_url text,
  picture_asset_id uuid,
  banner_asset_id uuid,
  links jsonb not null default '[]'::jsonb,
  constraint users_pkey PRIMARY KEY (ref),
  constraint users_banner_asset_id_fkey FOREIGN KEY (banner_asset_id) REFERENCES assets(id) ON DELETE SET NULL,
  constraint users_picture_asset_id_fkey FOREIGN KEY (picture_asset_id) REFERENCES assets(id) ON DELETE SET NULL,
  constraint users_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id),
  constraint users_check CHECK (((provider = 'password'::text) = (provider_subject IS NULL))),
  constraint users_links_check CHECK ((jsonb_typeof(links) = 'array'::text)),
  constraint users_picture_url_check CHECK ((octet_length(picture_url) <= 2000)),
  constraint users_quota_bytes_check CHECK ((quota_bytes >= 0)),
  constraint users_registration_check CHECK ((registration = ANY (ARRAY['unverified'::text, 'verified'::text]))),
  constraint users_status_check CHECK ((status = ANY (ARRAY['active'::text, 'pending'::text, 'disabled'::text, 'archived'::text])))
);
CREATE INDEX users_avatar ON public.users USING btree (avatar_asset_id) WHERE (avatar_asset_id IS NOT NULL);
CREATE INDEX users_banner ON public.users USING btree (banner_asset_id) WHERE (banner_asset_id IS NOT NULL);
CREATE INDEX users_by_name ON public.users USING btree (COALESCE(NULLIF(TRIM(BOTH FROM display_name), ''::text), NULLIF(TRIM(BOTH FROM fullname), ''::text), username) COLLATE natural_order, ref) WHERE (status = 'active'::text);
CREATE INDEX users_by_public_name ON public.users USING btree (COALESCE(NULLIF(TRIM(BOTH FROM display_name), ''::text), username) COLLATE natural_order, ref) WHERE ((status = 'active'::text) AND (NOT hide_from_anonymous));
CREATE INDEX users_email_key ON public.users USING btree (email_key) WHERE (email_key IS NOT NULL);
CREATE INDEX users_expiry ON public.users USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX users_newest ON public.users USING btree (created_at DESC, ref DESC);
CREATE INDEX users_of_provider ON public.users USING btree (provider, ref) WHERE (provider <> 'password'::text);
CREATE INDEX users_picture ON public.users USING btree (picture_asset_id) WHERE (picture_asset_id IS NOT NULL);
CREATE UNIQUE INDEX users_provider ON public.users USING btree (provider, provider_subject) WHERE (provider_subject IS NOT NULL);
CREATE INDEX users_role ON public.users USING btree (role_id);
CREATE INDEX users_unverified ON public.users USING btree (created_at) WHERE (registration = 'unverified'::text);
CREATE UNIQUE INDEX users_username_key ON public.users USING btree (username_key);
CREATE INDEX users_without_email_key ON public.users USING btree (email) WHERE ((email IS NOT NULL) AND (email_key IS NULL));
CREATE INDEX users_without_key ON public.users USING btree (ref) WHERE (username_key IS NULL);
CREATE TRIGGER users_called_out AFTER UPDATE OF status ON public.users FOR EACH ROW WHEN ((new.status <> old.status)) EXECUTE FUNCTION call_out_user();
CREATE TRIGGER users_confirmed_email BEFORE UPDATE OF email ON public.users FOR EACH ROW WHEN (((new.email IS DISTINCT FROM old.email) AND (NOT (new.email_confirmed_at IS DISTINCT FROM old.email_confirmed_at)))) EXECUTE FUNCTION forget_confirmed_email();
CREATE TRIGGER users_directions BEFORE INSERT OR UPDATE OF fullname, display_name ON public.users FOR EACH ROW WHEN ((concat(new.fullname, new.display_name) ~ '[\u202a-\u202e\u2066-\u2069]'::text)) EXECUTE FUNCTION remove_directions_of_user();
CREATE TRIGGER users_document AFTER INSERT ON public.users REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_new_user_documents();
CREATE TRIGGER users_document_anew AFTER UPDATE OF username, display_name, fullname ON public.users FOR EACH ROW WHEN ((((new.username IS DISTINCT FROM old.username) OR (new.display_name IS DISTINCT FROM old.display_name)) OR (new.fullname IS DISTINCT FROM old.fullname))) EXECUTE FUNCTION write_user_document();
CREATE TRIGGER users_email_key_kept BEFORE INSERT OR UPDATE OF email, email_key ON public.users FOR EACH ROW EXECUTE FUNCTION keep_email_key();
CREATE TRIGGER users_names_kept BEFORE INSERT OR UPDATE OF username, username_key, password_hash ON public.users FOR EACH ROW EXECUTE FUNCTION keep_user_names();
CREATE TRIGGER users_pending_email AFTER UPDATE OF email ON public.users FOR EACH ROW WHEN ((new.email IS DISTINCT FROM old.email)) EXECUTE FUNCTION end_pending_email();
CREATE TRIGGER users_role_epoch AFTER UPDATE OF role_id ON public.users FOR EACH STATEMENT EXECUTE FUNCTION advance_access_epoch();
CREATE TRIGGER users_role_origin BEFORE UPDATE OF role_id ON public.users FOR EACH ROW WHEN (((new.role_id <> old.role_id) AND (new.role_provider = old.role_provider))) EXECUTE FUNCTION keep_role_origin();
CREATE TRIGGER users_status_origin BEFORE UPDATE OF status ON public.users FOR EACH ROW WHEN (((new.status <> old.status) AND (new.status_provider = old.status_provider))) EXECUTE FUNCTION keep_status_origin();

create table whiteboards (
  id uuid not null default gen_random_uuid(),
  post_id uuid not null,
  author_user_ref bigint not null,
  title text not null default ''::text,
  strokes json not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint whiteboards_pkey PRIMARY KEY (id),
  constraint whiteboards_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);
CREATE INDEX whiteboards_post ON public.whiteboards USING btree (post_id, created_at DESC, id DESC);
CREATE TRIGGER whiteboards_directions BEFORE INSERT OR UPDATE OF title ON public.whiteboards FOR EACH ROW WHEN ((new.title ~ '[\u202a-\u202e\u2066-\u2069]'::text)) EXECUTE FUNCTION remove_directions_of_title();
CREATE TRIGGER whiteboards_told AFTER INSERT OR DELETE OR UPDATE ON public.whiteboards FOR EACH ROW EXECUTE FUNCTION tell_of_whiteboards();

create table workflow_states (
  id uuid not null,
  domain text not null,
  code text not null,
  label text not null,
  sort_order integer not null,
  moves_to text[] not null default '{}'::text[],
  capability text,
  seeded boolean not null default false,
  constraint workflow_states_domain_code_key UNIQUE (domain, code),
  constraint workflow_states_pkey PRIMARY KEY (id)
);
