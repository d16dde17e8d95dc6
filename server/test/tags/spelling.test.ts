import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { keepTagKeys } from '../../src/content/tags/keys.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

const library = await openLibrary();
const { db, log } = library.deps;
const root = await library.join('root', 'admin');
const mara = await library.join('mara');

let made = 0;

async function post(...tags: string[]) {
  made += 1;
  const asset = await upload(mara, plainFile(`file ${made}`), { tags: JSON.stringify(tags) });
  return publish(mara, [asset], { tags, visibility: 'public' });
}

const idsOf = ({ items }: { items: readonly { id: string }[] }) => items.map(({ id }) => id);

// NAME-4
describe('a tag in several spellings', () => {
  test.each([
    ['Nature', 'NATURE'],
    ['Jos\u00e9', 'jose\u0301'],
    ['Straße', 'STRASSE'],
  ])('%s and %s is one, shown as it was first written', async (first, other) => {
    const [one, two] = [await post(first), await post(other, first)];
    expect([one.tags, two.tags]).toEqual([[first], [first]]);
    for (const tag of [first, other]) {
      expect(idsOf(await mara.ok('listPosts', { query: { tag: [tag] } })).sort()).toEqual(
        [one.id, two.id].sort(),
      );
      expect((await mara.ok('listAssets', { query: { tag: [tag] } })).items).toHaveLength(2);
      expect((await mara.ok('search', { query: { tag: [tag], kind: 'post' } })).items).toHaveLength(2);
      expect(await mara.ok('getTag', { params: { tag } })).toMatchObject({ tag: first, post_count: 2 });
      for (const q of [tag, tag.slice(2)]) {
        const { items } = await mara.ok('listTags', { query: { q } });
        expect([q, items.map((item) => item.tag)]).toEqual([q, [first]]);
      }
    }
    await mara.ok('updatePost', { params: { id: one.id }, body: { tags: [other, 'more'] } });
    expect((await mara.ok('getPost', { params: { id: one.id } })).tags).toEqual([first, 'more']);
    const { rows } =
      await sql`select from tags where key = (select key from tags where name = ${first})`.execute(db);
    expect(rows).toHaveLength(1);
  });

  test('is followed and hidden once', async () => {
    await post('Harbour');
    for (const tag of ['harbour', 'HARBOUR']) await mara.ok('followTag', { params: { tag } });
    expect((await mara.ok('listFollowedTags')).map(({ tag }) => tag)).toEqual(['Harbour']);
    const { browse_rail } = await mara.ok('updatePreferences', {
      body: { browse_rail: { hidden_team_ids: [], team_order: [], hidden_tags: ['harbour'], tag_order: [] } },
    });
    expect(browse_rail.hidden_tags).toEqual(['Harbour']);
    await mara.ok('unfollowTag', { params: { tag: 'hArbour' } });
    expect(await mara.ok('listFollowedTags')).toEqual([]);
  });

  test('is renamed by any spelling, also to another spelling of itself', async () => {
    const boats = await post('Boats', 'Ships');
    const rename = (tag: string, to: string) => root.ok('renameTag', { params: { tag }, body: { to } });
    expect(await rename('BOATS', 'boats')).toMatchObject({ posts: 1 });
    const tagsOf = async () => (await mara.ok('getPost', { params: { id: boats.id } })).tags;
    expect(await tagsOf()).toEqual(['boats', 'Ships']);
    expect((await post('BOATS')).tags).toEqual(['boats']);
    const taken = await root.refused('renameTag', { params: { tag: 'boats' }, body: { to: 'SHIPS' } });
    expect(taken.status).toBe(409);
    await root.ok('mergeTags', { body: { source: 'BoAtS', target: 'sHips', reason: 'the same' } });
    expect(await tagsOf()).toEqual(['Ships']);
  });

  test('that two writers use for the first time at once is one', async () => {
    const spellings = ['Dawn', 'dawn', 'DAWN', 'dAWN'];
    const posts = await Promise.all(spellings.map((tag) => post(tag, 'shared')));
    expect(new Set(posts.map(({ tags }) => tags.join())).size).toBe(1);
  });
});

// NAME-5
test('tags that an earlier version stored in several spellings are merged, and listed', async () => {
  const posts = [await post('placeholder 1'), await post('placeholder 2'), await post('placeholder 3')];
  const earlier = ['Winter', 'winter', 'Mu\u0308nchen'];
  for (const [at, { id }] of posts.entries()) {
    await sql`update posts set tags = array[${earlier[at] ?? ''}] where id = ${id}`.execute(db);
  }
  const said: unknown[] = [];
  const spied = Object.assign(Object.create(log), { warn: (line: unknown) => said.push(line) });
  await keepTagKeys({ db, log: spied });
  expect(said).toEqual([{ from: 'winter', to: 'Winter' }]);
  await library.runJobs();
  const { items } = await mara.ok('listPosts', { query: { tag: ['WINTER'] } });
  expect(items.map(({ tags }) => tags)).toEqual([['Winter'], ['Winter']]);
  expect(await mara.ok('getTag', { params: { tag: 'm\u00fcnchen' } })).toMatchObject({ post_count: 1 });
  const audit = await root.ok('listAudit', { query: { event: 'tag.merged' } });
  expect(audit.items[0]?.metadata).toMatchObject({ from: 'winter', to: 'Winter', reason: 'same_name' });
  const { checks } = await root.ok('getDoctor');
  expect(checks.find(({ code }) => code === 'renamed_names')?.detail).toContain('winter is now Winter');
  // Repeating it changes nothing.
  await keepTagKeys({ db, log: spied });
  expect(said).toHaveLength(1);
});

// NAME-5
test('of many spellings few statements merge all, and settings of accounts follow', async () => {
  await sql`insert into tags (name, seen_in_public) select spelled, spelled like 'SPARE%' from generate_series(1, 100) i,
    unnest(array['spare ' || i, 'Spare ' || i, 'SPARE ' || i]) spelled`.execute(db);
  const rail = {
    hidden_team_ids: [],
    team_order: [],
    hidden_tags: ['spare 7', 'sun'],
    tag_order: ['Spare 7'],
  };
  const preferences = JSON.stringify({ browse_rail: rail });
  await sql`update users set preferences = ${preferences}::jsonb where ref = ${mara.ref}`.execute(db);
  const { id } = await mara.ok('createFeedView', { body: { name: 'Spare', query: { tag: ['spare 8'] } } });
  const [, statements] = await countStatements(library, () => keepTagKeys({ db, log }));
  expect(statements).toBeLessThan(40);
  const { rows } = await sql<{ name: string; seen_in_public: boolean }>`select name, seen_in_public from tags
    where key like 'spare %'`.execute(db);
  expect(rows).toHaveLength(100);
  // Visitors see a tag if they saw one of its spellings.
  for (const row of rows)
    expect(row).toEqual({ name: expect.stringMatching(/^SPARE /), seen_in_public: true });
  const { browse_rail } = await mara.ok('getPreferences');
  expect(browse_rail).toEqual({ ...rail, hidden_tags: ['SPARE 7', 'sun'], tag_order: ['SPARE 7'] });
  const views = await mara.ok('listFeedViews');
  expect(views.find((view) => view.id === id)?.query).toEqual({ tag: ['SPARE 8'] });
  const { rows: events } = await sql<{ rails: string; views: string }>`select metadata ->> 'rails' as rails,
    metadata ->> 'views' as views from audit_events where metadata ->> 'from' in ('spare 7', 'spare 8')
    order by metadata ->> 'from'`.execute(db);
  expect(events).toEqual([
    { rails: '1', views: '0' },
    { rails: '0', views: '1' },
  ]);
});
