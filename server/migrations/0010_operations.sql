-- Lets the list of teams count the assets of each team with an index-only scan.
create index assets_team_live on assets (team_id) where team_id is not null and deleted_at is null;
