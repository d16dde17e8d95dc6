-- The content of a post: its live members and their files. Decisions are about one content (REVIEW-8).
create function content_of_post(post uuid) returns text language sql stable as $$
  select coalesce(md5(string_agg(a.id || a.file_hash, ',' order by a.id)), '')
  from post_members m join assets a on a.id = m.asset_id
  where m.post_id = post and a.deleted_at is null
$$;

-- Posts that were ever reviewed, with a number for their present content.
create table reviewed_posts (
  post_id uuid primary key references posts (id) on delete cascade,
  version integer not null default 1 check (version >= 1),
  content text not null
);

create table reviews (
  id uuid primary key default gen_random_uuid(),
  post_id uuid not null references reviewed_posts (post_id) on delete cascade,
  -- Null once the account is gone.
  requested_by_user_ref bigint references users (ref) on delete set null,
  note text check (char_length(note) <= 2000),
  due_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  closed_at timestamptz(3),
  -- Reminders that were sent, or are not due because the review was asked for too late (REVIEW-11).
  reminded_before boolean not null default false,
  reminded_after boolean not null default false
);
create index reviews_of_post on reviews (post_id, created_at desc, id desc);
create index reviews_requester on reviews (requested_by_user_ref) where requested_by_user_ref is not null;
create index reviews_due on reviews (due_at) where closed_at is null and due_at is not null and not reminded_after;

-- Who is asked, and their decision.
create table review_reviewers (
  review_id uuid not null references reviews (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  position integer not null,
  decision text check (decision in ('approved', 'changes_requested')),
  note text check (char_length(note) <= 2000),
  version integer,
  decided_at timestamptz(3),
  primary key (review_id, user_ref),
  check ((decision is null) = (version is null) and (decision is null) = (decided_at is null))
);
create index review_reviewers_user on review_reviewers (user_ref, review_id);

-- Decisions on single files.
create table review_file_decisions (
  review_id uuid not null,
  user_ref bigint not null,
  asset_id uuid not null references assets (id) on delete cascade,
  decision text not null check (decision in ('approved', 'changes_requested')),
  note text check (char_length(note) <= 2000),
  primary key (review_id, user_ref, asset_id),
  foreign key (review_id, user_ref) references review_reviewers (review_id, user_ref) on delete cascade
);
create index review_file_decisions_asset on review_file_decisions (asset_id);

alter table notifications add column review_id uuid references reviews (id) on delete cascade;
create index notifications_review on notifications (review_id) where review_id is not null;
alter table notifications
  drop constraint notifications_kind_check,
  add constraint notifications_kind_check check (kind in ('request_received', 'request_decided', 'comment', 'reply',
    'watched_comment', 'like', 'follow', 'mention', 'team_member_added', 'publish_failed', 'review_requested',
    'review_decided', 'review_reopened', 'review_due'));
