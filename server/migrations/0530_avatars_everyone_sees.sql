-- An avatar stands beside a name everywhere, so it is a picture that everyone may see (IDENTITY-7, USER-4). One that is
-- deleted, restricted, marked as mature or given to another account is removed from the identity, and does not return.
create function remove_avatar() returns trigger language plpgsql as $$
begin
  update users set avatar_asset_id = null where avatar_asset_id = new.id;
  return null;
end $$;

create trigger assets_avatar after update of deleted_at, status, sensitivity, mature, owner_user_ref on assets for each row
  when (new.deleted_at is not null or new.status <> 'active' or new.sensitivity <> 'public' or new.mature
    or new.owner_user_ref is distinct from old.owner_user_ref)
  execute function remove_avatar();

update users u set avatar_asset_id = null from assets a
where a.id = u.avatar_asset_id and (a.deleted_at is not null or a.status <> 'active' or a.sensitivity <> 'public' or a.mature
  or a.owner_user_ref is distinct from u.ref);
