-- Facts about a file other than its pixels: duration, pages, sound (contract, MediaFacts).
alter table files add column media jsonb not null default '{}';
