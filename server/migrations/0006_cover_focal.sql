-- A focal point belongs to the picture it was set on (POST-26), also while that picture is in the trash.
alter table posts add column cover_focal_asset_id uuid;
update posts p set cover_focal_asset_id = coalesce(p.cover_asset_id,
  (select m.asset_id from post_members m where m.post_id = p.id order by m.sort_order, m.asset_id limit 1))
where p.cover_focal_x is not null;
