-- The position of the log after the last write of each account, and under 0 of the last one that everyone must see at
-- once. Used only with a replica, which serves a reader once it has replayed the position. Unlogged: a primary that
-- restarts after a crash is polled before the replica is used again.
create unlogged table last_writes (
  user_ref bigint primary key,
  position pg_lsn not null
) with (fillfactor = 50);
