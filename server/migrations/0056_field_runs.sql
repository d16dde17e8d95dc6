-- Changes of fields that concern many values, which a job finishes in steps, in the order of their numbers: `merge`
-- replaces a term by another, `words` rewrites the search documents.
create table field_runs (
  number bigint generated always as identity primary key,
  id uuid not null unique default gen_random_uuid(),
  field_id uuid not null references fields (id) on delete cascade,
  kind text not null check (kind in ('merge', 'words')),
  source text,
  target text,
  -- The last subject whose document was rewritten.
  subject_kind text not null default 'asset' check (subject_kind in ('asset', 'collection')),
  after uuid not null default '00000000-0000-0000-0000-000000000000',
  actor_ref bigint not null,
  done bigint not null default 0,
  total bigint not null,
  started_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  check ((kind = 'merge') = (source is not null and target is not null))
);
create index field_runs_unfinished on field_runs (number) where finished_at is null;
create unique index field_runs_words on field_runs (field_id) where finished_at is null and kind = 'words';
