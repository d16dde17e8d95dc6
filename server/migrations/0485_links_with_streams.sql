-- A link whose streams belong to a killed process is no longer notified (GUEST-13). Open streams renew their rows every 25 seconds.
create or replace function tell_link(link uuid, what text) returns void language sql as $$
  select pg_notify('post', link || ' ' || what) where exists (
    select from link_streams where link_id = link and seen_at > now() - interval '60 seconds')
$$;
