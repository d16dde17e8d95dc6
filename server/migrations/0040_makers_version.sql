-- The version of the makers that a file was last looked at with; a file of an earlier one may lack what they make today. Stored
-- files begin at 0, and a background job comes to them.
alter table files add column makers_version integer not null default 0;
create index files_by_makers on files (makers_version, hash);
