-- How many bytes of originals an account may have; null for the library's default.
alter table users add column quota_bytes bigint check (quota_bytes >= 0);
-- Lets the distinct originals of an owner be counted with an index-only scan.
create index assets_owner_files on assets (owner_user_ref, file_hash) where deleted_at is null;
create index files_size on files (hash) include (size_bytes);
