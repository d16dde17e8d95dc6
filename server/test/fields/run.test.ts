import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openLibrary, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define } from './define.ts';

/** More than the transaction of a request changes, and more than one step of a job. */
const MANY = 1100;

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [editor, artist] = await library.joinAll('editor', 'artist');
await grant(library, editor, ['fields.admin', 'fields.vocabulary.merge']);
const asset = (await upload(artist, plainFile())).id;
await sql`insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, processing_status)
    select owner_user_ref, 'copy', asset_type, file_hash, file_name, 'ready'
    from assets, generate_series(2, ${MANY}::integer)`.execute(db);

/** Gives this value to every asset. */
async function fill(fieldId: string, column: 'value_text' | 'value_options', value: string | string[]) {
  await sql`insert into asset_field_values (asset_id, field_id, ${sql.ref(column)}, set_by)
    select id, ${fieldId}::uuid, ${value}, 'manual' from assets`.execute(db);
}

const merge = (id: string, source: string, target: string) =>
  editor.ok('mergeFieldTerms', { params: { id }, body: { source, target, reason: 'a duplicate' } });
const write = (field_id: string, value_text: string) =>
  artist.ok('setAssetFieldValue', { params: { id: asset, field_id }, body: { value_text } });

async function count(rows: ReturnType<typeof sql>): Promise<number> {
  const { rows: counted } = await sql<{ n: number }>`select count(*) as n from ${rows}`.execute(db);
  return counted[0]?.n ?? 0;
}

const countOf = (fieldId: string, value: string) =>
  count(sql`asset_field_values where field_id = ${fieldId} and ${value} = any(value_options || value_text)`);
const countMoves = (fieldId: string) =>
  count(sql`field_value_history
    where field_id = ${fieldId} and set_by = 'computed' and actor_user_ref = ${editor.ref}`);
/** The number of assets with the word in their search document. */
const countFound = (word: string) =>
  count(sql`asset_documents where document @@ to_tsquery('simple', ${word})`);

async function countFiltered(filter: string) {
  const query = { filter: [filter], limit: 200 };
  return (await pagesOf((from) => artist.ok('listAssets', { query: { ...query, ...from } }))).flat().length;
}

const progress = async () => {
  const { items } = await root.ok('listJobs', { query: { name: 'rewrite-fields' } });
  return items.map((job) => job.progress);
};

/** Runs the job until it has recorded its first step, and raises an error in the second. */
async function runOneStep(): Promise<void> {
  await sql`create or replace function die() returns trigger language plpgsql as
    $$ begin if new.done > 1000 then raise exception 'killed'; end if; return new; end $$`.execute(db);
  await sql`create trigger die before update on field_runs for each row execute function die()`.execute(db);
  await library.runJobs();
  await sql`drop trigger die on field_runs`.execute(db);
}

async function continueJobs(): Promise<void> {
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
  await library.runJobs();
}

describe('merging a term that more than 1,000 values name', () => {
  // TERM-19
  test('moves each value once and in steps, also after the job died, while filters find all of them', async () => {
    const values = [{ value: 'owl', label: 'Strix' }, 'bubo', 'other'];
    const field = await define(editor, { type: 'multi_select', options: { values } });
    await fill(field.id, 'value_options', ['other', 'owl']);
    const { run, ...report } = await merge(field.id, 'owl', 'bubo');
    expect(report).toMatchObject({ assets: MANY, collections: 0, dry_run: false });
    expect(run).toEqual({ id: expect.any(String), done: 0, total: MANY });
    expect(await progress()).toEqual([{ part: 0, step: null, done: 0, total: MANY }]);
    expect([await countOf(field.id, 'owl'), await countFiltered(`field:${field.code}=bubo`)]).toEqual([
      MANY,
      MANY,
    ]);
    await runOneStep();
    expect(await progress()).toMatchObject([{ done: 1000, total: MANY }]);
    expect([await countOf(field.id, 'owl'), await countOf(field.id, 'bubo')]).toEqual([MANY - 1000, 1000]);
    await continueJobs();
    expect([await countOf(field.id, 'owl'), await countOf(field.id, 'bubo')]).toEqual([0, MANY]);
    expect(await countMoves(field.id)).toBe(MANY);
    expect([await countFound('strix'), await countFound('bubo')]).toEqual([0, MANY]);
    expect(await progress()).toEqual([]);
  });

  // TERM-4, TERM-19
  test('loses neither a move nor a concurrent edit with two workers', async () => {
    const field = await define(editor, { type: 'select', options: { values: ['hare', 'rabbit', 'stoat'] } });
    await fill(field.id, 'value_text', 'hare');
    await merge(field.id, 'hare', 'rabbit');
    // A new value that names the tombstone is the target already.
    expect(await write(field.id, 'hare')).toMatchObject({ value_text: 'rabbit' });
    await sql`select graphile_worker.add_job('rewrite-fields')`.execute(db);
    await Promise.all([library.runJobs(), write(field.id, 'stoat'), library.runJobs()]);
    const counts = ['hare', 'rabbit', 'stoat'].map((value) => countOf(field.id, value));
    expect(await Promise.all(counts)).toEqual([0, MANY - 1, 1]);
    const { rows } = await sql<{ done: number }>`select done from field_runs
      where field_id = ${field.id} and finished_at is not null`.execute(db);
    expect(rows).toEqual([{ done: await countMoves(field.id) }]);
  });

  // TERM-20
  test('lets a merge of the target wait its turn, and the merged term cannot be changed meanwhile', async () => {
    const options = { values: ['mare', 'horse', 'equine'] };
    const { id } = await define(editor, { type: 'select', options });
    await fill(id, 'value_text', 'mare');
    await merge(id, 'mare', 'horse');
    const busy = {
      status: 409,
      error: '"mare" is still being merged into "horse"; try again when the job has ended',
    };
    const relabel = { params: { id, value: 'mare' }, body: { label: 'Mare' } };
    expect(await editor.refused('updateFieldTerm', relabel)).toEqual(busy);
    expect(await editor.refused('updateField', { params: { id }, body: { options } })).toEqual(busy);
    await editor.ok('updateFieldTerm', { params: { id, value: 'horse' }, body: { label: 'Horse' } });
    expect(await merge(id, 'horse', 'equine')).toMatchObject({ assets: 0, run: { done: 0, total: 0 } });
    await library.runJobs();
    expect([await countOf(id, 'mare'), await countOf(id, 'horse')]).toEqual([0, 0]);
    expect(await countOf(id, 'equine')).toBe(MANY);
    await editor.ok('updateFieldTerm', relabel);
    // The new labels are words.
    await library.runJobs();
  });
});

describe('the words of a field with more than 1,000 values', () => {
  // FIELD-44
  test('leave the search index in steps, also after the job died; a second change starts again', async () => {
    const field = await define(editor);
    await fill(field.id, 'value_text', 'quillwort');
    for (const searchable of [true, false]) {
      await change(editor, field.id, { searchable: false });
      expect(await progress()).toEqual([{ part: 0, step: null, done: 0, total: MANY }]);
      expect(await countFound('quillwort')).toBe(MANY);
      await runOneStep();
      expect(await countFound('quillwort')).toBe(MANY - 1000);
      if (searchable) await change(editor, field.id, { searchable });
      expect(await progress()).toMatchObject([{ done: searchable ? 0 : 1000, total: MANY }]);
      await continueJobs();
      expect(await countFound('quillwort')).toBe(searchable ? MANY : 0);
      expect(await progress()).toEqual([]);
    }
  });

  // FIELD-44
  test('are gated before the response when fewer people may read the field', async () => {
    const field = await define(editor);
    await fill(field.id, 'value_text', 'sundew');
    await change(editor, field.id, { read_capability: 'users.pii.read', searchable: true });
    expect([await countFound('sundew'), await progress()]).toEqual([0, []]);
  });
});
