-- Creates the tables of accounts, assets and posts.
-- Times have milliseconds, which clients can represent without loss.

create table settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz(3) not null default now()
);

-- Identity -------------------------------------------------------------------

create table roles (
  id uuid primary key,
  code text not null unique,
  label text not null,
  parent_id uuid references roles (id)
);

create table role_capabilities (
  role_id uuid not null references roles (id) on delete cascade,
  capability text not null,
  primary key (role_id, capability)
);

create table users (
  ref bigint generated always as identity primary key,
  username text not null,
  password_hash text,
  role_id uuid not null references roles (id),
  status text not null default 'active' check (status in ('active', 'pending', 'disabled', 'archived')),
  fullname text,
  email text,
  display_name text,
  bio text not null default '',
  avatar_asset_id uuid,
  hide_from_anonymous boolean not null default false,
  preferences jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index users_username on users (lower(username));
create index users_role on users (role_id);

create table user_capability_grants (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  capability text not null,
  team_id uuid,
  note text,
  granted_by_user_ref bigint,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3)
);
create index user_capability_grants_user on user_capability_grants (user_ref);

create table user_capability_revokes (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  capability text not null,
  team_id uuid,
  note text,
  revoked_by_user_ref bigint,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3)
);
create index user_capability_revokes_user on user_capability_revokes (user_ref);

-- Incremented by every change of roles, grants and revokes, and read with every session. A process may cache resolved
-- capabilities while the epoch is unchanged.
create table access_epoch (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null
);
insert into access_epoch (epoch) values (1);

create function advance_access_epoch() returns trigger language plpgsql as $$
begin
  update access_epoch set epoch = epoch + 1;
  return null;
end
$$;
create trigger roles_epoch after insert or update or delete on roles
  for each statement execute function advance_access_epoch();
create trigger users_role_epoch after update of role_id on users
  for each statement execute function advance_access_epoch();
create trigger role_capabilities_epoch after insert or update or delete on role_capabilities
  for each statement execute function advance_access_epoch();
create trigger user_capability_grants_epoch after insert or update or delete on user_capability_grants
  for each statement execute function advance_access_epoch();
create trigger user_capability_revokes_epoch after insert or update or delete on user_capability_revokes
  for each statement execute function advance_access_epoch();

create table sessions (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique,
  user_ref bigint not null references users (ref) on delete cascade,
  impersonator_user_ref bigint references users (ref) on delete cascade,
  user_agent text not null default '',
  address text not null default '',
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index sessions_user on sessions (user_ref);
create index sessions_expiry on sessions (expires_at);

create table user_follows (
  follower_user_ref bigint not null references users (ref) on delete cascade,
  followed_user_ref bigint not null references users (ref) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (follower_user_ref, followed_user_ref),
  check (follower_user_ref <> followed_user_ref)
);
create index user_follows_followed on user_follows (followed_user_ref);

create table teams (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique,
  name text not null,
  description text not null default '',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3)
);

create table team_members (
  team_id uuid not null references teams (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (team_id, user_ref)
);
create index team_members_user on team_members (user_ref);

create table audit_events (
  id uuid primary key default gen_random_uuid(),
  event text not null,
  actor_user_ref bigint,
  impersonator_user_ref bigint,
  subject_user_ref bigint,
  target_kind text,
  target_id uuid,
  metadata jsonb not null default '{}',
  occurred_at timestamptz(3) not null default now()
);
create index audit_events_time on audit_events (occurred_at desc, id desc);

create table workflow_states (
  id uuid primary key,
  domain text not null,
  code text not null,
  label text not null,
  sort_order integer not null,
  unique (domain, code)
);

-- Assets -----------------------------------------------------------------------

create table asset_types (
  ref integer primary key,
  code text not null unique,
  label text not null
);

-- Stored bytes, once each. Renditions belong to the bytes, not to the assets that share them.
create table files (
  hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
  size_bytes bigint not null,
  mime text not null,
  extension text,
  pixel_width integer,
  pixel_height integer,
  thumbhash text,
  exif jsonb,
  -- key -> {object, type, width, height, bytes}
  renditions jsonb not null default '{}',
  created_at timestamptz(3) not null default now()
);

create table assets (
  id uuid primary key default gen_random_uuid(),
  owner_user_ref bigint,
  title text not null default '',
  description text not null default '',
  asset_type integer not null references asset_types (ref),
  status text not null default 'active' check (status in ('draft', 'active', 'archived')),
  sensitivity text not null default 'public' check (sensitivity in ('public', 'team', 'restricted')),
  mature boolean not null default false,
  ai_provenance text check (ai_provenance in ('none', 'assisted', 'generated')),
  file_hash text not null references files (hash),
  file_name text not null,
  metadata jsonb not null default '{}',
  state_id uuid references workflow_states (id),
  team_id uuid references teams (id),
  processing_status text not null default 'pending' check (processing_status in ('pending', 'ready', 'failed')),
  processing_error text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  deleted_reason text,
  deleted_by_user_ref bigint
);
create index assets_owner on assets (owner_user_ref, created_at desc, id desc);
create index assets_file on assets (file_hash);
create index assets_team on assets (team_id) where team_id is not null;
create index assets_unfinished on assets (processing_status, created_at) where processing_status <> 'ready';

create table asset_tags (
  asset_id uuid not null references assets (id) on delete cascade,
  value text not null,
  source text not null check (source in ('manual', 'ai', 'import')),
  confidence double precision check (confidence between 0 and 1),
  created_by_provider text,
  created_by_model text,
  position integer not null default 0,
  primary key (asset_id, value),
  check ((source = 'ai') = (confidence is not null))
);
create index asset_tags_value on asset_tags (value);

-- Posts ------------------------------------------------------------------------

create table posts (
  id uuid primary key default gen_random_uuid(),
  -- No foreign key: a post outlives its author's account (IDENTITY-4).
  author_user_ref bigint not null,
  title text not null default '',
  description text not null default '',
  visibility text not null default 'org-only'
    check (visibility in ('public', 'private', 'org-only', 'followers', 'explicit-share')),
  cover_asset_id uuid,
  cover_thumbnail_asset_id uuid references assets (id) on delete set null,
  cover_focal_x double precision check (cover_focal_x between 0 and 1),
  cover_focal_y double precision check (cover_focal_y between 0 and 1),
  state_id uuid not null references workflow_states (id),
  -- POST-6: true exactly in the post domain's state wip.
  draft boolean not null generated always as (state_id = '00000000-0000-4000-8000-000000000201') stored,
  comments_enabled boolean not null default true,
  tags text[] not null default '{}',
  team_id uuid references teams (id),
  like_count bigint not null default 0 check (like_count >= 0),
  comment_count bigint not null default 0 check (comment_count >= 0),
  posted_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  deleted_reason text,
  deleted_by_user_ref bigint,
  check ((cover_focal_x is null) = (cover_focal_y is null))
);
create index posts_feed on posts (posted_at desc, id desc) where deleted_at is null and not draft;
create index posts_author on posts (author_user_ref, posted_at desc, id desc);
create index posts_drafts on posts (posted_at desc, id desc) where deleted_at is null and draft;
create index posts_team on posts (team_id, posted_at desc, id desc) where team_id is not null;
create index posts_tags on posts using gin (tags);
create index posts_cover_thumbnail on posts (cover_thumbnail_asset_id) where cover_thumbnail_asset_id is not null;

create table post_members (
  post_id uuid not null references posts (id) on delete cascade,
  asset_id uuid not null references assets (id) on delete cascade,
  sort_order integer not null,
  primary key (post_id, asset_id)
);
create index post_members_asset on post_members (asset_id, post_id);

create table post_shares (
  post_id uuid not null references posts (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (post_id, user_ref)
);
create index post_shares_user on post_shares (user_ref);

create table post_likes (
  post_id uuid not null references posts (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (post_id, user_ref)
);
create index post_likes_user on post_likes (user_ref, created_at desc);

create table comments (
  id uuid primary key default gen_random_uuid(),
  post_id uuid not null references posts (id) on delete cascade,
  parent_id uuid references comments (id) on delete cascade,
  author_user_ref bigint,
  remote_display_name text,
  body text not null,
  like_count bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  edited_at timestamptz(3),
  deleted_at timestamptz(3),
  deleted_by_user_ref bigint
);
create index comments_roots on comments (post_id, created_at desc, id desc)
  where parent_id is null and deleted_at is null;
create index comments_parent on comments (parent_id, created_at) where parent_id is not null;

-- Seeds --------------------------------------------------------------------------

insert into workflow_states (id, domain, code, label, sort_order) values
  ('00000000-0000-4000-8000-000000000201', 'post', 'wip', 'Draft', 1),
  ('00000000-0000-4000-8000-000000000202', 'post', 'published', 'Published', 2);

insert into asset_types (ref, code, label) values
  (1, 'image', 'Image'), (2, 'document', 'Document'), (3, 'video', 'Video'), (4, 'audio', 'Audio'),
  (5, 'model', '3D model'), (6, 'font', 'Font'), (7, 'other', 'Other');

insert into roles (id, code, label) values
  ('00000000-0000-4000-8000-000000000101', 'admin', 'Administrator'),
  ('00000000-0000-4000-8000-000000000102', 'member', 'Member'),
  ('00000000-0000-4000-8000-000000000103', 'viewer', 'Viewer');

insert into role_capabilities (role_id, capability)
select uuid '00000000-0000-4000-8000-000000000101', unnest(array[
  'system.admin', 'assets.admin', 'posts.admin', 'posts.comment', 'teams.read', 'share.grant',
  'auth.impersonate', 'system.appearance.write', 'users.read', 'users.write', 'users.pii.read',
  'roles.read', 'caps.read', 'posts.create', 'posts.publish', 'assets.create', 'collections.create',
  'fields.admin', 'fields.vocabulary.extend', 'fields.vocabulary.merge', 'teams.write',
  'system.config.read', 'system.config.write', 'system.audit.read', 'content.read.all', 'jobs.read'])
union all
select uuid '00000000-0000-4000-8000-000000000102', unnest(array[
  'posts.create', 'posts.publish', 'posts.comment', 'assets.create', 'teams.read', 'collections.create'])
union all
select uuid '00000000-0000-4000-8000-000000000103', 'teams.read';

-- Which job workers belong to which living process (platform/jobs/liveness.ts).
create sequence job_worker_process as integer cycle;
create table job_workers (
  worker_id text primary key,
  process integer not null
);
