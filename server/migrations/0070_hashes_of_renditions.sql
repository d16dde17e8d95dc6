-- Finds a rendition by the hash of its own bytes (FED-96). Entries of `renditions` have `sha256` once they were announced.
create index files_by_rendition on files using gin (jsonb_path_query_array(renditions, '$.*.sha256'))
  where origin_peer_id is null;
