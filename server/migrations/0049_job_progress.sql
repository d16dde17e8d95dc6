-- How far running jobs have come. Only jobs that run for seconds have a row, which they delete at their end.
create table job_progress (
  job_id bigint primary key,
  part double precision not null check (part between 0 and 1),
  updated_at timestamptz not null default now()
);
create index job_progress_updated on job_progress (updated_at);
