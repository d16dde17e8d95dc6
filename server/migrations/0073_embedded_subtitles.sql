-- Tracks that were found inside the file. Every asset of the same bytes has them; tracks that people add belong to one
-- asset.
alter table subtitles add column embedded boolean not null default false;
