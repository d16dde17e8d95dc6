-- The film of a live photo below a root: its row has the asset of the photo (ROOT-16).
alter table root_files add column is_film boolean not null default false;
