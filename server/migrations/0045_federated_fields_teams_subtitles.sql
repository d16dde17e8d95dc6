-- Field definitions that peers have sent, and what the operator decided about each.
create table federation_fields (
  peer_id uuid not null references federation_peers (id) on delete cascade,
  code text not null check (char_length(code) between 1 and 64),
  -- The definition as it was received. Nothing of it takes effect without a decision.
  offered jsonb not null,
  version timestamptz(3) not null,
  -- Whether the field here with this code means the same, compared while `fields_epoch` had the value `compared_epoch`.
  agrees boolean not null default false,
  compared_epoch bigint not null default 0,
  -- Null: no decision; values are used while `agrees`.
  decision text check (decision in ('map', 'adopt', 'ignore')),
  -- The field here that takes the values.
  field_id uuid references fields (id),
  decided_by_user_ref bigint,
  decided_at timestamptz(3),
  received_at timestamptz(3) not null default now(),
  primary key (peer_id, code),
  check (coalesce(decision in ('map', 'adopt'), false) = (field_id is not null))
);
create index federation_fields_target on federation_fields (field_id) where field_id is not null;

-- Values of mirrored assets and collections as they were received, so that a decision also applies to what is here already.
create table federated_values (
  uri text not null references federated_objects (uri) on delete cascade,
  code text not null check (char_length(code) between 1 and 64),
  -- {type, label, value} of the protocol.
  value jsonb not null,
  primary key (uri, code)
);
create index federated_values_by_code on federated_values (code, uri);

-- The definitions of ours that a peer has, by the digest of what was sent.
create table federation_sent_fields (
  peer_id uuid not null references federation_peers (id) on delete cascade,
  field_id uuid not null references fields (id) on delete cascade,
  digest text not null,
  primary key (peer_id, field_id)
);
create index federation_sent_fields_by_field on federation_sent_fields (field_id);

-- Envelopes that are sent before the one of the row: the definitions that its values need.
alter table federation_outbox add column preludes text[] not null default '{}';
alter table federation_outbox drop constraint federation_outbox_kind_check;
alter table federation_outbox add constraint federation_outbox_kind_check
  check (kind in ('post', 'asset', 'collection', 'comment', 'field'));

alter table federated_objects drop constraint federated_objects_kind_check;
alter table federated_objects add constraint federated_objects_kind_check
  check (kind in ('post', 'asset', 'collection', 'comment', 'team'));

-- A team of the peer; its members there see what is shared.
alter table federation_shares add column target_team text check (char_length(target_team) <= 500);
alter table federation_shares add column target_team_name text not null default '';
alter table federation_shares add check (target_team is null or target_actor is null);
drop index federation_shares_current;
create unique index federation_shares_current on federation_shares (kind, object_id, peer_id, target_actor, target_team)
  nulls not distinct where revoked_at is null;
-- A team of this library.
alter table federation_grants add column target_team_id uuid references teams (id) on delete cascade;
alter table federation_grants add check (target_team_id is null or target_user_ref is null);
drop index federation_grants_once;
create unique index federation_grants_once on federation_grants (peer_id, uri, target_user_ref, target_team_id)
  nulls not distinct;
create index federation_grants_of_team on federation_grants (target_team_id) where target_team_id is not null;

-- The subtitles that the origin of a mirrored asset has; a job fetches those that `subtitles` lacks.
create table federated_subtitles (
  asset_id uuid not null references assets (id) on delete cascade,
  lang text not null check (char_length(lang) between 1 and 100),
  label text not null check (char_length(label) <= 200),
  file_hash text not null check (file_hash ~ '^[0-9a-f]{64}$'),
  size_bytes bigint not null check (size_bytes >= 0),
  source_format text not null check (source_format in ('srt', 'vtt', 'ass', 'ssa', 'sbv')),
  confidence double precision not null check (confidence between 0 and 1),
  primary key (asset_id, lang)
);
