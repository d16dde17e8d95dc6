-- Impersonations end when the rights of either account change or when the administrator is disabled (IMPERSONATION-7).
-- Their event streams, which belong to the account of the target, are notified then, too.
create index sessions_impersonator on sessions (impersonator_user_ref) where impersonator_user_ref is not null;

create or replace function call_out_user() returns trigger language plpgsql as $$
begin
  perform call_out_accounts(array(
    select new.ref union select user_ref from sessions where impersonator_user_ref = new.ref
  ));
  return null;
end
$$;

create or replace function advance_access_epoch() returns trigger language plpgsql as $$
begin
  update access_epoch set epoch = epoch + 1;
  perform call_out_accounts(array(select distinct user_ref from sessions where impersonator_user_ref is not null));
  return null;
end
$$;
