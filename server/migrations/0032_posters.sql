-- The moment of a video that its poster shows; null if it is chosen when the poster is rendered.
alter table files add column poster_seconds double precision check (poster_seconds >= 0);
