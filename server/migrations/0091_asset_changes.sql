-- Edits of assets with the names of the changed properties, for the history that their editors read. The audit log has
-- edits of what belongs to others alone.
create table asset_changes (
  id uuid primary key default gen_random_uuid(),
  asset_id uuid not null references assets (id) on delete cascade,
  actor_user_ref bigint references users (ref) on delete set null,
  properties text[] not null,
  at timestamptz(3) not null default clock_timestamp()
);
create index asset_changes_asset on asset_changes (asset_id, at desc, id desc);
create index asset_changes_actor on asset_changes (actor_user_ref) where actor_user_ref is not null;

create index audit_events_asset on audit_events (target_id, occurred_at desc, id desc) where target_kind = 'asset';
