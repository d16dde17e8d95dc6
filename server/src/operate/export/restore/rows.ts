import { createHash } from 'node:crypto';
import type pg from 'pg';
import { createSchema } from '../../../platform/database/migrate.ts';
import { sentence, sentenceCount } from '../../../platform/language/sentence.ts';
import { setSequences, withoutConstraints } from '../../backup/load.ts';
import { linesOf } from '../../backup/manifest.ts';
import type { Description, ExportedRows } from '../bag/description.ts';
import { readManifest } from '../bag/directory.ts';
import { ExportError, type Place } from '../bag/paths.ts';
import { rowsPath } from '../rows.ts';
import { exportedTables } from '../tables.ts';
import { pruneDangling, readForeignKeys } from './prune.ts';

/** The size of the rows that one statement inserts, in characters, and their number. */
const MOST_CHARACTERS = 4_000_000;
const MOST_ROWS = 1000;

/** Yields the lines of a file in batches. */
async function* batchesOf(place: Place, path: string): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for await (const line of linesOf(await place.read(path))) {
    if (line === '') continue;
    batch.push(line);
    characters += line.length;
    if (batch.length < MOST_ROWS && characters < MOST_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Throws ExportError unless the rows have the hashes of the manifest. */
export async function verifyRows(place: Place, { tables }: Description): Promise<void> {
  const wanted = new Map(tables.map(({ name }) => [rowsPath(name), '']));
  for await (const { path, sha256 } of readManifest(place)) if (wanted.has(path)) wanted.set(path, sha256);
  for (const [path, sha256] of wanted) {
    const hash = createHash('sha256');
    for await (const chunk of await place.read(path)) hash.update(chunk);
    if (hash.digest('hex') !== sha256) throw new ExportError(sentence('{path} is damaged', { path }));
  }
}

/** Returns the message of PostgreSQL about rows that it refuses; null for another failure. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return /^(?:22|23|42)/.test(String(error.code)) ? error.message : null;
}

async function insertRows(client: pg.ClientBase, place: Place, { name, columns, rows }: ExportedRows) {
  const restored = exportedTables.get(name)?.restored ?? {};
  const names = [...columns, ...Object.keys(restored)].map((column) => `"${column}"`).join(', ');
  const values = [...columns.map((column) => `r."${column}"`), ...Object.values(restored)].join(', ');
  const statement = `insert into "${name}" (${names}) overriding system value
    select ${values} from json_populate_recordset(null::"${name}", $1::json) r`;
  let inserted = 0;
  try {
    for await (const batch of batchesOf(place, rowsPath(name))) {
      await client.query(statement, [`[${batch.join(',')}]`]);
      inserted += batch.length;
    }
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    const message = sentence('{path} does not fit this library: “{detail}”', {
      path: rowsPath(name),
      detail: refusal,
    });
    throw new ExportError(message, { cause: error });
  }
  if (inserted !== rows)
    throw new ExportError(
      sentenceCount(rows, ['{path} has {found} of # row', '{path} has {found} of # rows'], {
        path: rowsPath(name),
        found: inserted,
      }),
    );
}

/** Tables that a library needs in its own state. */
const kept = ['migrations', 'access_epoch', 'fields_epoch', 'settings', 'job_workers'];

/** Empties a library without content, and remembers its accounts (EXPORT-16). */
async function emptyLibrary(client: pg.ClientBase): Promise<void> {
  await client.query(`create temporary table kept_users on commit drop as
    select u.username, u.username_key, u.password_hash, u.hashed_as, u.email, u.email_key, u.fullname, r.code as role
    from users u join roles r on r.id = u.role_id where u.password_hash is not null`);
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname <> all($1)`,
    [kept],
  );
  await client.query(`truncate ${rows.map(({ name }) => name).join(', ')}`);
  await client.query(`delete from settings where ${exportedTables.get('settings')?.where ?? 'false'}`);
}

/** Gives accounts of the same name their passwords of this library, and keeps its other accounts. */
async function keepAccounts(client: pg.ClientBase): Promise<void> {
  await client.query(`update users u set password_hash = k.password_hash, hashed_as = k.hashed_as
    from kept_users k where k.username_key = u.username_key and u.provider = 'password'`);
  await client.query(`insert into users (username, username_key, password_hash, hashed_as, fullname, role_id)
    select k.username, k.username_key, k.password_hash, k.hashed_as, k.fullname, r.id
    from kept_users k join roles r on r.code = k.role
    where not exists (select from users u where u.username_key = k.username_key)`);
}

/** Writes the search documents of the loaded rows. */
async function writeDocuments(client: pg.ClientBase): Promise<void> {
  const writers = {
    posts: 'write_post_documents',
    assets: 'write_asset_documents',
    collections: 'write_collection_documents',
  };
  for (const [table, write] of Object.entries(writers)) {
    for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
      const { rows } = await client.query<{ last: string | null }>(
        `with next as materialized (select id from ${table} where id > $1 order by id limit 1000),
          written as materialized (select ${write}(array(select id from next)))
        select (select max(id::text) from next) as last from written`,
        [after],
      );
      const last = rows[0]?.last ?? null;
      if (last === null) break;
      after = last;
    }
  }
  await client.query('select write_user_documents(array(select ref from users))');
  await client.query(
    'select write_annotation_documents(array(select distinct post_id from comments where annotated_asset_id is not null))',
  );
  await client.query('update tags set name = name');
}

/** Enqueues what rows have begun: previews, and drafts that are scheduled. */
async function enqueueWork(client: pg.ClientBase): Promise<void> {
  await client.query(`select graphile_worker.add_job('render-again', '{}'::json, job_key => 'render-again')`);
  await client.query(`select graphile_worker.add_job('publish-post', json_build_object('post', post_id),
    job_key => 'publish-post:' || post_id, run_at => publish_at, max_attempts => 5) from post_schedules`);
}

/**
 * Loads the rows of an export in the caller's transaction, into an empty database, or into a library without content.
 * Returns how many rows were left out because they refer to what the export does not have.
 */
export async function loadRows(
  client: pg.ClientBase,
  place: Place,
  { migrations, tables, sequences }: Description,
  isNew: boolean,
): Promise<number> {
  if (isNew) {
    await createSchema(client, migrations);
    await client.query('insert into migrations (name) select unnest($1::text[])', [migrations]);
  }
  const keys = await readForeignKeys(client);
  let pruned = 0;
  await withoutConstraints(client, async () => {
    await emptyLibrary(client);
    for (const table of tables) await insertRows(client, place, table);
    pruned = await pruneDangling(client, keys);
  });
  await setSequences(client, sequences);
  await keepAccounts(client);
  await writeDocuments(client);
  await enqueueWork(client);
  await client.query('update access_epoch set epoch = epoch + 1');
  await client.query('update fields_epoch set epoch = epoch + 1');
  return pruned;
}
