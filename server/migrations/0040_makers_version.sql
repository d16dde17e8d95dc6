-- The version of the makers that last processed a file. A file with an earlier version may lack renditions; stored
-- files start at 0, and a background job processes them.
alter table files add column makers_version integer not null default 0;
create index files_by_makers on files (makers_version, hash);
