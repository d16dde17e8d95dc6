-- Offers to pair of installs that are not known. They are answered before their address is looked up, and kept for a while
-- whatever the look-up shows, so that neither the answer nor the number of open offers tells what can be reached (FED-95).
create table federation_offers (
  id uuid primary key default gen_random_uuid(),
  instance_url text not null,
  display_name text not null,
  public_key bytea not null,
  capabilities text[] not null,
  nonce text not null,
  -- The client's address.
  offered_from text not null,
  received_at timestamp(3) with time zone not null default now(),
  -- When its look-up began, and when it ended.
  started_at timestamp(3) with time zone,
  settled_at timestamp(3) with time zone
);
create unique index federation_offers_waiting on federation_offers (instance_url, public_key) where settled_at is null;

alter table federation_peers add column offered_from text;
