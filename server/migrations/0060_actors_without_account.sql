-- Actors outlive their accounts: their followers are sent a Delete, and their addresses stay 410. Their keys are erased when
-- they have nothing left to sign.
alter table activitypub_actors
  alter column user_ref drop not null,
  alter column public_key drop not null,
  alter column private_key_sealed drop not null,
  drop constraint activitypub_actors_user_ref_fkey,
  add constraint activitypub_actors_user_ref_fkey foreign key (user_ref) references users (ref) on delete set null,
  add constraint activitypub_actors_active_check check (withdrawn_at is not null
    or (user_ref is not null and public_key is not null and private_key_sealed is not null));
