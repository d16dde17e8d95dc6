-- When a shared collection was withdrawn from the peer with its posts, because it is in the trash or has expired. They
-- are sent again when it is restored or its expiry is extended.
alter table federation_shares add column withdrawn_at timestamptz(3);
update federation_shares s set withdrawn_at = now() from collections c
where s.kind = 'collection' and s.revoked_at is null and c.id = s.object_id and c.deleted_at is not null;
