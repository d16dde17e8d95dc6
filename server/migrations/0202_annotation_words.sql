-- Words of annotations and of replies to them, by file: searches find them for those who are shown the file
-- (ANNOTATION-15). `gated` of a document says whether its post has any.
alter table post_documents add column gated boolean not null default false;
create table post_gated_documents (
  post_id uuid not null references posts (id) on delete cascade,
  asset_id uuid not null references assets (id) on delete cascade,
  document tsvector not null,
  primary key (post_id, asset_id)
);
create index post_gated_documents_words on post_gated_documents using gin (document);
create index post_gated_documents_asset on post_gated_documents (asset_id);

-- Writes the words of a post's annotations anew: of the newest 1,000 of each file.
create function write_annotation_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  perform from post_documents where post_id = any(ids) order by post_id for update;
  delete from post_gated_documents where post_id = any(ids);
  insert into post_gated_documents (post_id, asset_id, document)
  select x.post_id, x.asset_id, search_vector(language, string_agg(x.body, ' '), 'D')
  from (select c.post_id, c.annotated_asset_id as asset_id, c.body,
      row_number() over (partition by c.post_id, c.annotated_asset_id order by c.created_at desc, c.id desc) as place
    from comments c
    where c.post_id = any(ids) and c.annotated_asset_id is not null and c.deleted_at is null and c.body <> '') x
  where x.place <= 1000 group by x.post_id, x.asset_id;
  update post_documents d set gated = not d.gated where post_id = any(ids)
    and gated <> exists (select from post_gated_documents g where g.post_id = d.post_id);
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
  perform write_annotation_documents(ids);
end
$$;

create or replace function write_documents_of_comments() returns trigger language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
  told uuid[];
  outgrown uuid[];
begin
  if tg_op = 'INSERT' then
    told := array(select distinct post_id from new_rows where deleted_at is null);
    perform from post_documents where post_id = any(told) order by post_id for update;
    insert into post_gated_documents as g (post_id, asset_id, document)
    select post_id, annotated_asset_id, search_vector(language, string_agg(body, ' '), 'D') from new_rows
    where deleted_at is null and annotated_asset_id is not null and body <> '' group by 1, 2
    on conflict (post_id, asset_id) do update set document = case
      -- A document has a largest size. Words of later annotations are then found once it is written anew.
      when length(g.document) > 50000 then g.document else g.document || excluded.document end;
    update post_documents d set gated = true where not d.gated and d.post_id in (
      select post_id from new_rows where deleted_at is null and annotated_asset_id is not null and body <> '');
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
    perform write_annotation_documents(array(select distinct o.post_id from old_rows o join posts p on p.id = o.post_id
      where o.deleted_at is null and o.annotated_asset_id is not null));
  else
    perform write_post_documents(array(select distinct n.post_id from new_rows n join old_rows o on o.id = n.id
      where n.annotated_asset_id is null and (n.body <> o.body or (n.deleted_at is null) <> (o.deleted_at is null))));
    perform write_annotation_documents(array(select distinct n.post_id from new_rows n join old_rows o on o.id = n.id
      where n.annotated_asset_id is not null and (n.body <> o.body or (n.deleted_at is null) <> (o.deleted_at is null))));
  end if;
  return null;
end
$$;
