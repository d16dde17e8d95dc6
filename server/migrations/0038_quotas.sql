-- How many bytes of originals an account may have; null is what the library says for everyone.
alter table users add column quota_bytes bigint check (quota_bytes >= 0);
-- Distinct originals of an owner, read from the index alone.
create index assets_owner_files on assets (owner_user_ref, file_hash) where deleted_at is null;
create index files_size on files (hash) include (size_bytes);
