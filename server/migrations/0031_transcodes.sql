-- Progress of slow renditions: video streams, and audio that browsers play.
create table transcodes (
  file_hash text primary key references files (hash) on delete cascade,
  state text not null check (state in ('waiting', 'running', 'done', 'failed')),
  progress real not null default 0 check (progress between 0 and 1),
  -- Why it failed, as one clause about the file.
  error text,
  -- Updated every few seconds while it runs; an old time means that its worker is gone.
  updated_at timestamptz not null default now()
);
