-- Names of saved views and searches, followed tags, labels and aliases of terms, and e-mail addresses are compared by
-- their keys, as usernames and tags are (NAME-6 to NAME-8). Vitrine computes them; each start fills in the missing ones
-- (name-keys.ts). Processes of an earlier version still write during a rolling restart; ASCII has the same key everywhere.

create function ascii_key(name text) returns text language sql immutable parallel safe
  return case when octet_length(name) = length(name) then lower(name collate "C") end;

alter table users add column email_key text collate "C";
create index users_without_email_key on users (email) where email is not null and email_key is null;
create index users_email_key on users (email_key) where email_key is not null;
create function keep_email_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.email is distinct from old.email
    and new.email_key is not distinct from old.email_key then
    new.email_key := null;
  end if;
  new.email_key := case when new.email is not null then coalesce(new.email_key, ascii_key(new.email)) end;
  return new;
end
$$;
create trigger users_email_key_kept before insert or update of email, email_key on users
  for each row execute function keep_email_key();

-- The tables of saved queries, whose names are unique for each account.
create function keep_name_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.name <> old.name and new.name_key is not distinct from old.name_key then
    new.name_key := null;
  end if;
  new.name_key := coalesce(new.name_key, ascii_key(new.name));
  return new;
end
$$;

alter table feed_views add column name_key text collate "C";
create unique index feed_views_name_key on feed_views (user_ref, name_key);
create index feed_views_without_key on feed_views (user_ref, id) where name_key is null;
drop index feed_views_name;
create trigger feed_views_key_kept before insert or update of name, name_key on feed_views
  for each row execute function keep_name_key();

alter table saved_searches add column name_key text collate "C";
create unique index saved_searches_name_key on saved_searches (user_ref, name_key);
create index saved_searches_without_key on saved_searches (user_ref, id) where name_key is null;
drop index saved_searches_name;
create trigger saved_searches_key_kept before insert or update of name, name_key on saved_searches
  for each row execute function keep_name_key();

alter table tag_follows add column key text collate "C";
create unique index tag_follows_key on tag_follows (user_ref, key);
create index tag_follows_by_key on tag_follows (key);
create index tag_follows_without_key on tag_follows (tag) where key is null;
create function keep_follow_key() returns trigger language plpgsql as $$
begin
  new.key := coalesce(new.key, ascii_key(new.tag));
  return new;
end
$$;

alter table field_terms add column label_key text collate "C";
create index field_terms_label_key on field_terms (field_id, label_key, value);
create index field_terms_without_key on field_terms (label) where label_key is null;
create function keep_label_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.label <> old.label and new.label_key is not distinct from old.label_key then
    new.label_key := null;
  end if;
  new.label_key := coalesce(new.label_key, ascii_key(new.label));
  return new;
end
$$;

alter table field_term_aliases add column key text collate "C";
create unique index field_term_aliases_key on field_term_aliases (field_id, key);
create index field_term_aliases_without_key on field_term_aliases (field_id, alias) where key is null;
create function keep_alias_key() returns trigger language plpgsql as $$
begin
  new.key := coalesce(new.key, ascii_key(new.alias));
  return new;
end
$$;

drop index field_terms_search;
drop index field_term_aliases_search;

-- Aliases are lower case already, and nothing else can be equal among ASCII.
update field_terms set label_key = ascii_key(label) where octet_length(label) = length(label);
update field_term_aliases set key = ascii_key(alias) where octet_length(alias) = length(alias);
update users set email_key = ascii_key(email) where octet_length(email) = length(email);

create index field_terms_search on field_terms using gin (field_id, label_key gin_trgm_ops, value gin_trgm_ops);
create index field_term_aliases_search on field_term_aliases using gin (field_id, key gin_trgm_ops);

create trigger tag_follows_key_kept before insert on tag_follows for each row execute function keep_follow_key();
create trigger field_terms_key_kept before insert or update of label, label_key on field_terms
  for each row execute function keep_label_key();
create trigger field_term_aliases_key_kept before insert on field_term_aliases
  for each row execute function keep_alias_key();
