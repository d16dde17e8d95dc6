-- When a peer last had everything sent again (FED-95).
alter table federation_peers add column resent_at timestamp(3) with time zone;
