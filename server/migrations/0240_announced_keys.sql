-- The key of this install that was announced to a peer; null until the peer has confirmed one.
alter table federation_peers rename column told_key to announced_key;
alter table federation_peers rename constraint federation_peers_told_key_check to federation_peers_announced_key_check;
