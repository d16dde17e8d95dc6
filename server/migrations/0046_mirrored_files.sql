-- The SHA-256 that the peer names. `hash` of such a row is a random key, so that naming a hash gives no access to other
-- bytes.
alter table files add column origin_hash text check (origin_hash ~ '^[0-9a-f]{64}$');
update files set origin_hash = hash where origin_peer_id is not null;
create unique index files_of_peer on files (origin_peer_id, origin_hash) where origin_peer_id is not null;
