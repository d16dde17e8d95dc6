import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { arrive } from '../posts/people.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let root: Account;
let picture: { id: string };

beforeAll(async () => {
  library = await openLibrary();
  [mara, root] = await Promise.all([arrive(library, 'mara'), arrive(library, 'root', 'admin')]);
  picture = await upload(mara, plainFile(), { title: 'running horses' });
  await publish(mara, [picture], { title: 'the running' });
});

const total = async (q: string) => (await mara.ok('search', { query: { q: `"${q}"` } })).total;

// SEARCH-12
describe('the language of a library', () => {
  test('is unset at first, so words match without stemming', async () => {
    expect(await root.ok('getSearchSettings')).toMatchObject({ language: 'simple', progress: null });
    expect([await total('running'), await total('run'), await total('horse')]).toEqual([2, 0, 0]);
  });

  // SEARCH-12
  test('is changed by operators, immediately for new documents and by a job for all', async () => {
    expect((await mara.refused('updateSearchSettings', { body: { language: 'english' } })).status).toBe(403);
    const changed = await root.ok('updateSearchSettings', { body: { language: 'english' } });
    expect(changed).toMatchObject({ language: 'english', progress: { done: 0, total: 2 } });
    // Until the job has run, words match as they were indexed.
    expect([await total('running'), await total('run')]).toEqual([2, 0]);
    expect((await root.refused('updateSearchSettings', { body: { language: 'german' } })).status).toBe(409);
    await library.runJobs();
    expect(await root.ok('getSearchSettings')).toMatchObject({ language: 'english', progress: null });
    expect([await total('running'), await total('run'), await total('horse')]).toEqual([2, 2, 1]);
    const { items } = await root.ok('listAudit', { query: { event: 'system.search.changed' } });
    expect(items.map(({ metadata }) => metadata)).toEqual([{ before: 'simple', language: 'english' }]);
  });

  test('must be a configuration of PostgreSQL', async () => {
    for (const language of ['klingon', '', 'pg_catalog.english', "english'; --"]) {
      const answer = await root.send('/admin/system/search', { method: 'PATCH', body: { language } });
      expect([language, answer.status]).toEqual([language, 400]);
    }
  });

  test('every configuration indexes documents and parses queries', async () => {
    const { languages } = await root.ok('getSearchSettings');
    for (const language of languages) {
      const { rows } = await sql<{
        n: number;
      }>`select length(search_vector(${language}::regconfig, 'word', 'A')) as n`.execute(library.deps.db);
      expect([language, rows[0]?.n]).toEqual([language, 1]);
    }
  });

  test('the job is idempotent', async () => {
    await sql`select graphile_worker.add_job('rewrite-documents')`.execute(library.deps.db);
    await library.runJobs();
    expect(await total('run')).toBe(2);
  });
});

// SEARCH-12
describe('while something is edited', () => {
  test('a search returns the old or the new state, and afterwards the new one', async () => {
    const words = ['alpaca', 'buffalo'];
    const edits = (async () => {
      for (let n = 0; n < 10; n++)
        await mara.ok('updateAsset', {
          params: { id: picture.id },
          body: { title: words[n % 2] ?? '', tags: [`tag${n}`] },
        });
    })();
    for (let n = 0; n < 10; n++) {
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
    await Promise.all([
      sql`update assets set title = 'firstword' where id = ${picture.id}`.execute(db),
      sql`insert into asset_tags (asset_id, value, source) values (${picture.id}, 'secondword', 'manual')`.execute(
        db,
      ),
      sql`update assets set description = 'thirdword' where id = ${picture.id}`.execute(db),
      sql`insert into asset_tags (asset_id, value, source) values (${picture.id}, 'fourthword', 'manual')`.execute(
        db,
      ),
    ]);
    expect(
      (await mara.ok('search', { query: { q: 'firstword secondword thirdword fourthword', kind: 'asset' } }))
        .total,
    ).toBe(1);
  });

  test('concurrent comments are all in the document of their post', async () => {
    const { id } = await publish(mara, [picture], { title: 'talked about' });
    const bodies = ['uno', 'dos', 'tres', 'cuatro', 'cinco'].map((word) => `${word}word`);
    await Promise.all(bodies.map((body) => mara.ok('createComment', { params: { id }, body: { body } })));
    expect((await mara.ok('search', { query: { q: bodies.join(' '), kind: 'post' } })).total).toBe(1);
  });
});
