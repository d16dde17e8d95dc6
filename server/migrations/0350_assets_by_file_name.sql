-- An import of metadata finds files by their names, some hundred with each statement.
create index assets_by_file_name on assets (file_name) where deleted_at is null;
