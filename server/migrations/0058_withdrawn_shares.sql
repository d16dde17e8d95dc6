-- When the peer was told that a shared collection is in the trash or has expired. Such a collection takes its posts
-- along; they are sent again when it returns.
alter table federation_shares add column withdrawn_at timestamptz(3);
update federation_shares s set withdrawn_at = now() from collections c
where s.kind = 'collection' and s.revoked_at is null and c.id = s.object_id and c.deleted_at is not null;
