import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { describeKey, type KeyRecord, parseStored } from '../../people/identity/secret-key.ts';
import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import { isRestoring } from '../../platform/database/migrate.ts';
import { hasQueue, selectJobs } from '../../platform/jobs/queue-tables.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { type BackupTable, type Manifest, partName, writeCompressed } from './manifest.ts';
import type { Repository } from './repository.ts';
import { BackupError } from './target.ts';

/** Tables with the transient state of processes, which a backup omits. */
const momentary: ReadonlySet<string> = new Set(['job_workers', 'job_progress']);

/** Which rows to store. `kept` are those whose files a backup contains, which excludes uploads without an asset. */
export type Extent = 'all' | 'kept';
const kept: Readonly<Record<string, string>> = { uploads: 'where used_at is not null' };

/** Makes the text format independent of server and session settings. */
export const portableText = `set local client_encoding = 'UTF8'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local timezone = 'UTC'; set local extra_float_digits = 3; set local bytea_output = 'hex'; set local statement_timeout = 0;
  set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0`;

interface TableColumns {
  name: string;
  columns: string[];
}

/** The permanent tables and the columns that are not computed. */
async function readTables(client: pg.ClientBase): Promise<TableColumns[]> {
  const { rows } = await client.query<TableColumns>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    group by c.relname order by c.relname`);
  return rows.filter(({ name }) => !momentary.has(name));
}

async function copyOut(
  client: pg.ClientBase,
  repository: Repository,
  name: string,
  statement: string,
): Promise<Pick<BackupTable, 'rows' | 'content'>> {
  const stream = client.query(copyTo(`copy (${statement}) to stdout`));
  const content = await writeCompressed(repository, name, stream);
  return { rows: stream.rowCount, content };
}

/** Selects the keys and sizes of the files that rows of this snapshot refer to; `tables` may be of an older schema. */
function filesQuery(tables: ReadonlySet<string>): string {
  const lists = {
    files: `select 'originals/' || left(hash, 2) || '/' || substr(hash, 3, 2) || '/' || hash as key, size_bytes as bytes
        from files f where (to_jsonb(f) ->> 'origin_peer_id' is null or to_jsonb(f) ->> 'fetched_at' is not null)
          and to_jsonb(f) ->> 'in_place' is distinct from 'true'
      union select r.value ->> 'object', (r.value ->> 'bytes')::bigint
        from files f, jsonb_each(f.renditions) r where r.value ? 'object'`,
    subtitles: `select 'subtitles/' || left(file_hash, 2) || '/' || substr(file_hash, 3, 2) || '/' || file_hash, size_bytes
        from subtitles`,
    logos: `select 'logos/' || hash, size_bytes from logos`,
  };
  const parts = Object.entries(lists).flatMap(([table, query]) => (tables.has(table) ? [query] : []));
  return `select key, max(bytes) from (${parts.join(' union ')}) as f (key, bytes) group by key order by key collate "C"`;
}

/** The part of a manifest that comes from the database. */
export type Dump = Pick<
  Manifest,
  'takenAt' | 'postgres' | 'migrations' | 'tables' | 'sequences' | 'jobs' | 'hasOwnScrambleKey'
>;

/** Returns what the database stores about the secret key: the key itself in a library of an earlier version. */
export async function readStoredKey(
  client: Pick<pg.ClientBase, 'query'>,
): Promise<string | KeyRecord | null> {
  const { rows } = await client.query<{ value: unknown }>(
    "select value from settings where key = 'secret_key'",
  );
  return parseStored(rows[0]?.value ?? null);
}

/** The expression for a column; no backup has the secret key among its rows (RUN-42). */
async function columnsOf(client: pg.ClientBase, { name, columns }: TableColumns, extent: Extent) {
  const stored = name === 'settings' && extent === 'kept' ? await readStoredKey(client) : null;
  if (typeof stored !== 'string') return columns.join(', ');
  const record = JSON.stringify(describeKey(stored));
  const value = `case when key = 'secret_key' then '${record}'::jsonb else value end`;
  return columns.map((column) => (column === 'value' ? value : column)).join(', ');
}

/** Throws BackupError if the database is not a library, or its restore did not finish. */
export async function requireLibrary(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  if (await isRestoring(client)) throw new BackupError(sentence('this library is only partly restored'));
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('public.settings') is not null as found",
  );
  if (rows[0]?.found !== true || !(await hasQueue(client)))
    throw new BackupError(sentence('there is no library to back up yet; start it once'));
}

/**
 * Stores every row of one snapshot in the parts of backup `id`, and writes keys and sizes of its files to the
 * local file `filesTo`, ordered by key. Blocks migrations, but not writers.
 */
export async function dump(
  client: pg.ClientBase,
  repository: Repository,
  id: string,
  filesTo: string,
  extent: Extent,
): Promise<Dump> {
  // Waits for a running migration before taking the snapshot.
  await client.query('set statement_timeout = 0; set lock_timeout = 0');
  await client.query('select pg_advisory_lock_shared($1)', [advisoryLocks.migration]);
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query(portableText);
    return await dumpSnapshot(client, repository, id, filesTo, extent);
  } finally {
    await client.query('rollback');
    await client.query('select pg_advisory_unlock_shared($1)', [advisoryLocks.migration]);
  }
}

async function dumpSnapshot(
  client: pg.ClientBase,
  repository: Repository,
  id: string,
  filesTo: string,
  extent: Extent,
): Promise<Dump> {
  const about = await client.query<{ taken_at: string; postgres: string; own_key: boolean }>(`
    select to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as taken_at, current_setting('server_version') as postgres,
      not exists (select from settings where key = 'scramble_key') as own_key`);
  const [first] = about.rows;
  if (first === undefined) throw new Error('the database does not answer');
  const { rows: applied } = await client.query<{ name: string }>('select name from migrations order by name');
  const tables: BackupTable[] = [];
  const found = await readTables(client);
  for (const table of found) {
    const { name, columns } = table;
    const statement = `select ${await columnsOf(client, table, extent)} from ${name} ${extent === 'kept' ? (kept[name] ?? '') : ''}`;
    const copied = await copyOut(client, repository, partName(id, `tables/${name}`), statement);
    tables.push({ name, columns, ...copied });
  }
  const jobs = await copyOut(client, repository, partName(id, 'jobs'), selectJobs);
  // Sequences are not part of a snapshot; a later value is as good, as it is not smaller than any id above.
  const sequences = await client.query<{ name: string; value: string | null }>(
    `select sequencename as name, last_value::text as value from pg_sequences where schemaname = 'public' order by 1`,
  );
  const query = filesQuery(new Set(found.map(({ name }) => name)));
  await pipeline(
    client.query(copyTo(`copy (${query}) to stdout`)),
    createWriteStream(filesTo, { mode: 0o600 }),
  );
  return {
    takenAt: first.taken_at,
    postgres: first.postgres,
    migrations: applied.map(({ name }) => name),
    tables,
    sequences: sequences.rows,
    jobs,
    hasOwnScrambleKey: first.own_key,
  };
}
