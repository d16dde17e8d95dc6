-- Editing, liking, commenting, deleting and restoring; requests for restoration and access.

-- The first publication sets posted_at; later ones leave it alone.
alter table posts add column published_at timestamptz(3);
update posts set published_at = posted_at where not draft;

-- The order of `feed=trending`: ten times the interest weighs as much as 12.5 hours (FEED-11). The score does not
-- depend on the current time, so it can be stored, indexed and paginated by.
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

-- Counters, maintained by triggers in the transaction of each write, so that they cannot drift.
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

-- The number of replies that are not deleted.
alter table comments add column reply_count bigint not null default 0;
update comments c set reply_count = (
  select count(*) from comments r where r.parent_id = c.id and r.deleted_at is null);

-- Runs once per statement, so that deleting a thread of 10,000 comments updates the post once.
create function count_comments() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    with changed as (
      select post_id, parent_id, count(*) as n from new_rows where deleted_at is null group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count + c.n
      from (select post_id, sum(n)::bigint as n from changed group by post_id) c where p.id = c.post_id
    )
    update comments r set reply_count = reply_count + c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  elsif tg_op = 'DELETE' then
    with changed as (
      select post_id, parent_id, count(*) as n from old_rows where deleted_at is null group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count - c.n
      from (select post_id, sum(n)::bigint as n from changed group by post_id) c where p.id = c.post_id
    )
    update comments r set reply_count = reply_count - c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  else
    with changed as (
      select n.post_id, n.parent_id,
        sum((n.deleted_at is null)::integer - (o.deleted_at is null)::integer)::bigint as n
      from new_rows n join old_rows o on o.id = n.id
      where (n.deleted_at is null) <> (o.deleted_at is null) group by n.post_id, n.parent_id
    ), counted as (
      update posts p set comment_count = comment_count + c.n
      from (select post_id, sum(n)::bigint as n from changed group by post_id) c where p.id = c.post_id
    )
    update comments r set reply_count = reply_count + c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  end if;
  return null;
end
$$;
create trigger comments_counted_in after insert on comments
  referencing new table as new_rows for each statement execute function count_comments();
create trigger comments_counted_out after delete on comments
  referencing old table as old_rows for each statement execute function count_comments();
-- Skips updates made by this trigger itself, which also changes comments.
create trigger comments_counted_anew after update on comments
  referencing old table as old_rows new table as new_rows
  for each statement when (pg_trigger_depth() = 0) execute function count_comments();

create index comments_author on comments (author_user_ref);
drop index comments_parent;
create index comments_parent on comments (parent_id, created_at desc, id desc)
  where parent_id is not null and deleted_at is null;
-- For foreign key cascades when posts or comments are purged; includes deleted rows.
create index comments_replies on comments (parent_id) where parent_id is not null;
create index comments_post on comments (post_id);

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
  -- `json` keeps the text as sent; jsonb would expand small numbers.
  strokes json not null,
  created_at timestamptz(3) not null default now()
);
create index whiteboards_post on whiteboards (post_id, created_at desc, id desc);

-- REQUEST-13. No foreign key on the target, because a request outlives it.
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
-- REQUEST-4: at most one pending request per requester, target and capability.
create unique index resource_requests_once on resource_requests
  (requester_user_ref, target_kind, target_id, requested_capability) where state = 'pending';
create index resource_requests_requester on resource_requests (requester_user_ref, requested_at desc, id desc);
create index resource_requests_target on resource_requests (target_kind, target_id);
create index resource_requests_state on resource_requests (state, requested_at desc, id desc);
