-- Confirmed assets that were not sent at the last look, because who confirmed them may no longer do so (FED-58).
alter table federation_shares add column sensitive_lapsed uuid[] not null default '{}';
