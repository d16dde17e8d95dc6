-- How far the download of an archive is, as its process reports it.
alter table archives
  -- The files that are ready: packed, or made in their form; and those of them that were left out.
  add column made_count integer not null default 0,
  add column left_out_count integer not null default 0,
  -- When it was last reported; null before the first download.
  add column reported_at timestamptz(3),
  -- Whether the last download has ended, completely or not; null while it runs.
  add column outcome text constraint archives_outcome_check check (outcome in ('done', 'stopped'));
