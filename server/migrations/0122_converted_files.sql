-- Copies of files that were made for downloads, so that their room is limited.

create table converted_files (
  object text primary key,
  hash text not null references files (hash) on delete cascade,
  size_bytes bigint not null,
  used_at timestamptz(3) not null default now()
);
create index converted_files_used on converted_files (used_at);
create index converted_files_hash on converted_files (hash);

-- The form in which an archive has its files; null for the files as they are.
alter table archives add column preset text;
