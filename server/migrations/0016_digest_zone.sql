-- The hour of a digest is in the account's time zone.
alter table notification_preferences add column digest_zone text not null default 'UTC';

-- The time at which a digest was last due. A zone that this server does not know (any more) counts as UTC, so that the
-- choice of one account never blocks the digests of others.
create function digest_due(moment timestamptz, every text, weekday integer, hour integer, zone text)
returns timestamptz language plpgsql stable as $$
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
end $$;
