-- When the peer was told that a shared collection is in the trash or has expired. Such a collection takes its posts
-- along; they are sent again when it returns.
alter table federation_shares add column withdrawn_at timestamptz(3);
