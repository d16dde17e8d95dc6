-- The list of teams counts what each of them has: from this index alone, without a look at the assets.
create index assets_team_live on assets (team_id) where team_id is not null and deleted_at is null;
