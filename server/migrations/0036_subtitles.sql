-- Subtitles of assets, one for each language. Text is stored as WebVTT under its hash; the pictures of PGS and VobSub
-- are stored unchanged.
create table subtitles (
  asset_id uuid not null references assets (id) on delete cascade,
  -- A canonical BCP 47 tag, or `und`.
  lang text not null check (char_length(lang) between 1 and 100),
  label text not null default '' check (char_length(label) <= 200),
  file_hash text not null check (file_hash ~ '^[0-9a-f]{64}$'),
  size_bytes bigint not null check (size_bytes >= 0),
  source_format text not null check (source_format in ('srt', 'vtt', 'ass', 'ssa', 'sbv', 'pgs', 'vobsub')),
  confidence double precision not null check (confidence between 0 and 1),
  created_at timestamptz(3) not null default now(),
  primary key (asset_id, lang)
);
create index subtitles_file on subtitles (file_hash);
