-- Files of which there has been more than one asset at a time: lists of duplicates look at these alone. Whoever adds an
-- asset locks the hash, so that of two concurrent ones the later sees the other.
alter table files add column has_copies boolean not null default false;

create function note_copies() returns trigger language plpgsql as $$
begin
  update files f set has_copies = true
  from (select distinct n.file_hash as hash from new_rows n
    where exists (select from assets b where b.file_hash = n.file_hash and b.id <> n.id)) copied
  where f.hash = copied.hash and not f.has_copies;
  return null;
end
$$;
create trigger assets_copied_in after insert on assets referencing new table as new_rows
  for each statement execute function note_copies();

create function note_copy() returns trigger language plpgsql as $$
begin
  update files f set has_copies = true where f.hash = new.file_hash and not f.has_copies
    and exists (select from assets b where b.file_hash = new.file_hash and b.id <> new.id);
  return null;
end
$$;
create trigger assets_copied_anew after update of file_hash on assets for each row
  when (new.file_hash is distinct from old.file_hash) execute function note_copy();

update files f set has_copies = true
from (select a.file_hash from assets a group by a.file_hash having count(*) > 1) copied
where f.hash = copied.file_hash;

create index files_with_copies on files (hash) where has_copies;
