-- IMPORT-11: what imports from other systems have done, for the page that shows it. It has no links and no passwords.
create table import_runs (
  id uuid primary key default gen_random_uuid(),
  system text not null,
  state text not null default 'running' check (state in ('running', 'done', 'stopped', 'failed')),
  -- What it is doing, and how many resources of so many are done.
  step text not null default 'definitions',
  done integer not null default 0,
  total integer,
  -- Why it failed.
  error text,
  -- The report, with what is alike in groups.
  report jsonb not null default '{}',
  started_at timestamptz(3) not null default now(),
  -- Moves on while the import runs, so that one that was killed is recognised.
  seen_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index import_runs_started on import_runs (started_at desc, id desc);
