-- Members may add terms to open vocabularies.
insert into role_capabilities (role_id, capability)
  select id, 'fields.vocabulary.extend' from roles where code = 'member'
  on conflict do nothing;

-- The workflow states of an asset. Existing assets have none; new ones begin with `wip`.
insert into workflow_states (id, domain, code, label, sort_order) values
  ('00000000-0000-4000-8000-000000000211', 'asset', 'wip', 'Work in progress', 1),
  ('00000000-0000-4000-8000-000000000212', 'asset', 'review', 'In review', 2),
  ('00000000-0000-4000-8000-000000000213', 'asset', 'approved', 'Approved', 3)
  on conflict (domain, code) do nothing;

create index assets_state on assets (state_id, created_at desc, id desc)
  where state_id is not null and deleted_at is null;
