-- USER-21, USER-22: what a profile shows besides names and text.
alter table users
  add column banner_asset_id uuid references assets (id) on delete set null,
  add column links jsonb not null default '[]' check (jsonb_typeof(links) = 'array');
create index users_banner on users (banner_asset_id) where banner_asset_id is not null;

-- POST-50: posts that their author shows first on the profile.
create table post_pins (
  post_id uuid primary key references posts (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  pinned_at timestamptz(3) not null default now()
);
create index post_pins_user on post_pins (user_ref, pinned_at desc, post_id);

-- A pin ends when the post is withdrawn, deleted or given to another author, so that it takes no place from another.
create function unpin_post() returns trigger language plpgsql as $$
begin
  delete from post_pins where post_id = new.id;
  return null;
end $$;
create trigger posts_unpin after update of draft, deleted_at, author_user_ref on posts
  for each row when (new.draft or new.deleted_at is not null
    or new.author_user_ref is distinct from old.author_user_ref)
  execute function unpin_post();
