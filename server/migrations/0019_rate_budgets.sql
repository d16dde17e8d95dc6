-- Rate budgets shared by every process of an install. Unlogged: losing them in a crash only starts new windows. Each
-- row is rewritten about once a second while its caller is busy. Free space in the page and no index on ends_at let
-- these updates skip the index (HOT).
create unlogged table rate_budgets (
  key text primary key,
  used integer not null,
  ends_at timestamptz(3) not null
) with (fillfactor = 50);
