-- Metadata read from stored bytes, once per file; assets with the same bytes share it.
create table file_metadata (
  hash text primary key references files (hash) on delete cascade,
  -- source -> {value, from}
  sources jsonb not null default '{}',
  -- the tags as read, truncated
  raw jsonb not null default '{}',
  -- program, its version and that of the mapping; a different reader may find more
  reader text not null,
  error text,
  extracted_at timestamptz(3) not null default now(),
  -- the key for paginating failures
  id uuid not null default gen_random_uuid()
);
create index file_metadata_failures on file_metadata (extracted_at desc, id desc) where error is not null;
create index file_metadata_failed on file_metadata (hash) where error is not null;

-- Passes over the stored files, one at a time. Each step is a job that advances `passed` and enqueues the next.
create table extraction_runs (
  id uuid primary key default gen_random_uuid(),
  state text not null default 'running' check (state in ('running', 'finished', 'cancelled', 'failed')),
  -- a single field; null for every field with an extraction source
  field_id uuid references fields (id),
  only_failed boolean not null default false,
  -- the last processed hash
  passed text not null default '',
  total bigint not null,
  done bigint not null default 0,
  failed bigint not null default 0,
  started_by_user_ref bigint,
  started_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create unique index extraction_runs_one on extraction_runs ((true)) where state = 'running';
create index extraction_runs_time on extraction_runs (started_at desc);
