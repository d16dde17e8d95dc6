import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Extent } from '../../access/exports.ts';
import { readSiteName } from '../../core/settings.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { readVersion } from '../../platform/version.ts';
import type { Description, ExportedRows } from './bag/description.ts';
import { type Written, writeBag } from './bag/directory.ts';
import type { Entry } from './bag/entry.ts';
import { assetEntries, logoEntries, otherFiles, type StoredReader } from './entries/assets.ts';
import { collectionEntries } from './entries/collections.ts';
import { contentsEntry } from './entries/contents-page.ts';
import { personEntries } from './entries/person.ts';
import { postEntries } from './entries/posts.ts';
import { openRows, readSequences } from './rows.ts';

/** What an export of an extent has, and what it is. */
interface Exported {
  entries: AsyncIterable<Entry>;
  /** Rows are counted while the entries are written. */
  describe(): Description;
}

/** Reads all of one moment, however long the export takes (decision 834). */
export function inSnapshot<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      await sql`set local transaction_read_only = on`.execute(tx);
      await sql`set local statement_timeout = 0`.execute(tx);
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
      return work(tx);
    });
}

async function* entriesOf(
  tx: Tx,
  storage: StoredReader,
  extent: Extent,
  { rows, title }: { rows: Iterable<Entry>; title: string },
): AsyncGenerator<Entry> {
  yield* rows;
  yield* assetEntries(tx, storage, extent);
  if (extent.kind === 'library') {
    yield* otherFiles(tx, storage);
    yield* logoEntries(tx, storage);
  }
  yield* postEntries(tx, extent);
  yield* collectionEntries(tx, extent);
  if (extent.kind === 'person') yield* personEntries(tx, extent.caller);
  yield contentsEntry(tx, extent, title);
}

function describeWith(
  about: Pick<Description, 'kind' | 'user' | 'title'>,
  tables: readonly ExportedRows[],
  more: Pick<Description, 'migrations' | 'sequences'>,
  at: Date,
): () => Description {
  return () => ({
    format: 1,
    ...about,
    version: readVersion(),
    complete: true,
    exported_at: at.toISOString(),
    ...more,
    tables: tables.map((table) => ({ ...table })),
  });
}

/** Returns everything that the library has, in the snapshot of the transaction (EXPORT-1). */
async function exportLibrary(tx: Tx, storage: StoredReader, at: Date): Promise<Exported> {
  const title = await readSiteName(tx);
  const { tables, entries: rows } = await openRows(tx);
  const migrations = await tx.selectFrom('migrations').select('name').orderBy('name').execute();
  const more = { migrations: migrations.map(({ name }) => name), sequences: await readSequences(tx) };
  return {
    entries: entriesOf(tx, storage, { kind: 'library' }, { rows: rows(), title }),
    describe: describeWith({ kind: 'library', user: null, title }, tables, more, at),
  };
}

/** Returns what belongs to one person, as far as they may read it (EXPORT-10). */
async function exportPerson(tx: Tx, storage: StoredReader, caller: SignedIn, at: Date): Promise<Exported> {
  const title = `${await readSiteName(tx)}: ${caller.username}`;
  return {
    entries: entriesOf(tx, storage, { kind: 'person', caller }, { rows: [], title }),
    describe: describeWith(
      { kind: 'person', user: caller.username, title },
      [],
      { migrations: [], sequences: [] },
      at,
    ),
  };
}

/** Writes an export into a directory, or continues the one that is there (EXPORT-5, EXPORT-6). */
export function writeExport(
  db: Database,
  storage: StoredReader,
  directory: string,
  caller: SignedIn | null,
  onWritten?: (written: Written) => void,
): Promise<Written> {
  return inSnapshot(db, async (tx) => {
    const at = new Date();
    const exported =
      caller === null ? await exportLibrary(tx, storage, at) : await exportPerson(tx, storage, caller, at);
    const { entries, describe } = exported;
    return writeBag(directory, entries, { describe, at, ...(onWritten === undefined ? {} : { onWritten }) });
  });
}
