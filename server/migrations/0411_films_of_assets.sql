-- MEDIA-65: the film of a live photo, which phones store as a file of its own.
alter table assets add column film_hash text references files (hash);
create index assets_film on assets (film_hash) where film_hash is not null;
