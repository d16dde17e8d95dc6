-- Names and titles never contain characters that change the direction of the text after them, whether they were typed,
-- read from a file, imported or sent by a peer. They are shown within other texts, which they would reverse.
create or replace function without_directions(value text, otherwise text) returns text language sql immutable parallel safe as $$
  select case when value !~ '[\u202a-\u202e\u2066-\u2069]' then value
    else coalesce(nullif(regexp_replace(value, '[\u202a-\u202e\u2066-\u2069]', '', 'g'), ''), otherwise) end
$$;

create or replace function remove_directions_of_asset() returns trigger language plpgsql as $$
begin
  new.title := without_directions(new.title, '');
  new.file_name := without_directions(new.file_name, 'file');
  return new;
end
$$;
create or replace function remove_directions_of_title() returns trigger language plpgsql as $$
begin
  new.title := without_directions(new.title, '');
  return new;
end
$$;
create or replace function remove_directions_of_name() returns trigger language plpgsql as $$
begin
  new.name := without_directions(new.name, '-');
  return new;
end
$$;
create or replace function remove_directions_of_user() returns trigger language plpgsql as $$
begin
  new.fullname := without_directions(new.fullname, null);
  new.display_name := without_directions(new.display_name, null);
  return new;
end
$$;

create or replace trigger assets_directions before insert or update of title, file_name on assets
  for each row when ((new.title || new.file_name) ~ '[\u202a-\u202e\u2066-\u2069]')
  execute function remove_directions_of_asset();
create or replace trigger posts_directions before insert or update of title on posts
  for each row when (new.title ~ '[\u202a-\u202e\u2066-\u2069]') execute function remove_directions_of_title();
create or replace trigger whiteboards_directions before insert or update of title on whiteboards
  for each row when (new.title ~ '[\u202a-\u202e\u2066-\u2069]') execute function remove_directions_of_title();
create or replace trigger collections_directions before insert or update of name on collections
  for each row when (new.name ~ '[\u202a-\u202e\u2066-\u2069]') execute function remove_directions_of_name();
create or replace trigger teams_directions before insert or update of name on teams
  for each row when (new.name ~ '[\u202a-\u202e\u2066-\u2069]') execute function remove_directions_of_name();
create or replace trigger users_directions before insert or update of fullname, display_name on users
  for each row when (concat(new.fullname, new.display_name) ~ '[\u202a-\u202e\u2066-\u2069]')
  execute function remove_directions_of_user();

update assets set title = without_directions(title, ''), file_name = without_directions(file_name, 'file')
  where (title || file_name) ~ '[\u202a-\u202e\u2066-\u2069]';
update posts set title = without_directions(title, '') where title ~ '[\u202a-\u202e\u2066-\u2069]';
update whiteboards set title = without_directions(title, '') where title ~ '[\u202a-\u202e\u2066-\u2069]';
update collections set name = without_directions(name, '-') where name ~ '[\u202a-\u202e\u2066-\u2069]';
update teams set name = without_directions(name, '-') where name ~ '[\u202a-\u202e\u2066-\u2069]';
update users set fullname = without_directions(fullname, null), display_name = without_directions(display_name, null)
  where concat(fullname, display_name) ~ '[\u202a-\u202e\u2066-\u2069]';
