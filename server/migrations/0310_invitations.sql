-- INVITE-1: invitations to create an account.
create table invitations (
  id uuid primary key default gen_random_uuid(),
  -- SHA-256 of the token in the address.
  token_hash bytea not null,
  -- That of the token in the mail. The job that sends the mail creates it, so that no queue contains it.
  mailed_token_hash bytea,
  email text,
  email_key text,
  role_id uuid not null references roles (id),
  message text,
  max_uses integer not null check (max_uses between 1 and 1000),
  uses integer not null default 0 check (uses between 0 and max_uses),
  mailed boolean not null default false,
  created_by_user_ref bigint references users (ref) on delete set null,
  -- Whose rights it depends on: who created it, or who last sent it again.
  given_by_user_ref bigint references users (ref) on delete set null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);
create unique index invitations_token on invitations (token_hash);
create unique index invitations_mailed_token on invitations (mailed_token_hash) where mailed_token_hash is not null;
create index invitations_newest on invitations (created_at desc, id desc);
create index invitations_email on invitations (email_key) where email_key is not null;
create index invitations_role on invitations (role_id);
create index invitations_creator on invitations (created_by_user_ref) where created_by_user_ref is not null;
create index invitations_giver on invitations (given_by_user_ref) where given_by_user_ref is not null;

create table invitation_teams (
  invitation_id uuid not null references invitations (id) on delete cascade,
  team_id uuid not null references teams (id) on delete cascade,
  primary key (invitation_id, team_id)
);
create index invitation_teams_team on invitation_teams (team_id);

-- NAME-7: when the address of an account was confirmed; null if nobody has shown that it is theirs.
alter table users add column email_confirmed_at timestamptz(3);

-- Another address is not confirmed, whatever writes it.
create function forget_confirmed_email() returns trigger language plpgsql as $$
begin
  new.email_confirmed_at := null;
  return new;
end $$;
create trigger users_confirmed_email before update of email on users for each row
  when (new.email is distinct from old.email and new.email_confirmed_at is not distinct from old.email_confirmed_at)
  execute function forget_confirmed_email();

-- INVITE-9: the invitation with which a sign-in with a provider began.
alter table sign_in_flows add column invitation_id uuid references invitations (id) on delete set null;
create index sign_in_flows_invitation on sign_in_flows (invitation_id) where invitation_id is not null;
