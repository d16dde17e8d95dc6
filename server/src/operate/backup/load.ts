import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { createSchema } from '../../platform/database/migrate.ts';
import { jobColumns, loadJobs } from '../../platform/jobs/queue-tables.ts';
import { sentenceCount } from '../../platform/language/sentence.ts';
import { portableText } from './dump.ts';
import { type Manifest, partName, readCompressed } from './manifest.ts';
import type { Content, Repository } from './repository.ts';
import { BackupError } from './target.ts';

interface Statement {
  remove: string;
  create: string;
}

/** Foreign keys are checked after all tables have been loaded. */
const foreignKeysQuery = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as remove,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
  from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by conname`;

/** Indexes that no constraint needs: building them once is much faster than updating them for each row. */
const indexesQuery = `
  select format('drop index %s', i.indexrelid::regclass) as remove, pg_get_indexdef(i.indexrelid) as create
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = 'public'::regnamespace
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid) order by c.relname`;

/** Enabled triggers; the backup already contains the data that they maintain. */
const triggersQuery = `
  select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as remove,
    format('alter table %s enable trigger %I', tgrelid::regclass, tgname) as create
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where not tgisinternal and tgenabled = 'O' and c.relnamespace = 'public'::regnamespace`;

async function readStatements(client: pg.ClientBase): Promise<Statement[]> {
  const found: Statement[] = [];
  for (const query of [foreignKeysQuery, triggersQuery, indexesQuery]) {
    found.push(...(await client.query<Statement>(query)).rows);
  }
  return found;
}

async function copyIn(
  client: pg.ClientBase,
  repository: Repository,
  name: string,
  statement: string,
  expected: { rows: number; content: Content },
): Promise<void> {
  const stream = client.query(copyFrom(statement));
  await pipeline(readCompressed(repository, name, expected.content), stream);
  if (stream.rowCount !== expected.rows) {
    throw new BackupError(
      sentenceCount(
        expected.rows,
        ['{name} is damaged: it has {found} of # row', '{name} is damaged: it has {found} of # rows'],
        { name, found: stream.rowCount },
      ),
    );
  }
}

/** Corrects the sizes of previews that were rendered again between the snapshot and their copy. */
async function correctSizes(client: pg.ClientBase, { resized }: Loadable): Promise<void> {
  for (const { key, bytes } of resized) {
    const hash = key.split('/')[3];
    await client.query(
      `update files set renditions = (select jsonb_object_agg(r.key,
         case when r.value ->> 'object' = $2 then r.value || jsonb_build_object('bytes', $3::bigint) else r.value end)
         from jsonb_each(renditions) r) where hash = $1`,
      [hash, key, bytes],
    );
  }
}

/**
 * Calls `fill` to load tables without indexes, foreign keys and triggers, and creates these again, in the caller's
 * transaction.
 */
export async function withoutConstraints(client: pg.ClientBase, fill: () => Promise<void>): Promise<void> {
  await client.query(portableText);
  await client.query("set local maintenance_work_mem = '256MB'");
  const statements = await readStatements(client);
  for (const { remove } of statements) await client.query(remove);
  await fill();
  for (const { create } of statements.toReversed()) await client.query(create);
}

/** Continues sequences after the last number that each has given. */
export async function setSequences(
  client: pg.ClientBase,
  sequences: readonly { name: string; value: string | null }[],
): Promise<void> {
  for (const { name, value } of sequences) {
    if (value !== null)
      await client.query('select setval($1::regclass, $2::bigint)', [`public.${name}`, value]);
  }
}

/** The part of a manifest that is needed to load rows. */
type Loadable = Pick<Manifest, 'id' | 'migrations' | 'tables' | 'sequences' | 'jobs' | 'resized'>;

/**
 * Creates the schema of the backup and loads all of its rows, in the caller's transaction. The database must
 * be empty except for the job queue. Throws BackupError when the backup is damaged.
 */
export async function load(client: pg.ClientBase, repository: Repository, manifest: Loadable): Promise<void> {
  const { id, jobs, migrations, tables, sequences } = manifest;
  await createSchema(client, migrations);
  await withoutConstraints(client, async () => {
    // Removes the rows that migrations inserted; the backup contains their current state.
    await client.query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
    for (const { name, columns, ...expected } of tables) {
      const statement = `copy ${name} (${columns.join(', ')}) from stdin`;
      await copyIn(client, repository, partName(id, `tables/${name}`), statement, expected);
    }
    await correctSizes(client, manifest);
  });
  await setSequences(client, sequences);
  await loadJobs(client, (table) =>
    copyIn(client, repository, partName(id, 'jobs'), `copy ${table} (${jobColumns}) from stdin`, jobs),
  );
}
