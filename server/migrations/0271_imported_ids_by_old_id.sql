-- IMPORT-8: finds what an old number has become, whatever system it comes from.
create index imported_ids_old on imported_ids (kind, old_id);
