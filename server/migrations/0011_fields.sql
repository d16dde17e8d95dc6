-- Fields that operators define, their vocabularies, and the values they have on assets and collections (FIELD-1).
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table fields (
  id uuid primary key default gen_random_uuid(),
  code text not null unique,
  label text not null,
  description text not null default '',
  type text not null check (type in ('text', 'longtext', 'rich_text', 'number', 'boolean', 'date', 'datetime',
    'select', 'multi_select', 'tree', 'reference')),
  subject_kind text not null default 'asset' check (subject_kind in ('asset', 'collection')),
  -- Constraints other than the vocabulary, which is rows of field_terms.
  options jsonb not null default '{}',
  open_vocabulary boolean not null default false,
  required boolean not null default false,
  searchable boolean not null default true,
  applies_to integer[] not null default '{}',
  read_capability text,
  write_capability text,
  display_order integer not null default 100,
  display_group text not null default 'general',
  extraction_source text not null default '',
  extraction_mode text not null default ''
    check (extraction_mode in ('', 'skip_if_set', 'replace', 'append', 'prepend')),
  show_on_card boolean not null default false,
  show_in_advanced_search boolean not null default true,
  show_on_upload boolean not null default true,
  edit_tab text check (edit_tab <> ''),
  read_only boolean not null default false,
  regexp_filter text check (regexp_filter <> ''),
  -- The field is a view onto that column of the asset's row and has no value of its own (FIELD-22).
  mirrors_column text check (mirrors_column in ('title', 'description')),
  -- Null is the only way to say "always" (FIELD-24).
  display_condition text[] check (display_condition <> '{}'),
  status text not null default 'active' check (status in ('active', 'deprecated', 'archived')),
  deprecated_replacement_id uuid references fields (id),
  -- {kind, value_... or context}; null is no default.
  default_value jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- FIELD-12, FIELD-18: these combinations are refused for every writer.
  check (not (show_on_card and read_capability is not null)),
  check (mirrors_column is null or (not read_only and regexp_filter is null and subject_kind = 'asset'))
);
create index fields_order on fields (display_order, code);
-- Partial index: every card reads these, and there are few.
create index fields_card on fields (display_order, code) where show_on_card;
create unique index fields_mirrors on fields (mirrors_column) where mirrors_column is not null;
create index fields_replacement on fields (deprecated_replacement_id) where deprecated_replacement_id is not null;

-- Incremented by every change of a definition. Cached definitions are valid while it is unchanged (FIELD-39).
create table fields_epoch (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null
);
insert into fields_epoch (epoch) values (1);

-- The terms of select, multi_select and tree. Writers of terms hold the lock of the field's row.
create table field_terms (
  field_id uuid not null references fields (id) on delete cascade,
  value text not null,
  -- The slug if no label was given.
  label text not null,
  status text not null default 'active' check (status in ('active', 'deprecated', 'archived')),
  -- With the status archived: a tombstone of a merge, which resolves to this successor.
  replaced_by text,
  parent text,
  -- Slugs from the root down to the term itself; one element in a flat vocabulary.
  path text[] not null,
  depth integer generated always as (cardinality(path)) stored,
  -- Order among the terms of one depth; the number has no other meaning.
  position double precision not null,
  created_at timestamptz(3) not null default now(),
  primary key (field_id, value),
  foreign key (field_id, replaced_by) references field_terms (field_id, value),
  foreign key (field_id, parent) references field_terms (field_id, value),
  check (replaced_by <> value),
  check (parent <> value)
);
-- The order of terms in a definition: parents precede their children.
create index field_terms_order on field_terms (field_id, depth, position, value);
create index field_terms_label on field_terms (field_id, lower(label), value);
create index field_terms_search on field_terms using gin (field_id, lower(label) gin_trgm_ops, value gin_trgm_ops);
create index field_terms_path on field_terms using gin (field_id, path);
create index field_terms_parent on field_terms (field_id, parent) where parent is not null;
create index field_terms_replaced on field_terms (field_id, replaced_by) where replaced_by is not null;

create table field_term_aliases (
  field_id uuid not null,
  -- Trimmed and in lower case.
  alias text not null,
  value text not null,
  primary key (field_id, alias),
  foreign key (field_id, value) references field_terms (field_id, value) on delete cascade
);
create index field_term_aliases_value on field_term_aliases (field_id, value);
create index field_term_aliases_search on field_term_aliases using gin (field_id, alias gin_trgm_ops);

create table field_default_overrides (
  field_id uuid not null references fields (id) on delete cascade,
  team_id uuid not null references teams (id) on delete cascade,
  default_value jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (field_id, team_id)
);
create index field_default_overrides_team on field_default_overrides (team_id);

-- Values: exactly one of the five columns is set, depending on the type of the field:
-- text, longtext, rich_text, select, tree: value_text; number, boolean (0 or 1): value_num; date, datetime: value_date;
-- multi_select: value_options; reference: value_ref.
create table asset_field_values (
  asset_id uuid not null references assets (id) on delete cascade,
  field_id uuid not null references fields (id),
  value_text text,
  value_num double precision,
  value_date timestamptz(3),
  value_options text[],
  value_ref uuid,
  set_by text not null
    check (set_by in ('manual', 'exif', 'iptc', 'xmp', 'api', 'import', 'computed', 'default', 'mirror')),
  set_at timestamptz(3) not null default now(),
  set_by_user_ref bigint,
  primary key (asset_id, field_id),
  check (num_nonnulls(value_text, value_num, value_date, value_options, value_ref) = 1)
);
-- One index per way to filter. A B-tree entry must stay small, so filters by equality also compare the first 100
-- characters.
create index asset_field_values_text on asset_field_values (field_id, left(value_text, 100), asset_id)
  where value_text is not null;
create index asset_field_values_words on asset_field_values using gin (field_id, value_text gin_trgm_ops)
  where value_text is not null;
create index asset_field_values_num on asset_field_values (field_id, value_num, asset_id) where value_num is not null;
create index asset_field_values_date on asset_field_values (field_id, value_date, asset_id)
  where value_date is not null;
create index asset_field_values_options on asset_field_values using gin (field_id, value_options)
  where value_options is not null;
create index asset_field_values_ref on asset_field_values (field_id, value_ref, asset_id)
  where value_ref is not null;

create table collection_field_values (
  collection_id uuid not null references collections (id) on delete cascade,
  field_id uuid not null references fields (id),
  value_text text,
  value_num double precision,
  value_date timestamptz(3),
  value_options text[],
  value_ref uuid,
  set_by text not null
    check (set_by in ('manual', 'exif', 'iptc', 'xmp', 'api', 'import', 'computed', 'default', 'mirror')),
  set_at timestamptz(3) not null default now(),
  set_by_user_ref bigint,
  primary key (collection_id, field_id),
  check (num_nonnulls(value_text, value_num, value_date, value_options, value_ref) = 1)
);
create index collection_field_values_text on collection_field_values (field_id, left(value_text, 100), collection_id)
  where value_text is not null;
create index collection_field_values_words on collection_field_values using gin (field_id, value_text gin_trgm_ops)
  where value_text is not null;
create index collection_field_values_num on collection_field_values (field_id, value_num, collection_id)
  where value_num is not null;
create index collection_field_values_date on collection_field_values (field_id, value_date, collection_id)
  where value_date is not null;
create index collection_field_values_options on collection_field_values using gin (field_id, value_options)
  where value_options is not null;
create index collection_field_values_ref on collection_field_values (field_id, value_ref, collection_id)
  where value_ref is not null;

-- Values before and after each change; null if there was none.
create table field_value_history (
  id uuid primary key default gen_random_uuid(),
  subject_kind text not null check (subject_kind in ('asset', 'collection')),
  subject_id uuid not null,
  field_id uuid not null references fields (id),
  before jsonb,
  after jsonb,
  set_by text not null,
  actor_user_ref bigint,
  at timestamptz(3) not null default clock_timestamp()
);
create index field_value_history_subject on field_value_history (subject_id, field_id, at desc, id desc);

-- FIELD-22: title and description ship as views onto the asset's own columns.
insert into fields (id, code, label, type, display_order, mirrors_column) values
  ('00000000-0000-4000-8000-000000000301', 'title', 'Title', 'text', 1, 'title'),
  ('00000000-0000-4000-8000-000000000302', 'description', 'Description', 'longtext', 2, 'description');
