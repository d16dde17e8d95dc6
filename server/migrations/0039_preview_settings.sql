-- The version of the ladder that a file's renditions were made with. Files with an older one are rendered again
-- (MEDIA-23).
alter table files add column ladder_version integer not null default 1;
create index files_by_ladder on files (ladder_version, hash) where renditions ? 'col';
