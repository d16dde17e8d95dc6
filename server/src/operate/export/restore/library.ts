import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type pg from 'pg';
import { createJobQueue, isRestoring, knownMigrations, migrate } from '../../../platform/database/migrate.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { isOutOfRoom } from '../../../platform/storage/room.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { analyze } from '../../backup/restore.ts';
import { type Description, readDescription } from '../bag/description.ts';
import { descriptionFile } from '../bag/directory.ts';
import type { LostFile } from '../bag/entry.ts';
import { ExportError, openPlaceOf, type Place } from '../bag/paths.ts';
import { exportedTables } from '../tables.ts';
import { storeFiles } from './files.ts';
import { loadRows, verifyRows } from './rows.ts';

/** What an import of an export did. */
export interface Imported {
  rows: number;
  pruned: number;
  lost: LostFile[];
}

async function openExport(path: string): Promise<Place> {
  const root = resolve(path);
  const found = await lstat(root).catch(() => null);
  if (found?.isDirectory() !== true)
    throw new ExportError(sentence('{directory} is not a directory', { directory: root }));
  return openPlaceOf(root);
}

/** Throws ExportError unless this version can import the export. */
function requireKnown({ kind, complete, migrations, tables, version }: Description): void {
  if (kind !== 'library')
    throw new ExportError(
      sentence('this is the export of one person; only that of a library can be imported'),
    );
  if (!complete) throw new ExportError(sentence('the export is not complete; run vitrine export again'));
  const known = new Set(knownMigrations());
  const isKnown =
    migrations.every((name) => known.has(name)) && tables.every(({ name }) => exportedTables.has(name));
  if (!isKnown)
    throw new ExportError(
      sentence('the export was made by a newer Vitrine ({version}); import it with that version', {
        version,
      }),
    );
}

/** Returns whether the database is new; throws ExportError if it has content, or another schema than the export. */
async function requireEmpty(client: pg.ClientBase, { migrations }: Description): Promise<boolean> {
  if (await isRestoring(client))
    throw new ExportError(sentence('this library is only partly restored; run vitrine restore again'));
  const { rows } = await client.query<{ is_new: boolean }>(
    "select to_regclass('public.migrations') is null as is_new",
  );
  if (rows[0]?.is_new === true) return true;
  const used = await client.query<{
    used: boolean;
  }>(`select exists (select from assets) or exists (select from posts)
    or exists (select from collections) as used`);
  if (used.rows[0]?.used === true)
    throw new ExportError(
      sentence('this library is not empty; import into a new data directory, or a library without content'),
    );
  const applied = await client.query<{ name: string }>('select name from migrations order by name');
  if (JSON.stringify(applied.rows.map(({ name }) => name)) !== JSON.stringify(migrations.toSorted()))
    throw new ExportError(
      sentence(
        'the export was made by another version; import into a new data directory or an empty database, which is then migrated',
      ),
    );
  return false;
}

/**
 * Restores the export of a library with the same ids and values: files first, then all rows in one transaction. It can
 * be killed and run again. Throws ExportError when it cannot be imported; then no row is written.
 */
export async function importLibrary(
  pool: pg.Pool,
  storage: Storage,
  directory: string,
  onStored: (files: number) => void = () => {},
): Promise<Imported> {
  const place = await openExport(directory);
  const description = await readDescription(place, descriptionFile);
  requireKnown(description);
  const client = await pool.connect();
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    const isNew = await requireEmpty(client, description);
    await verifyRows(place, description);
    const lost = await storeFiles(client, storage, place, onStored);
    if (isNew) await createJobQueue(pool);
    await client.query('begin');
    try {
      const pruned = await loadRows(client, place, description, isNew);
      await client.query('commit');
      return { rows: description.tables.reduce((sum, { rows }) => sum + rows, 0), pruned, lost };
    } catch (error) {
      await client.query('rollback').catch(() => {});
      throw error;
    }
  } catch (error) {
    if (!isOutOfRoom(error)) throw error;
    throw new ExportError(sentence('the disk of the library is full; make room and import again'), {
      cause: error,
    });
  } finally {
    client.release(true);
  }
}

/** Brings an imported library to this version. */
export async function finishImport(pool: pg.Pool): Promise<void> {
  await migrate(pool);
  await analyze(pool);
}
