-- Two tags are one if their keys are equal (NAME-4). Vitrine computes the key, as for usernames. A tag that a process of an
-- earlier version registers has none until the next start or job (tags/keys.ts).
alter table tags add column key text collate "C";
create unique index tags_key on tags (key);
create index tags_without_key on tags (name) where key is null;
