-- Keys with which others encrypt for accounts that take part. Sealed like signing keys.
create table federation_box_keys (
  user_ref bigint not null references users (ref) on delete cascade,
  version integer not null check (version > 0),
  public_key bytea not null check (octet_length(public_key) = 32),
  sealed bytea not null,
  created_at timestamptz(3) not null default now(),
  -- Null: the current key. A former one still decrypts until then.
  retained_until timestamptz(3),
  primary key (user_ref, version)
);
create unique index federation_box_keys_current on federation_box_keys (user_ref) where retained_until is null;

-- Signing keys that this install and its accounts have replaced. The former key signs that the next one follows it.
create table federation_rotations (
  id bigint generated always as identity primary key,
  -- Null: the key of the install.
  user_ref bigint references users (ref) on delete cascade,
  previous_key bytea not null check (octet_length(previous_key) = 32),
  next_key bytea not null check (octet_length(next_key) = 32),
  published timestamptz(3) not null,
  signature bytea not null check (octet_length(signature) = 64),
  -- The former private key, for requests to peers that do not know the next one yet; gone after the grace period.
  previous_sealed bytea,
  retained_until timestamptz(3) not null
);
create index federation_rotations_by_user on federation_rotations (user_ref, id);

-- Former signing keys of peers and their people, accepted for a while after they were replaced.
create table federation_retired_keys (
  -- The address of the instance document or of the person.
  owner text not null check (char_length(owner) <= 500),
  peer_id uuid not null references federation_peers (id) on delete cascade,
  public_key bytea not null check (octet_length(public_key) = 32),
  accepted_until timestamptz(3) not null,
  primary key (owner, public_key)
);
create index federation_retired_keys_of_peer on federation_retired_keys (peer_id);

-- The key of this install that the peer is known to have pinned; null until it has confirmed one.
alter table federation_peers add column told_key bytea check (octet_length(told_key) = 32);
alter table remote_actors add column box_key bytea check (octet_length(box_key) = 32);
alter table remote_actors add column box_version integer;

-- The restricted and mature assets that were confirmed for this share.
alter table federation_shares add column sensitive_assets uuid[] not null default '{}';

-- The key with which the peer encrypts the bytes of a file; null if it sends them in plain.
alter table files add column origin_key bytea check (octet_length(origin_key) = 32);

-- Who may see an asset that arrived encrypted, by the post or asset it arrived in.
create table federated_recipients (
  asset_id uuid not null references assets (id) on delete cascade,
  uri text not null check (char_length(uri) <= 500),
  user_ref bigint not null references users (ref) on delete cascade,
  primary key (asset_id, uri, user_ref)
);
create index federated_recipients_by_uri on federated_recipients (uri);
