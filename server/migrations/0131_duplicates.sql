-- What a picture looks like, to find similar ones (DUPLICATE-2). Null: it looks like nothing in particular, or could
-- not be read.
create table picture_prints (
  file_hash text primary key references files (hash) on delete cascade,
  print bit(128),
  -- Four pieces of its first half, each with its place; similar prints share one of them, or nearly.
  pieces integer[] not null default '{}',
  made_at timestamptz not null default now()
);
create index picture_prints_pieces on picture_prints using gin (pieces);

-- Similar files, each pair once. Who is shown them is decided by their assets.
create table similar_files (
  id uuid primary key default gen_random_uuid(),
  first_hash text not null references files (hash) on delete cascade,
  second_hash text not null references files (hash) on delete cascade,
  -- How many of the 128 bits differ.
  bits integer not null,
  found_at timestamptz not null default now(),
  unique (first_hash, second_hash),
  check (first_hash < second_hash)
);
create index similar_files_second on similar_files (second_hash);
create index similar_files_by_time on similar_files (found_at desc, id desc);

-- Assets that somebody has marked as different, each pair once (DUPLICATE-5).
create table different_assets (
  first_id uuid not null references assets (id) on delete cascade,
  second_id uuid not null references assets (id) on delete cascade,
  user_ref bigint references users (ref) on delete set null,
  marked_at timestamptz not null default now(),
  primary key (first_id, second_id),
  check (first_id < second_id)
);
create index different_assets_second on different_assets (second_id);
create index different_assets_user on different_assets (user_ref);
