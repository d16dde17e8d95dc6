-- The position in the peer's changes: number and id of the last one that was read. A different id under that number
-- means that the peer was restored from a backup.
alter table federation_peers add column cursor_seq bigint not null default 0;
alter table federation_peers add column cursor_id text;
