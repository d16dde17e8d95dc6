-- Changes of tags on many posts and assets, which a job finishes in steps, in the order of their numbers.
create table tag_runs (
  number bigint generated always as identity primary key,
  id uuid not null unique default gen_random_uuid(),
  source text not null,
  target text not null,
  done bigint not null default 0,
  total bigint not null,
  started_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index tag_runs_unfinished on tag_runs (number) where finished_at is null;
