-- Assets below roots with `sidecars: write` that people have edited, until their sidecars are written (ROOT-15).
create table root_edits (
  asset_id uuid primary key references assets (id) on delete cascade,
  root_id uuid not null references roots (id) on delete cascade,
  edited_at timestamptz not null default clock_timestamp()
);
create index root_edits_root on root_edits (root_id, asset_id);

-- Notes edited assets and enqueues the job of their roots, in the transaction of the edit.
create function note_root_edits(ids uuid[]) returns void language plpgsql as $$
begin
  perform graphile_worker.add_job('write-sidecars', json_build_object('root', noted.root_id),
      job_key => 'write-sidecars:' || noted.root_id, max_attempts => 5)
    from (
      select distinct a.root_id from assets a join roots r on r.id = a.root_id
      where a.id = any(ids) and r.sidecars = 'write') noted;
  insert into root_edits (asset_id, root_id)
    select a.id, a.root_id from assets a join roots r on r.id = a.root_id
    where a.id = any(ids) and r.sidecars = 'write' order by a.id
    on conflict (asset_id) do update set root_id = excluded.root_id, edited_at = excluded.edited_at;
end $$;

create function note_changed_assets() returns trigger language plpgsql as $$
begin
  perform note_root_edits(array(select distinct e.asset_id from edited e));
  return null;
end $$;
create trigger assets_changed after insert on asset_changes
  referencing new table as edited for each statement execute function note_changed_assets();

-- Values that are read from files are no edits.
create function note_changed_values() returns trigger language plpgsql as $$
begin
  perform note_root_edits(array(select distinct e.subject_id from edited e
    where e.subject_kind = 'asset' and e.set_by in ('manual', 'api')));
  return null;
end $$;
create trigger values_changed after insert on field_value_history
  referencing new table as edited for each statement execute function note_changed_values();
