-- LINK-23: the keys of the presets in which visitors of a link download files; null for the originals.
alter table share_links add column presets text[]
  constraint share_links_presets_check check (cardinality(presets) between 1 and 50);
