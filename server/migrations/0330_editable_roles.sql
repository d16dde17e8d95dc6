-- ROLE-20: operators write roles.
alter table roles
  add column description text not null default '' check (char_length(description) <= 500),
  add column requires_second_factor boolean not null default false,
  add column seeded boolean not null default false,
  alter column id set default gen_random_uuid();
update roles set seeded = true where code in ('admin', 'member', 'viewer');
update roles set description = case code
  when 'admin' then 'Runs the library and sees everything in it.'
  when 'member' then 'Uploads, posts, comments and collects.'
  else 'Looks at what others share.' end
where code in ('admin', 'member', 'viewer');
create index roles_parent on roles (parent_id) where parent_id is not null;

-- ROLE-2: administrators hold every capability.
insert into role_capabilities (role_id, capability)
values ('00000000-0000-4000-8000-000000000101', 'roles.write') on conflict do nothing;
