-- Notes edited assets and enqueues the job of their roots, in the transaction of the edit. Edits below one root do not wait for
-- each other: every transaction has a job of its own, and the first one that runs replaces those that wait (ROOT-15).
create or replace function note_root_edits(ids uuid[]) returns void language plpgsql as $$
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
end $$;
