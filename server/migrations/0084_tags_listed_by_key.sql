-- Tags are listed and found by their key (NAME-4). The column `folded` remains for processes of an earlier version during
-- a rolling restart.
drop index tags_by_name;
drop index tags_seen_in_public;
drop index tags_within;
create index tags_seen_in_public on tags (key) where seen_in_public;
create index tags_within on tags using gin (key gin_trgm_ops);
