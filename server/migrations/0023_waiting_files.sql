-- How many files of an account wait to be rendered decides whose turn it is; few rows wait at any time.
create index assets_waiting on assets (owner_user_ref) where processing_status = 'pending';
