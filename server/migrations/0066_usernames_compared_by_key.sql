-- Two usernames are equal if their keys are (NAME-1). Vitrine computes the key, because what lower() returns depends on the
-- locale of the database. Each start fills in the missing ones (identity/username-keys.ts).
alter table users
  add column username_key text,
  -- The name that the password hash contains, if it is no longer the username.
  add column hashed_as text;
create unique index users_username_key on users (username_key);
create index users_without_key on users (ref) where username_key is null;
drop index users_username;

-- Processes of an earlier version still write accounts during a rolling restart. ASCII has the same key everywhere.
create function keep_user_names() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if new.username <> old.username and new.username_key is not distinct from old.username_key then
      new.username_key := null;
    end if;
    -- A new hash contains the name of now.
    if new.password_hash is distinct from old.password_hash and new.hashed_as is not distinct from old.hashed_as then
      new.hashed_as := null;
    end if;
  end if;
  if new.username_key is null and octet_length(new.username) = length(new.username) then
    new.username_key := lower(new.username collate "C");
  end if;
  return new;
end
$$;
create trigger users_names_kept before insert or update of username, username_key, password_hash on users
  for each row execute function keep_user_names();
