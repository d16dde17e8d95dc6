-- Who is looking at a post: one row for each open stream of events (ANNOTATION-11). Rows of a process that was killed
-- count no more once they are a minute old.
create unlogged table post_presence (
  stream_id uuid primary key,
  post_id uuid not null references posts (id) on delete cascade,
  -- Null for an administrator who acts as another account.
  user_ref bigint references users (ref) on delete cascade,
  seen_at timestamptz(3) not null default now()
);
create index post_presence_of_post on post_presence (post_id, seen_at);
create index post_presence_of_user on post_presence (user_ref);

-- Tells the streams of a post what happened. Nothing is said while nobody looks, because notifications make transactions
-- wait for each other.
create function tell_post(post uuid, what text) returns void language sql as $$
  select pg_notify('post', post || ' ' || what) where exists (select from post_presence where post_id = post)
$$;

create function tell_of_comments() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform tell_post(post_id, 'comment ' || id) from new_rows;
  else
    perform tell_post(n.post_id, case when n.body <> o.body or n.deleted_at is distinct from o.deleted_at
        then 'comment ' else 'resolved ' end || n.id)
      from new_rows n join old_rows o on o.id = n.id
      where (n.body, n.deleted_at, n.resolved_at, n.assignee_user_ref)
        is distinct from (o.body, o.deleted_at, o.resolved_at, o.assignee_user_ref);
  end if;
  return null;
end
$$;
create trigger comments_told_in after insert on comments
  referencing new table as new_rows for each statement execute function tell_of_comments();
create trigger comments_told_anew after update on comments
  referencing old table as old_rows new table as new_rows for each statement when (pg_trigger_depth() = 0)
  execute function tell_of_comments();
