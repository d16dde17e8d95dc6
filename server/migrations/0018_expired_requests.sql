-- When the grant of an expired request ended: the grant goes with its end, and without this the request would say that it
-- had none (REQUEST-15: a null expiry is a permanent one).
alter table resource_requests add column grant_ended_at timestamptz(3);
