import type { StorageCount } from '@vitrine/contract/storage';
import { sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import { trashed } from '../../access/live.ts';
import { usedHashes } from '../../content/assets/used-files.ts';
import type { Deps } from '../../core/deps.ts';
import type { JobHandler } from '../../core/job-table.ts';
import { writeSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';

interface Totals {
  files: number;
  file_bytes: number;
  renditions: number;
  rendition_bytes: number;
  subtitles: number;
  subtitle_bytes: number;
  unreferenced: number;
  unreferenced_bytes: number;
}

interface TypeRow {
  asset_type: number;
  code: string;
  label: string;
  count: number;
  bytes: number;
  trashed: number;
  trashed_bytes: number;
}

/** Subtitles of several assets may share a file, which is stored once. */
const storedSubtitles = sql`(select file_hash, min(size_bytes) as size_bytes from subtitles group by file_hash) s`;

/** Sizes of one picture's ladder may share an object, which is stored once. */
const totals = sql<Totals>`
  select count(*) filter (where not f.in_place) as files, coalesce(sum(f.size_bytes) filter (where not f.in_place), 0) as file_bytes,
    coalesce(sum(r.n), 0) as renditions, coalesce(sum(r.bytes), 0) as rendition_bytes,
    (select count(*) from ${storedSubtitles}) as subtitles,
    (select coalesce(sum(s.size_bytes), 0) from ${storedSubtitles}) as subtitle_bytes,
    count(*) filter (where o.hash is null) as unreferenced,
    coalesce(sum(f.size_bytes) filter (where o.hash is null), 0) as unreferenced_bytes
  from files f
  left join ${usedHashes} o on o.hash = f.hash
  left join lateral (
    select count(*) as n, sum(bytes) as bytes from (
      select distinct e.value ->> 'object', (e.value ->> 'bytes')::bigint as bytes from jsonb_each(f.renditions) e) d
  ) r on true`;

const byType = sql<TypeRow>`
  select t.ref as asset_type, t.code, t.label,
    count(a.id) filter (where ${liveAsset}) as count,
    coalesce(sum(f.size_bytes) filter (where ${liveAsset}), 0) as bytes,
    count(a.id) filter (where ${trashed('a')}) as trashed,
    coalesce(sum(f.size_bytes) filter (where ${trashed('a')}), 0) as trashed_bytes
  from asset_types t left join assets a on a.asset_type = t.ref left join files f on f.hash = a.file_hash
  group by t.ref order by t.ref`;

/** Reads all files and assets, which may take long; never runs while a request waits. */
async function count(db: Database, now: Date): Promise<StorageCount> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      await sql`set local statement_timeout = 0`.execute(tx);
      const [all] = (await totals.execute(tx)).rows;
      if (all === undefined) throw new Error('the library cannot be counted');
      const { rows } = await byType.execute(tx);
      const sum = (of: (row: TypeRow) => number) => rows.reduce((before, row) => before + of(row), 0);
      return {
        as_of: now.toISOString(),
        files: { count: all.files, bytes: all.file_bytes },
        renditions: { count: all.renditions, bytes: all.rendition_bytes },
        subtitles: { count: all.subtitles, bytes: all.subtitle_bytes },
        unreferenced: { count: all.unreferenced, bytes: all.unreferenced_bytes },
        trash: { count: sum((row) => row.trashed), bytes: sum((row) => row.trashed_bytes) },
        by_type: rows.map(({ trashed, trashed_bytes, ...type }) => type),
      };
    });
}

/** Counts what the library holds and stores the figures for `GET /admin/system/storage`. */
export function countStorageJob({ db }: Pick<Deps, 'db'>): JobHandler<'count-storage'> {
  return async () => writeSetting(db, 'storage_count', await count(db, new Date()));
}
