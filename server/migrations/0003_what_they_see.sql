-- Editing, liking, commenting, deleting and restoring; requests to undo and to see.

-- The first publication sets posted_at; later ones leave it alone.
alter table posts add column published_at timestamptz(3);
update posts set published_at = posted_at where not draft;

-- Ten times the interest weighs as much as twelve and a half hours: the order of `feed=trending`. It does not depend
-- on the hour it is asked at, so it can be stored and paged by.
alter table posts add column trend double precision not null generated always as (
  log(greatest(like_count + 2 * comment_count, 1)::double precision)
  + extract(epoch from (posted_at - timestamptz '2020-01-01 00:00:00+00'))::double precision / 45000) stored;
create index posts_trend on posts (trend desc, id desc) where deleted_at is null and not draft;

create index posts_trash_author on posts (author_user_ref, deleted_at desc, id desc) where deleted_at is not null;
create index posts_trash_deleter on posts (deleted_by_user_ref, deleted_at desc, id desc) where deleted_at is not null;
create index posts_trash_age on posts (deleted_at) where deleted_at is not null;
create index assets_trash_owner on assets (owner_user_ref, deleted_at desc, id desc) where deleted_at is not null;
create index assets_trash_deleter on assets (deleted_by_user_ref, deleted_at desc, id desc) where deleted_at is not null;
create index assets_trash_age on assets (deleted_at) where deleted_at is not null;
create index assets_list on assets (created_at desc, id desc) where deleted_at is null;
create index post_likes_posts on post_likes (user_ref, post_id);

-- Counters. They follow the rows inside the rows' own transaction, whoever writes them, so they cannot drift.
create function count_post_like() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update posts set like_count = like_count + 1 where id = new.post_id;
  else
    update posts set like_count = like_count - 1 where id = old.post_id;
  end if;
  return null;
end
$$;
create trigger post_likes_counted after insert or delete on post_likes
  for each row execute function count_post_like();

-- Replies of a comment that are not deleted, kept for the thread's sake.
alter table comments add column reply_count bigint not null default 0;
update comments c set reply_count = (
  select count(*) from comments r where r.parent_id = c.id and r.deleted_at is null);

create function count_comment() returns trigger language plpgsql as $$
declare
  change integer := 0;
  which comments%rowtype;
begin
  if tg_op = 'INSERT' then
    which := new;
    change := case when new.deleted_at is null then 1 else 0 end;
  elsif tg_op = 'DELETE' then
    which := old;
    change := case when old.deleted_at is null then -1 else 0 end;
  else
    which := new;
    change := (new.deleted_at is null)::integer - (old.deleted_at is null)::integer;
  end if;
  if change <> 0 then
    update posts set comment_count = comment_count + change where id = which.post_id;
    if which.parent_id is not null then
      update comments set reply_count = reply_count + change where id = which.parent_id;
    end if;
  end if;
  return null;
end
$$;
create trigger comments_counted after insert or delete or update of deleted_at on comments
  for each row execute function count_comment();

create index comments_author on comments (author_user_ref);
drop index comments_parent;
create index comments_parent on comments (parent_id, created_at desc, id desc)
  where parent_id is not null and deleted_at is null;

create table comment_likes (
  comment_id uuid not null references comments (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (comment_id, user_ref)
);
create index comment_likes_user on comment_likes (user_ref);

create function count_comment_like() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update comments set like_count = like_count + 1 where id = new.comment_id;
  else
    update comments set like_count = like_count - 1 where id = old.comment_id;
  end if;
  return null;
end
$$;
create trigger comment_likes_counted after insert or delete on comment_likes
  for each row execute function count_comment_like();

create table whiteboards (
  id uuid primary key default gen_random_uuid(),
  post_id uuid not null references posts (id) on delete cascade,
  author_user_ref bigint not null,
  title text not null default '',
  strokes jsonb not null,
  created_at timestamptz(3) not null default now()
);
create index whiteboards_post on whiteboards (post_id, created_at desc, id desc);

-- spec 2.8 and 3.4. A request outlives what it asked for: no foreign key on the target.
create table resource_requests (
  id uuid primary key default gen_random_uuid(),
  requester_user_ref bigint not null references users (ref) on delete cascade,
  target_kind text not null check (target_kind in ('asset', 'post', 'collection')),
  target_id uuid not null,
  requested_capability text not null,
  reason text,
  state text not null default 'pending' check (state in ('pending', 'granted', 'denied', 'expired')),
  requested_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  decided_by_user_ref bigint,
  decision_reason text
);
-- One ask is the triple, while it is pending.
create unique index resource_requests_once on resource_requests
  (requester_user_ref, target_kind, target_id, requested_capability) where state = 'pending';
create index resource_requests_requester on resource_requests (requester_user_ref, requested_at desc, id desc);
create index resource_requests_target on resource_requests (target_kind, target_id);
create index resource_requests_state on resource_requests (state, requested_at desc, id desc);
