-- Who confirmed that restricted and mature content is sent with a share. It is sent only while they may confirm it
-- (FED-58). For shares that exist, the only account that is known is the one that shared. Like `granted_by_user_ref`,
-- it may outlive the account.
alter table federation_shares add column sensitive_confirmed_by bigint;
update federation_shares set sensitive_confirmed_by = granted_by_user_ref where cardinality(sensitive_assets) > 0;
