-- Metadata beside a file: XMP sidecars and the JSON files of Google Takeout (SIDECAR-1).
create table asset_sidecars (
  asset_id uuid not null references assets (id) on delete cascade,
  -- In the order of precedence, the lowest first (SIDECAR-3).
  kind text not null check (kind in ('takeout', 'stem', 'named')),
  file_name text not null,
  file_hash text not null,
  -- What was read: values by canonical source.
  sources jsonb not null,
  -- What an earlier sidecar of this kind gave, which the current one may replace.
  former jsonb not null default '{}',
  -- The tags as read, shortened.
  raw jsonb not null,
  created_at timestamptz(3) not null default now(),
  primary key (asset_id, kind)
);

-- Sidecars are matched by the name of the file without its extension. The collation makes the case of ASCII letters the
-- same for every locale of the database.
create index assets_of_owner_by_stem on assets
  (owner_user_ref, lower(normalize(regexp_replace(file_name, '\.[^.]*$', ''), nfc) collate "C"))
  where deleted_at is null;

-- Libraries with the fields of a new one get those that sidecars fill.
insert into fields (code, label, type, open_vocabulary, display_order, display_group, show_on_upload,
  extraction_source)
select new.code, new.label, new.type, new.type = 'multi_select', new.place, 'capture', false, new.code
from (values
  ('rating', 'Rating', 'number', 246),
  ('label', 'Label', 'text', 247),
  ('people', 'People', 'multi_select', 248)
) new (code, label, type, place)
where exists (select from fields where code = 'keywords' and extraction_source = 'keywords')
on conflict (code) do nothing;
