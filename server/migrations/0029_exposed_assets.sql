-- Assets that more people may see than any post that contains them (exposedAssets, access/assets.ts).
create index assets_exposed on assets (created_at desc, id desc)
  where deleted_at is null and ((sensitivity = 'public' and exposure <> 'public')
    or (sensitivity = 'org' and exposure in ('none', 'narrow')));
create index users_avatar on users (avatar_asset_id) where avatar_asset_id is not null;
create index teams_hero on teams (hero_asset_id) where hero_asset_id is not null;
