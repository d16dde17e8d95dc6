-- Vectors of pictures for reverse image search, by file hash. Vectors are compared exactly; codes are the signs of the
-- vector on 512 fixed planes, small enough to scan all of them first.
create table picture_vectors (
  file_hash text not null references files (hash) on delete cascade,
  -- The encoder's model; only vectors of one model are comparable.
  model text not null,
  -- Of length one; null when the encoder could not read the picture.
  vector real[],
  error text,
  encoded_at timestamptz(3) not null default now(),
  primary key (file_hash, model),
  check ((vector is null) = (error is not null))
);

create table picture_codes (
  file_hash text not null references files (hash) on delete cascade,
  model text not null,
  code bit(512) not null,
  primary key (file_hash, model)
);

-- Pictures that can be encoded, for the job that runs when an encoder is configured or changes.
create index files_with_preview on files (hash) where renditions ? 'preview';
