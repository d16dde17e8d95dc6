-- Changes of many assets or posts at once (BATCH-1), and their results for each.
create table batches (
  id uuid primary key default gen_random_uuid(),
  subject text not null check (subject in ('asset', 'post')),
  -- The action as sent; null for a batch that undoes another.
  action jsonb,
  undoes uuid unique references batches (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  -- With which credential it was started, for the source of values and for audit events.
  token_id uuid,
  impersonator_user_ref bigint,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'cancelled', 'failed')),
  total integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  refused integer not null default 0,
  post_id uuid,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((action is null) = (undoes is not null))
);
create index batches_of_account on batches (user_ref, created_at desc, id desc);
create index batches_by_age on batches (created_at);

create table batch_items (
  batch_id uuid not null references batches (id) on delete cascade,
  position integer not null,
  object_id uuid not null,
  -- Null until the batch has dealt with it.
  outcome text check (outcome in ('changed', 'unchanged', 'refused')),
  reason text,
  -- What undoing needs: the state before and after.
  record jsonb,
  primary key (batch_id, position)
);
create index batch_items_waiting on batch_items (batch_id, position) where outcome is null;
create index batch_items_refused on batch_items (batch_id, position) where outcome = 'refused';
