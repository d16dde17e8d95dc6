-- Reads the newest comments of a post from the index instead of sorting all of them.
drop index comments_post;
create index comments_post on comments (post_id, created_at desc, id desc);

create or replace function write_documents_of_comments() returns trigger language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
  told uuid[];
  outgrown uuid[];
begin
  if tg_op = 'INSERT' then
    told := array(select distinct post_id from new_rows where deleted_at is null);
    perform from post_documents where post_id = any(told) order by post_id for update;
    -- Adds the words of new comments, and writes the document anew with every hundredth: it keeps words of the newest
    -- 1,000 comments and of at most 99 more.
    outgrown := array(
      select p.id from posts p
        join (select post_id, count(*) as n from new_rows where deleted_at is null group by post_id) c on c.post_id = p.id
      where p.comment_count / 100 <> (p.comment_count - c.n) / 100);
    update post_documents d set document = with_text(language, d.document, added.words)
    from (select post_id, string_agg(body, ' ') as words from new_rows
      where deleted_at is null and post_id <> all(outgrown) group by post_id) added
    where d.post_id = added.post_id;
    if cardinality(outgrown) > 0 then
      perform write_post_documents(outgrown);
    end if;
  elsif tg_op = 'DELETE' then
    perform write_post_documents(array(select distinct post_id from old_rows where deleted_at is null));
  else
    perform write_post_documents(array(select distinct n.post_id from new_rows n join old_rows o on o.id = n.id
      where n.body <> o.body or (n.deleted_at is null) <> (o.deleted_at is null)));
  end if;
  return null;
end
$$;
