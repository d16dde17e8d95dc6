-- What an import from Immich knows of a file, which takes precedence over sidecars (SIDECAR-3).
alter table asset_sidecars drop constraint asset_sidecars_kind_check;
alter table asset_sidecars add constraint asset_sidecars_kind_check
  check (kind in ('takeout', 'stem', 'named', 'immich'));
