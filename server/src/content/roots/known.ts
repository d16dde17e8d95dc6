import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';

/** What the library knows of a file below a root. */
export interface KnownFile {
  id: number;
  path: Buffer;
  is_sidecar: boolean;
  /** Whether it is the film of the photo that is the file of the asset (ROOT-16). */
  is_film: boolean;
  size_bytes: number;
  modified_us: number;
  device: string;
  hash: string;
  asset_id: string | null;
  is_missing: boolean;
}

const columns = sql<KnownFile>`id, path, is_sidecar, is_film, size_bytes, modified_us, device, hash, asset_id,
  missing_since is not null as is_missing`;

/** A path as the key of a map. */
export function keyOfPath(path: Buffer): string {
  return path.toString('latin1');
}

/** Returns the known ones of these paths, by the keys of their paths. */
export async function findKnown(
  db: Database,
  rootId: string,
  paths: readonly Buffer[],
): Promise<Map<string, KnownFile>> {
  const { rows } = await sql<KnownFile>`select ${columns} from root_files
    where root_id = ${rootId} and path = any(${[...paths]}::bytea[])`.execute(db);
  return new Map(rows.map((row) => [keyOfPath(row.path), row]));
}

/** Rows of one statement. */
const BATCH = 2000;

/** Yields the present files of a root in batches, in the order of their ids. */
export async function* presentFiles(db: Database, rootId: string): AsyncIterable<KnownFile[]> {
  for (let after = 0; ; ) {
    const { rows } = await sql<KnownFile>`select ${columns} from root_files
      where root_id = ${rootId} and id > ${after} and missing_since is null order by id limit ${BATCH}`.execute(
      db,
    );
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    after = last.id;
  }
}

/**
 * Returns the present files of a folder: those directly in it, or with `deep` all below it. The range of paths from
 * `folder/` to `folder0` is that of an index.
 */
export async function presentIn(
  db: Database,
  rootId: string,
  folder: Buffer,
  deep: boolean,
): Promise<KnownFile[]> {
  const start = folder.length === 0 ? Buffer.alloc(0) : Buffer.concat([folder, Buffer.from('/')]);
  const inRange =
    folder.length === 0
      ? sql`true`
      : sql`path >= ${start} and path < ${Buffer.concat([folder, Buffer.from('0')])}`;
  const isDirect = sql`position('/'::bytea in substring(path from ${start.length + 1}::integer)) = 0`;
  const { rows } = await sql<KnownFile>`select ${columns} from root_files
    where root_id = ${rootId} and missing_since is null and ${inRange} and ${deep ? sql`true` : isDirect}`.execute(
    db,
  );
  return rows;
}
