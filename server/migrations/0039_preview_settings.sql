-- The preview ladder that made a file's renditions; a file of an older one is rendered again (media, configured ladder).
alter table files add column ladder_version integer not null default 1;
create index files_by_ladder on files (ladder_version, hash) where renditions ? 'col';
