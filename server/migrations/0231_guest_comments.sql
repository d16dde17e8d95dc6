-- What guests of share links write. It is not in `comments`, which peers, searches, previews and counts read: only the
-- link, and the editors of its target, have it (GUEST-7).
create table guest_comments (
  id uuid primary key default gen_random_uuid(),
  link_id uuid not null references share_links (id) on delete cascade,
  guest_id uuid not null references link_guests (id) on delete cascade,
  -- The target of a link to a post, in whose thread its editors read it.
  post_id uuid references posts (id) on delete cascade,
  asset_id uuid references assets (id) on delete cascade,
  body text not null check (char_length(body) <= 10000),
  -- Of an annotation: the version of the asset, the place in it, and what is drawn there.
  version integer check (version >= 1),
  anchor jsonb,
  strokes jsonb,
  created_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  deleted_by_user_ref bigint references users (ref) on delete set null,
  constraint guest_comments_annotation check (
    (anchor is null) = (version is null) and (anchor is null or asset_id is not null))
);
create index guest_comments_newest on guest_comments (link_id, created_at desc, id desc) where deleted_at is null;
create index guest_comments_post on guest_comments (post_id, created_at desc, id desc) where post_id is not null;
create index guest_comments_guest on guest_comments (guest_id);
create index guest_comments_asset on guest_comments (asset_id) where asset_id is not null;
create index guest_comments_deleter on guest_comments (deleted_by_user_ref) where deleted_by_user_ref is not null;
