-- Links may take feedback and picks from visitors who give a name (GUEST-1).
alter table share_links
  add column allow_feedback boolean not null default false,
  add column allow_picks boolean not null default false,
  add column max_picks integer check (max_picks between 1 and 10000);

create table link_guests (
  id uuid primary key default gen_random_uuid(),
  link_id uuid not null references share_links (id) on delete cascade,
  -- What the cookie of the guest's browser has, as SHA-256.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  name text not null check (char_length(name) between 1 and 100),
  muted_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index link_guests_newest on link_guests (link_id, created_at desc, id desc);

create table link_picks (
  id uuid primary key default gen_random_uuid(),
  link_id uuid not null references share_links (id) on delete cascade,
  guest_id uuid not null references link_guests (id) on delete cascade,
  asset_id uuid not null references assets (id) on delete cascade,
  picked_at timestamptz(3) not null default now(),
  unique (guest_id, asset_id)
);
create index link_picks_newest on link_picks (link_id, picked_at desc, id desc);
create index link_picks_asset on link_picks (asset_id);

-- The latest decision of a guest about the target, or about one of its files.
create table link_decisions (
  id uuid primary key default gen_random_uuid(),
  link_id uuid not null references share_links (id) on delete cascade,
  guest_id uuid not null references link_guests (id) on delete cascade,
  asset_id uuid references assets (id) on delete cascade,
  decision text not null check (decision in ('approved', 'changes_requested')),
  note text not null default '' check (char_length(note) <= 10000),
  decided_at timestamptz(3) not null default now(),
  unique nulls not distinct (guest_id, asset_id)
);
create index link_decisions_newest on link_decisions (link_id, decided_at desc, id desc);
create index link_decisions_asset on link_decisions (asset_id) where asset_id is not null;

-- Views and downloads by guest. Visitors without a name are counted together.
alter table share_link_files
  drop constraint share_link_files_pkey,
  add column id uuid primary key default gen_random_uuid(),
  add column guest_id uuid references link_guests (id) on delete cascade,
  add constraint share_link_files_user unique nulls not distinct (link_id, asset_id, guest_id);
drop index share_link_files_newest;
create index share_link_files_newest on share_link_files (link_id, last_at desc, id desc);
create index share_link_files_guest on share_link_files (guest_id) where guest_id is not null;
