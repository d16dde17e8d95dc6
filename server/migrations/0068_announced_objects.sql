-- What each peer was sent: no envelope names another object of ours (FED-79).
create table federation_announced (
  peer_id uuid not null references federation_peers (id) on delete cascade,
  kind text not null check (kind in ('post', 'asset', 'collection', 'comment')),
  object_id uuid not null,
  -- The activity of the Delete that withdrew it.
  withdrawn_by uuid,
  primary key (peer_id, kind, object_id)
);

-- What peers may have received until now; too much is harmless, too little would leave content with them.
insert into federation_announced (peer_id, kind, object_id)
select distinct o.peer_id, o.kind, o.object_id from federation_outbox o
where o.status in ('sent', 'failed') and o.kind <> 'field'
on conflict do nothing;

insert into federation_announced (peer_id, kind, object_id)
select distinct s.peer_id, s.kind, s.object_id from federation_shares s
  join federation_peers pe on pe.id = s.peer_id and pe.state in ('connected', 'disabled')
on conflict do nothing;

insert into federation_announced (peer_id, kind, object_id)
select distinct a.peer_id, 'post', cp.post_id from federation_announced a
  join collection_posts cp on a.kind = 'collection' and cp.collection_id = a.object_id
  join posts p on p.id = cp.post_id
where p.origin_peer_id is null and not p.draft and p.visibility <> 'private'
on conflict do nothing;

insert into federation_announced (peer_id, kind, object_id)
select distinct a.peer_id, 'asset', m.asset_id from federation_announced a
  join post_members m on a.kind = 'post' and m.post_id = a.object_id
  join assets x on x.id = m.asset_id
  left join federation_shares s on s.kind = 'post' and s.object_id = a.object_id and s.peer_id = a.peer_id
where (x.sensitivity in ('posts', 'public') and not x.mature) or x.id = any(s.sensitive_assets)
on conflict do nothing;

insert into federation_announced (peer_id, kind, object_id)
select distinct a.peer_id, 'comment', c.id from federation_announced a
  join comments c on a.kind = 'post' and c.post_id = a.object_id
on conflict do nothing;
