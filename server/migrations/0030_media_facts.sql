-- What is known of a file besides its pixels: duration, pages, sound (contract, MediaFacts).
alter table files add column media jsonb not null default '{}';
