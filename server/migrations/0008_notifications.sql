-- Notifications, in the app and by mail, and watched posts.

-- Without a row, only the author watches. A row overrides this, so an account that stopped watching is not subscribed
-- again.
create table post_watches (
  post_id uuid not null references posts (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  watching boolean not null,
  -- Start of watching; earlier comments do not notify.
  created_at timestamptz(3) not null default now(),
  primary key (post_id, user_ref)
);
create index post_watches_user on post_watches (user_ref);
insert into post_watches (post_id, user_ref, watching, created_at)
select c.post_id, c.author_user_ref, true, min(c.created_at)
from comments c join users u on u.ref = c.author_user_ref where c.deleted_at is null
group by c.post_id, c.author_user_ref;

-- Kinds and targets only: titles, excerpts and names are read under the recipient's rules when a notification is shown.
create table notifications (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  kind text not null check (kind in ('request_received', 'request_decided', 'comment', 'reply',
    'watched_comment', 'like', 'follow', 'mention')),
  -- Identifies the event, so that an account is notified of it once. Null for likes, which share a row while it is
  -- unread.
  act text,
  actor_user_ref bigint,
  post_id uuid references posts (id) on delete cascade,
  comment_id uuid references comments (id) on delete cascade,
  request_id uuid references resource_requests (id) on delete cascade,
  in_app boolean not null,
  mail text not null check (mail in ('off', 'now', 'digest')),
  mailed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- For likes: the time of the latest one.
  happened_at timestamptz(3) not null default now(),
  read_at timestamptz(3),
  check ((kind = 'like') = (act is null))
);
create unique index notifications_once on notifications (user_ref, act) where act is not null;
create unique index notifications_likes on notifications (user_ref, post_id) where kind = 'like' and read_at is null;
create index notifications_list on notifications (user_ref, happened_at desc, id desc) where in_app;
create index notifications_unread on notifications (user_ref, happened_at desc, id desc)
  where in_app and read_at is null;
create index notifications_digest on notifications (user_ref, created_at) where mail = 'digest' and mailed_at is null;
create index notifications_age on notifications (happened_at);
create index notifications_post on notifications (post_id) where post_id is not null;
create index notifications_comment on notifications (comment_id) where comment_id is not null;
create index notifications_request on notifications (request_id) where request_id is not null;

-- The notification in which each like was reported, so that a repeated like notifies once.
create table notified_likes (
  post_id uuid not null references posts (id) on delete cascade,
  actor_user_ref bigint not null references users (ref) on delete cascade,
  notification_id uuid not null references notifications (id) on delete cascade,
  primary key (post_id, actor_user_ref)
);
create index notified_likes_notification on notified_likes (notification_id);
create index notified_likes_actor on notified_likes (actor_user_ref);

-- Preferences of an account; the defaults apply without a row.
create table notification_preferences (
  user_ref bigint primary key references users (ref) on delete cascade,
  -- Turns all mail on or off; the unsubscribe address of a mail sets it to false.
  mail_enabled boolean not null default true,
  -- {kind: {in_app, mail}}, only for kinds that the account has changed.
  kinds jsonb not null default '{}',
  digest_every text not null default 'day' check (digest_every in ('day', 'week')),
  -- UTC; Monday is 1.
  digest_hour smallint not null default 8 check (digest_hour between 0 and 23),
  digest_weekday smallint not null default 1 check (digest_weekday between 1 and 7)
);

-- Notifies event streams to check their account again when its session, token or status changes.
create function call_out_accounts(refs bigint[]) returns void language sql as $$
  select pg_notify('account', string_agg(ref::text, ','))
  from (select ref, (row_number() over (order by ref) - 1) / 400 as part from unnest(refs) ref) x group by part
$$;
create function call_out_removed() returns trigger language plpgsql as $$
begin
  perform call_out_accounts(array(select distinct user_ref from old_rows));
  return null;
end
$$;
create trigger sessions_called_out after delete on sessions
  referencing old table as old_rows for each statement execute function call_out_removed();
create trigger access_tokens_called_out after delete on access_tokens
  referencing old table as old_rows for each statement execute function call_out_removed();
create function call_out_user() returns trigger language plpgsql as $$
begin
  perform call_out_accounts(array[new.ref]);
  return null;
end
$$;
create trigger users_called_out after update of status on users
  for each row when (new.status <> old.status) execute function call_out_user();
