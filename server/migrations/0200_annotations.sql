-- A comment may be about a place in a file of the post: an annotation (ANNOTATION-1). Replies belong to the file of their
-- root, so that one column decides who reads a thread (ANNOTATION-5).
alter table comments
  add column annotated_asset_id uuid references assets (id) on delete cascade,
  add column resolved_at timestamptz(3),
  add column resolved_by_user_ref bigint references users (ref) on delete set null,
  add column assignee_user_ref bigint references users (ref) on delete set null;

create table annotations (
  comment_id uuid primary key references comments (id) on delete cascade,
  -- The version of the file that it was made on, which may have been deleted since.
  version integer not null check (version >= 1),
  anchor jsonb not null,
  strokes jsonb
);

create index comments_of_asset on comments (annotated_asset_id) where annotated_asset_id is not null;
-- Lists of one file, and the counts of every file of a post.
create index comments_annotated on comments (post_id, annotated_asset_id, created_at desc, id desc) include (resolved_at)
  where annotated_asset_id is not null and parent_id is null and deleted_at is null;
-- Previews of posts, whatever the number of annotations.
create index comments_plain_roots on comments (post_id, created_at desc, id desc)
  where annotated_asset_id is null and parent_id is null and deleted_at is null;
create index comments_resolver on comments (resolved_by_user_ref) where resolved_by_user_ref is not null;
create index comments_assignee on comments (assignee_user_ref) where assignee_user_ref is not null;

create function place_reply() returns trigger language plpgsql as $$
begin
  new.annotated_asset_id := (select annotated_asset_id from comments where id = new.parent_id);
  return new;
end
$$;
create trigger comments_reply before insert on comments
  for each row when (new.parent_id is not null) execute function place_reply();

-- The count of a post leaves out annotations and their replies (ANNOTATION-6).
create or replace function count_comments() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    with changed as (
      select post_id, parent_id, count(*) as n, count(*) filter (where annotated_asset_id is null) as plain
      from new_rows where deleted_at is null group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count + c.n
      from (select post_id, sum(plain)::bigint as n from changed group by post_id having sum(plain) > 0) c
      where p.id = c.post_id
    )
    update comments r set reply_count = reply_count + c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  elsif tg_op = 'DELETE' then
    with changed as (
      select post_id, parent_id, count(*) as n, count(*) filter (where annotated_asset_id is null) as plain
      from old_rows where deleted_at is null group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count - c.n
      from (select post_id, sum(plain)::bigint as n from changed group by post_id having sum(plain) > 0) c
      where p.id = c.post_id
    )
    update comments r set reply_count = reply_count - c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  else
    with altered as (
      select n.post_id, n.parent_id, n.annotated_asset_id is null as plain,
        (n.deleted_at is null)::integer - (o.deleted_at is null)::integer as n
      from new_rows n join old_rows o on o.id = n.id
      where (n.deleted_at is null) <> (o.deleted_at is null)
    ), changed as (
      select post_id, parent_id, sum(n)::bigint as n, coalesce(sum(n) filter (where plain), 0)::bigint as plain
      from altered group by post_id, parent_id
    ), counted as (
      update posts p set comment_count = comment_count + c.n
      from (select post_id, sum(plain)::bigint as n from changed group by post_id having sum(plain) <> 0) c
      where p.id = c.post_id
    )
    update comments r set reply_count = reply_count + c.n
    from (select parent_id, sum(n)::bigint as n from changed group by parent_id) c where r.id = c.parent_id;
  end if;
  return null;
end
$$;

-- The document of a post has the words that all of its readers may read: none of annotations.
create or replace function write_documents_of_comments() returns trigger language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
  told uuid[];
  outgrown uuid[];
begin
  if tg_op = 'INSERT' then
    told := array(select distinct post_id from new_rows where deleted_at is null and annotated_asset_id is null);
    perform from post_documents where post_id = any(told) order by post_id for update;
    -- Adds the words of new comments, and writes the document anew with every hundredth: it keeps words of the newest
    -- 1,000 comments and of at most 99 more.
    outgrown := array(
      select p.id from posts p
        join (select post_id, count(*) as n from new_rows where deleted_at is null and annotated_asset_id is null
          group by post_id) c on c.post_id = p.id
      where p.comment_count / 100 <> (p.comment_count - c.n) / 100);
    update post_documents d set document = with_text(language, d.document, added.words)
    from (select post_id, string_agg(body, ' ') as words from new_rows
      where deleted_at is null and annotated_asset_id is null and post_id <> all(outgrown) group by post_id) added
    where d.post_id = added.post_id;
    if cardinality(outgrown) > 0 then
      perform write_post_documents(outgrown);
    end if;
  elsif tg_op = 'DELETE' then
    perform write_post_documents(array(select distinct post_id from old_rows
      where deleted_at is null and annotated_asset_id is null));
  else
    perform write_post_documents(array(select distinct n.post_id from new_rows n join old_rows o on o.id = n.id
      where n.annotated_asset_id is null and (n.body <> o.body or (n.deleted_at is null) <> (o.deleted_at is null))));
  end if;
  return null;
end
$$;

create or replace function write_post_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  -- Locks in id order, which prevents deadlocks, before reading the current state.
  perform from post_documents where post_id = any(ids) order by post_id for update;
  insert into post_documents as d (post_id, at, document, names)
  select p.id, p.posted_at, search_vector(language, p.title, 'A')
      || search_vector(language, array_to_string(p.tags, ' '), 'B')
      || search_vector(language, p.description, 'C')
      || search_vector(language, coalesce(case when p.comment_count > 0 then (
          select string_agg(c.body, ' ') from (
            select c.body from comments c
            where c.post_id = p.id and c.deleted_at is null and c.annotated_asset_id is null
            order by c.created_at desc, c.id desc limit 1000) c) end, ''), 'D'),
    resembling_text(p.title || ' ' || array_to_string(p.tags, ' '))
  from posts p where p.id = any(ids) order by p.id
  on conflict (post_id) do update set at = excluded.at, document = excluded.document, names = excluded.names
    where (d.at, d.document, d.names) is distinct from (excluded.at, excluded.document, excluded.names);
end
$$;
