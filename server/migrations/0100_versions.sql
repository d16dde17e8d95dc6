-- The versions of an asset (VERSION-1). An asset that was never replaced and has no pinned link has no rows: its only
-- version is its own row. Otherwise every version has a row, and the one with the highest number is the current one,
-- whose file the asset has, too.
create table asset_versions (
  asset_id uuid not null references assets (id) on delete cascade,
  number integer not null check (number >= 1),
  file_hash text not null references files (hash),
  file_name text not null,
  note text not null default '' check (char_length(note) <= 2000),
  -- Whether subtitles inside its file were taken from the asset when it was replaced (VERSION-10).
  had_subtitles boolean not null default false,
  created_at timestamptz(3) not null default now(),
  created_by_user_ref bigint references users (ref) on delete set null,
  primary key (asset_id, number)
);
create index asset_versions_file on asset_versions (file_hash);
create index asset_versions_creator on asset_versions (created_by_user_ref) where created_by_user_ref is not null;

-- The file whose renditions are shown until those of the current version are made (VERSION-6).
alter table assets add column interim_hash text references files (hash);
alter table assets add constraint assets_interim check (interim_hash is null or processing_status = 'pending');
create index assets_interim on assets (interim_hash) where interim_hash is not null;

-- The version that a link to an asset shows; null shows the current one (VERSION-9).
alter table share_links add column version integer check (version >= 1);
alter table share_links add constraint share_links_version_of_asset check (version is null or asset_id is not null);

-- A file that is being replaced remains visible to visitors while its earlier renditions are shown (ASSET-2).
create function shown_status(processing_status text, interim_hash text) returns text
  language sql immutable parallel safe as $$
  select case when interim_hash is null then processing_status else 'ready' end
$$;

create or replace function show_new_members() returns trigger language plpgsql as $$
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
$$;

create or replace function show_members_of_asset() returns trigger language plpgsql as $$
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
$$;
drop trigger assets_show_members on assets;
create trigger assets_show_members
  after update of deleted_at, status, processing_status, interim_hash, sensitivity, exposure on assets
  for each row when (
    member_audience(new.deleted_at, new.status, shown_status(new.processing_status, new.interim_hash),
      new.sensitivity, new.exposure) is distinct from
    member_audience(old.deleted_at, old.status, shown_status(old.processing_status, old.interim_hash),
      old.sensitivity, old.exposure))
  execute function show_members_of_asset();

-- A search document contains the text of the current version.
drop trigger assets_document_anew on assets;
create trigger assets_document_anew
  after update of title, description, file_name, mature, asset_type, file_hash on assets
  for each row when (new.title is distinct from old.title or new.description is distinct from old.description
    or new.file_name is distinct from old.file_name or new.mature is distinct from old.mature
    or new.asset_type is distinct from old.asset_type or new.file_hash is distinct from old.file_hash)
  execute function write_asset_document();
