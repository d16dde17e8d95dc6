-- The open streams of events of share links (GUEST-13): one row for each. Rows of a process that was killed count no more
-- once they are a minute old.
create unlogged table link_streams (
  stream_id uuid primary key,
  link_id uuid not null references share_links (id) on delete cascade,
  seen_at timestamptz(3) not null default now()
);
create index link_streams_of_link on link_streams (link_id, seen_at);

-- Tells the streams of a link what happened. Nothing is said while nobody listens, because notifications make transactions
-- wait for each other.
create function tell_link(link uuid, what text) returns void language sql as $$
  select pg_notify('post', link || ' ' || what) where exists (select from link_streams where link_id = link)
$$;

-- Guests write one row at a time. Rows that follow others, such as those of a purged file, are not told.
create function tell_of_guest_comment() returns trigger language plpgsql as $$
begin
  perform tell_link(new.link_id, 'comment ' || new.id);
  perform tell_post(new.post_id, 'guest ' || new.id);
  perform tell_post(new.post_id, 'feedback ' || new.link_id);
  return null;
end
$$;
create trigger guest_comments_told after insert or update of deleted_at on guest_comments
  for each row when (pg_trigger_depth() = 0) execute function tell_of_guest_comment();

-- Tells the streams of the post of a link that its lists of guests, feedback and picks have changed.
create function tell_of_feedback() returns trigger language plpgsql as $$
declare
  link uuid := coalesce(new.link_id, old.link_id);
begin
  perform tell_post(l.post_id, 'feedback ' || l.id) from share_links l where l.id = link;
  return null;
end
$$;
create trigger link_decisions_listed after insert or update on link_decisions
  for each row when (pg_trigger_depth() = 0) execute function tell_of_feedback();
create trigger link_picks_listed after insert or delete on link_picks
  for each row when (pg_trigger_depth() = 0) execute function tell_of_feedback();
create trigger link_guests_listed after insert or update on link_guests
  for each row when (pg_trigger_depth() = 0) execute function tell_of_feedback();

create function tell_of_guest() returns trigger language plpgsql as $$
begin
  perform tell_link(new.link_id, 'guest ' || new.id);
  return null;
end
$$;
create trigger link_guests_told after update of name, muted_at on link_guests
  for each row when (pg_trigger_depth() = 0) execute function tell_of_guest();

-- The streams of a link end when its terms no longer allow them.
create function tell_of_terms() returns trigger language plpgsql as $$
begin
  perform tell_link(new.id, 'terms');
  return null;
end
$$;
create trigger share_links_told after update of token_hash, password_hash, allow_feedback, expires_at, revoked_at
  on share_links for each row execute function tell_of_terms();
