-- Filling the fields of an asset from its file writes its search document once, after the last value (EXTRACT-18).
drop trigger asset_field_values_searched_in on asset_field_values;
create trigger asset_field_values_searched_in after insert on asset_field_values
  referencing new table as new_rows for each statement
  when (current_setting('vitrine.filling', true) is distinct from 'on')
  execute function write_documents_of_assets();
drop trigger asset_field_values_searched_anew on asset_field_values;
create trigger asset_field_values_searched_anew after update on asset_field_values
  referencing old table as old_rows new table as new_rows for each statement
  when (current_setting('vitrine.filling', true) is distinct from 'on')
  execute function write_documents_of_assets();
