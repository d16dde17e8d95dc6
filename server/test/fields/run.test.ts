import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { arrive, grant } from '../posts/people.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define } from './define.ts';

let library: Library;
let root: Account;
let editor: Account;
let artist: Account;
let asset: string;

/** More than the transaction of a request changes. */
const MANY = 1500;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  editor = await arrive(library, 'editor');
  artist = await arrive(library, 'artist');
  await grant(library, editor, 'fields.admin');
  await grant(library, editor, 'fields.vocabulary.merge');
  asset = (await upload(artist, plainFile())).id;
});

/** Gives this value to the first asset and to copies of it. */
async function fill(fieldId: string, column: 'value_text' | 'value_options', value: string | string[]) {
  await sql`with made as (
      insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, processing_status)
      select owner_user_ref, 'copy', asset_type, file_hash, file_name, 'ready'
      from assets, generate_series(2, ${MANY}::integer) where id = ${asset} returning id)
    insert into asset_field_values (asset_id, field_id, ${sql.ref(column)}, set_by)
    select id, ${fieldId}::uuid, ${value}, 'manual' from (select id from made union all select ${asset}::uuid) a`.execute(
    library.deps.db,
  );
}

const merge = (id: string, source: string, target: string) =>
  editor.ok('mergeFieldTerms', { params: { id }, body: { source, target, reason: 'a duplicate' } });
const refused = async (path: string, method: string, body: unknown) => {
  const { status, text } = await editor.send(path, { method, body });
  return [status, JSON.parse(text).error];
};

async function countOf(fieldId: string, value: string) {
  const { rows } = await sql<{ n: number }>`select count(*) as n from asset_field_values
    where field_id = ${fieldId} and ${value} = any(value_options || value_text)`.execute(library.deps.db);
  return rows[0]?.n;
}

async function countMoves(fieldId: string) {
  const { rows } = await sql<{ n: number }>`select count(*) as n from field_value_history
    where field_id = ${fieldId} and set_by = 'computed' and actor_user_ref = ${editor.ref}`.execute(
    library.deps.db,
  );
  return rows[0]?.n;
}

/** The number of assets with the word in their search document. */
async function countFound(word: string) {
  const { rows } = await sql<{ n: number }>`select count(*) as n from asset_documents
    where document @@ to_tsquery('simple', ${word})`.execute(library.deps.db);
  return rows[0]?.n;
}

async function countFiltered(filter: string) {
  let found = 0;
  let cursor: string | null = null;
  do {
    const query = { filter: [filter], limit: 200, ...(cursor === null ? {} : { cursor }) };
    const page: { items: unknown[]; next_cursor: string | null } = await artist.ok('listAssets', { query });
    found += page.items.length;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}

const progress = async () => {
  const { items } = await root.ok('listJobs', { query: { name: 'rewrite-fields' } });
  return items.map((job) => job.progress);
};

/** Raises an error in the job when it records that it has done more than this. */
async function killAfter(done: number): Promise<void> {
  const { db } = library.deps;
  await sql`create or replace function die() returns trigger language plpgsql as
    $$ begin if new.done > tg_argv[0]::bigint then raise exception 'killed'; end if; return new; end $$`.execute(
    db,
  );
  await sql`create trigger die before update on field_runs for each row execute function die(${sql.lit(done)})`.execute(
    db,
  );
}

async function continueJobs(): Promise<void> {
  const { db } = library.deps;
  await sql`drop trigger die on field_runs`.execute(db);
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
  await library.runJobs();
}

describe('merging a term that more than 1,000 values name', () => {
  // TERM-19
  test('moves the values in steps, while a filter by the target finds all of them', async () => {
    const field = await define(editor, {
      type: 'multi_select',
      options: { values: [{ value: 'owl', label: 'Strix' }, 'bubo', 'other'] },
    });
    await fill(field.id, 'value_options', ['other', 'owl']);
    const { run, ...report } = await merge(field.id, 'owl', 'bubo');
    expect(report).toMatchObject({ assets: MANY, collections: 0, dry_run: false });
    expect(run).toEqual({ id: expect.any(String), done: 0, total: MANY });
    expect(await progress()).toEqual([{ part: 0, step: null, done: 0, total: MANY }]);
    expect(await countOf(field.id, 'owl')).toBe(MANY);
    expect(await countFiltered(`field:${field.code}=bubo`)).toBe(MANY);
    await library.runJobs();
    expect([await countOf(field.id, 'owl'), await countOf(field.id, 'bubo')]).toEqual([0, MANY]);
    expect(await countFiltered(`field:${field.code}=bubo`)).toBe(MANY);
    expect(await countMoves(field.id)).toBe(MANY);
    expect([await countFound('strix'), await countFound('bubo')]).toEqual([0, MANY]);
    expect(await progress()).toEqual([]);
  });

  // TERM-19
  test('continues after the job died between two steps, and moves each value once', async () => {
    const field = await define(editor, { type: 'select', options: { values: ['crow', 'raven'] } });
    await fill(field.id, 'value_text', 'crow');
    await merge(field.id, 'crow', 'raven');
    await killAfter(1000);
    await library.runJobs();
    expect(await progress()).toMatchObject([{ done: 1000, total: MANY }]);
    expect([await countOf(field.id, 'crow'), await countOf(field.id, 'raven')]).toEqual([MANY - 1000, 1000]);
    // A new value that names the tombstone is the target already (TERM-4).
    const value = { params: { id: asset, field_id: field.id }, body: { value_text: 'crow' } };
    expect(await artist.ok('setAssetFieldValue', value)).toMatchObject({ value_text: 'raven' });
    await continueJobs();
    expect([await countOf(field.id, 'crow'), await countOf(field.id, 'raven')]).toEqual([0, MANY]);
    const { rows } = await sql<{ most: number }>`select max(n) as most from (select count(*) as n
      from field_value_history where field_id = ${field.id} group by subject_id) each_one`.execute(
      library.deps.db,
    );
    expect(rows).toEqual([{ most: 1 }]);
  });

  // TERM-19
  test('loses neither a move nor a concurrent edit with two workers', async () => {
    const field = await define(editor, { type: 'select', options: { values: ['hare', 'rabbit', 'stoat'] } });
    await fill(field.id, 'value_text', 'hare');
    await merge(field.id, 'hare', 'rabbit');
    const value = { params: { id: asset, field_id: field.id }, body: { value_text: 'stoat' } };
    const { db } = library.deps;
    const wake = sql`select graphile_worker.add_job('rewrite-fields')`;
    await wake.execute(db);
    await Promise.all([library.runJobs(), artist.ok('setAssetFieldValue', value), library.runJobs()]);
    expect(await countOf(field.id, 'hare')).toBe(0);
    expect([await countOf(field.id, 'rabbit'), await countOf(field.id, 'stoat')]).toEqual([MANY - 1, 1]);
    const { rows } = await sql<{ done: number }>`select done from field_runs
      where field_id = ${field.id} and finished_at is not null`.execute(db);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.done).toBe(await countMoves(field.id));
  });

  // TERM-20
  test('a merge of the target waits its turn, and the merged term cannot be changed meanwhile', async () => {
    const field = await define(editor, { type: 'select', options: { values: ['mare', 'horse', 'equine'] } });
    await fill(field.id, 'value_text', 'mare');
    await merge(field.id, 'mare', 'horse');
    const busy = [409, '"mare" is still being merged into "horse"; try again when the job has ended'];
    expect(await refused(`/fields/${field.id}/terms/mare`, 'PATCH', { status: 'active' })).toEqual(busy);
    const options = { values: ['mare', 'horse', 'equine'] };
    expect(await refused(`/fields/${field.id}`, 'PATCH', { options })).toEqual(busy);
    await editor.ok('updateFieldTerm', {
      params: { id: field.id, value: 'horse' },
      body: { label: 'Horse' },
    });
    expect(await merge(field.id, 'horse', 'equine')).toMatchObject({ assets: 0, run: { done: 0, total: 0 } });
    await library.runJobs();
    expect([await countOf(field.id, 'mare'), await countOf(field.id, 'horse')]).toEqual([0, 0]);
    expect(await countOf(field.id, 'equine')).toBe(MANY);
    await editor.ok('updateFieldTerm', { params: { id: field.id, value: 'mare' }, body: { label: 'Mare' } });
    // The new labels are words.
    await library.runJobs();
  });
});

describe('the words of a field with more than 1,000 values', () => {
  // FIELD-44
  test('a job takes them out of the search index in steps, and continues after it died', async () => {
    const field = await define(editor, { label: 'Shelfmark' });
    await fill(field.id, 'value_text', 'quillwort');
    // The triggers of the values have written them.
    expect(await countFound('quillwort')).toBe(MANY);
    await change(editor, field.id, { searchable: false });
    expect(await progress()).toEqual([{ part: 0, step: null, done: 0, total: MANY }]);
    expect(await countFound('quillwort')).toBe(MANY);
    await killAfter(1000);
    await library.runJobs();
    expect(await countFound('quillwort')).toBe(MANY - 1000);
    await continueJobs();
    expect(await countFound('quillwort')).toBe(0);
    expect(await progress()).toEqual([]);
  });

  // FIELD-44
  test('a second change starts again with the first value', async () => {
    const field = await define(editor);
    await fill(field.id, 'value_text', 'bogbean');
    await change(editor, field.id, { searchable: false });
    await killAfter(1000);
    await library.runJobs();
    expect(await countFound('bogbean')).toBe(MANY - 1000);
    await change(editor, field.id, { searchable: true });
    expect(await progress()).toMatchObject([{ done: 0, total: MANY }]);
    await continueJobs();
    expect(await countFound('bogbean')).toBe(MANY);
  });

  // FIELD-44
  test('are gated before the response when fewer people may read the field', async () => {
    const field = await define(editor);
    await fill(field.id, 'value_text', 'sundew');
    await change(editor, field.id, { read_capability: 'users.pii.read', searchable: true });
    expect(await countFound('sundew')).toBe(0);
    expect(await progress()).toEqual([]);
  });
});
