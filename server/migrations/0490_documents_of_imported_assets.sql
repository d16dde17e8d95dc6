-- An import inserts assets with their values and then writes their search documents once (EXTRACT-18, IMPORT-16).
drop trigger assets_document on assets;
create trigger assets_document after insert on assets
  referencing new table as new_rows for each statement
  when (current_setting('vitrine.filling', true) is distinct from 'on')
  execute function write_new_asset_documents();
