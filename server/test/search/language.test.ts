import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { resumeRewriting } from '../../src/content/search-index/jobs/rewrite.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const mara = await library.join('mara');
const root = await library.join('root', 'admin');
const picture = await upload(mara, plainFile(), { title: 'running horses' });
await publish(mara, [picture], { title: 'the running' });

const total = async (q: string) => (await mara.ok('search', { query: { q: `"${q}"` } })).total;

describe('the language of a library', () => {
  test('is unset at first, so words match without stemming', async () => {
    expect(await root.ok('getSearchSettings')).toMatchObject({ language: 'simple', progress: null });
    expect([await total('running'), await total('run'), await total('horse')]).toEqual([2, 0, 0]);
  });

  // SEARCH-12
  test('is changed immediately for new documents and by an idempotent job for all', async () => {
    const changed = await root.ok('updateSearchSettings', { body: { language: 'english' } });
    expect(changed).toMatchObject({ language: 'english', progress: { done: 0, total: 2 } });
    // Until the job has run, words match as they were indexed.
    expect([await total('running'), await total('run')]).toEqual([2, 0]);
    expect((await root.refused('updateSearchSettings', { body: { language: 'german' } })).status).toBe(409);
    for (let time = 0; time < 2; time += 1) {
      await library.runJobs();
      expect(await root.ok('getSearchSettings')).toMatchObject({ language: 'english', progress: null });
      expect([await total('running'), await total('run'), await total('horse')]).toEqual([2, 2, 1]);
      await sql`select graphile_worker.add_job('rewrite-documents')`.execute(library.deps.db);
    }
    const { items } = await root.ok('listAudit', { query: { event: 'system.search.changed' } });
    expect(items.map(({ metadata }) => metadata)).toEqual([{ before: 'simple', language: 'english' }]);
  });

  test('must be a configuration of PostgreSQL, each of which indexes documents', async () => {
    for (const language of ['klingon', 'pg_catalog.english', "english'; --"])
      expect([language, await root.status('PATCH', '/admin/system/search', { language })]).toEqual([
        language,
        400,
      ]);
    const { languages } = await root.ok('getSearchSettings');
    const { rows } = await sql`select language from unnest(${languages}::text[]) language
      where length(search_vector(language::regconfig, 'word', 'A')) <> 1`.execute(library.deps.db);
    expect(rows).toEqual([]);
  });
});

// SEARCH-12
describe('while something is edited', () => {
  test('a search returns the old or the new state, and afterwards the new one', async () => {
    const words = ['alpaca', 'buffalo'];
    const edits = (async () => {
      for (let n = 0; n < 6; n++)
        await mara.ok('updateAsset', {
          params: { id: picture.id },
          body: { title: words[n % 2] ?? '', tags: [`tag${n}`] },
        });
    })();
    for (let n = 0; n < 6; n++) {
      const [one, other] = await Promise.all(
        words.map((word) => mara.ok('search', { query: { q: word, kind: 'asset' } })),
      );
      for (const answer of [one, other]) expect(answer?.items.length).toBeLessThanOrEqual(1);
    }
    await edits;
    expect([await total('alpaca'), await total('buffalo')]).toEqual([0, 1]);
  });

  test('concurrent edits of title, tags and values of one asset are all in its document', async () => {
    const { db } = library.deps;
    const tag = (value: string) =>
      sql`insert into asset_tags (asset_id, value, source) values (${picture.id}, ${value}, 'manual')`;
    const edits = [
      sql`update assets set title = 'firstword' where id = ${picture.id}`,
      tag('secondword'),
      sql`update assets set description = 'thirdword' where id = ${picture.id}`,
      tag('fourthword'),
    ];
    await Promise.all(edits.map((edit) => edit.execute(db)));
    const query = { q: 'firstword secondword thirdword fourthword', kind: 'asset' as const };
    expect((await mara.ok('search', { query })).total).toBe(1);
  });

  test('concurrent comments are all in the document of their post', async () => {
    const { id } = await publish(mara, [picture], { title: 'talked about' });
    const bodies = ['uno', 'dos', 'tres', 'cuatro', 'cinco'].map((word) => `${word}word`);
    await Promise.all(bodies.map((body) => mara.ok('createComment', { params: { id }, body: { body } })));
    expect((await mara.ok('search', { query: { q: bodies.join(' '), kind: 'post' } })).total).toBe(1);
  });
});

// SEARCH-21
test('after an upgrade that compares words otherwise, the stored ones are rewritten', async () => {
  const { db } = library.deps;
  const { id } = await upload(mara, plainFile(), { title: 'שָׁלוֹם' });
  await sql`update asset_documents set document = '' where asset_id = ${id}`.execute(db);
  const migration = new URL('../../migrations/0081_points_in_search.sql', import.meta.url);
  await library.database.pool.query(await readFile(migration, 'utf8'));
  expect((await root.ok('getSearchSettings')).progress).toMatchObject({ done: 0 });
  expect(await total('שלום')).toBe(0);
  await resumeRewriting(db);
  await library.runJobs();
  expect((await root.ok('getSearchSettings')).progress).toBeNull();
  expect(await total('שלום')).toBe(1);
});
