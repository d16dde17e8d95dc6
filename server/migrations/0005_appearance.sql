-- The operator's recent logos: references to stored bytes. The shipped mark is never one of them.
create table logos (
  hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
  content_type text not null,
  width integer not null,
  height integer not null,
  size_bytes integer not null,
  last_used_at timestamptz(3) not null default now()
);
