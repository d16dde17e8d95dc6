-- Collections: ordered lists of posts.

create extension if not exists pg_trgm;

create table collections (
  id uuid primary key default gen_random_uuid(),
  -- No foreign key: a collection outlives its owner's account, like a post.
  owner_user_ref bigint not null,
  name text not null check (name <> ''),
  description text not null default '',
  visibility text not null default 'org-only'
    check (visibility in ('public', 'private', 'org-only', 'followers', 'explicit-share')),
  -- The post whose picture is shown first. No foreign key: it is ignored unless the post is in the collection.
  cover_post_id uuid,
  cover_focal_x double precision check (cover_focal_x between 0 and 1),
  cover_focal_y double precision check (cover_focal_y between 0 and 1),
  -- The picture the focal point was set on.
  cover_focal_asset_id uuid,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  deleted_reason text,
  deleted_by_user_ref bigint,
  check ((cover_focal_x is null) = (cover_focal_y is null))
);
create index collections_list on collections (created_at desc, id desc) where deleted_at is null;
create index collections_owner on collections (owner_user_ref, created_at desc, id desc);
create index collections_name on collections using gin (name gin_trgm_ops) where deleted_at is null;
create index collections_trash_owner on collections (owner_user_ref, deleted_at desc, id desc)
  where deleted_at is not null;
create index collections_trash_deleter on collections (deleted_by_user_ref, deleted_at desc, id desc)
  where deleted_at is not null;
create index collections_trash_age on collections (deleted_at) where deleted_at is not null;

create table collection_posts (
  collection_id uuid not null references collections (id) on delete cascade,
  post_id uuid not null references posts (id) on delete cascade,
  -- Far apart, so that a post moves between two others without touching them. Written under the collection's lock.
  position bigint not null,
  added_by bigint not null,
  added_at timestamptz(3) not null default now(),
  primary key (collection_id, post_id)
);
create index collection_posts_order on collection_posts (collection_id, position, post_id);
create index collection_posts_post on collection_posts (post_id, collection_id);

create table collection_shares (
  collection_id uuid not null references collections (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (collection_id, user_ref)
);
create index collection_shares_user on collection_shares (user_ref);
