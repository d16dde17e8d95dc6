-- SCIM-15: the status that a person had given an account before its directory removed it. An account that the directory
-- creates again returns with it; it became active, also if a person had disabled it (SCIM-12).
alter table scim_users add column status_before text check (status_before in ('disabled', 'archived'));
