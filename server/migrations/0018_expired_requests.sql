-- When the grant of an expired request ended. The expired grant is deleted with its expiry; without this column the
-- request would read as permanent (REQUEST-15).
alter table resource_requests add column grant_ended_at timestamptz(3);
