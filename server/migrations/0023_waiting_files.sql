-- The number of waiting files of an account decides its priority; few rows wait at any time.
create index assets_waiting on assets (owner_user_ref) where processing_status = 'pending';
