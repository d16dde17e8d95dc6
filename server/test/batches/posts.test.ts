import type { PostAction, PostSelection } from '@vitrine/contract/batches';
import { beforeAll, describe, expect, test } from 'vitest';
import { callerOf } from '../../src/access/caller-of.ts';
import { appendPosts } from '../../src/content/collections/place.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

const library = await openLibrary();
const mara = await library.join('mara');
const tom = await library.join('tom');
let picture: Parameters<typeof publish>[1][number];
let states: { id: string; domain: string; code: string }[] = [];

beforeAll(async () => {
  picture = await upload(mara, plainFile());
  states = await mara.ok('listWorkflowStates', { query: {} });
});

const make = async (count: number, body: object = {}) => {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await publish(mara, [picture], body)).id);
  return ids;
};
const stateId = (code: string) =>
  states.find((state) => state.domain === 'post' && state.code === code)?.id ?? '';
const run = async (who: Visitor, ids: string[], action: PostAction) => {
  const answer = await who.ok('batchPosts', { body: { ids, action } });
  await library.runJobs();
  return who.ok('getBatch', { params: { id: 'job_id' in answer ? answer.job_id : '' } });
};
const undo = async (id: string) => {
  const { job_id } = await mara.ok('undoBatch', { params: { id } });
  await library.runJobs();
  return mara.ok('getBatch', { params: { id: job_id } });
};
const posts = (ids: string[]) => Promise.all(ids.map((id) => mara.ok('getPost', { params: { id } })));

describe('many posts', () => {
  test('get tags and lose them again, in their order', async () => {
    const ids = await make(2, { tags: ['one', 'two'] });
    const added = await run(mara, ids, { kind: 'add_tags', tags: ['three', 'ONE'] });
    expect(added).toMatchObject({ kind: 'add_tags', subject: 'post', changed: 2 });
    expect((await posts(ids)).map(({ tags }) => tags)).toEqual([
      ['one', 'two', 'three'],
      ['one', 'two', 'three'],
    ]);
    const removed = await run(mara, ids, { kind: 'remove_tags', tags: ['one'] });
    await undo(removed.id);
    await undo(added.id);
    expect((await posts(ids)).map(({ tags }) => tags)).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ]);
  });

  // BATCH-9, NAME-4
  test('get a removed tag back as it is spelled by now', async () => {
    const root = await library.join('keeper', 'admin');
    const ids = await make(2, { tags: ['high tide'] });
    const removed = await run(mara, ids.slice(0, 1), { kind: 'remove_tags', tags: ['high tide'] });
    await root.ok('renameTag', { params: { tag: 'high tide' }, body: { to: 'High Tide' } });
    await undo(removed.id);
    expect((await posts(ids)).map(({ tags }) => tags)).toEqual([['High Tide'], ['High Tide']]);
  });

  // BATCH-9, TAG-4
  test('get a removed tag back by the name that it has by now', async () => {
    const root = await library.join('registrar', 'admin');
    const ids = await make(2, { tags: ['first', 'ebb', 'low water'] });
    const removed = await run(mara, ids.slice(0, 1), { kind: 'remove_tags', tags: ['ebb'] });
    await root.ok('renameTag', { params: { tag: 'ebb' }, body: { to: 'Ebb tide' } });
    const body = { source: 'Ebb tide', target: 'low water', reason: 'the same' };
    await root.ok('mergeTags', { body });
    await undo(removed.id);
    expect((await posts(ids)).map(({ tags }) => tags)).toEqual([
      ['first', 'low water'],
      ['first', 'low water'],
    ]);
    expect((await root.refused('getTag', { params: { tag: 'ebb' } })).status).toBe(404);
  });

  // BATCH-3
  test('change their audience, and others cannot change it', async () => {
    const ids = await make(2, { visibility: 'public' });
    const done = await run(mara, ids, { kind: 'set_visibility', visibility: 'private' });
    expect((await posts(ids)).map(({ visibility }) => visibility)).toEqual(['private', 'private']);
    await undo(done.id);
    const refused = await run(tom, ids, { kind: 'set_visibility', visibility: 'private' });
    expect(refused.refused).toEqual(ids.map((id) => ({ id, reason: 'only its author can change it' })));
    expect((await posts(ids)).map(({ visibility }) => visibility)).toEqual(['public', 'public']);
  });

  test('are withdrawn and published', async () => {
    const ids = await make(2);
    const withdrawn = await run(mara, ids, { kind: 'set_state', state_id: stateId('wip') });
    expect((await posts(ids)).map(({ draft }) => draft)).toEqual([true, true]);
    await undo(withdrawn.id);
    expect((await posts(ids)).map(({ draft }) => draft)).toEqual([false, false]);
    expect(await run(mara, ids, { kind: 'set_state', state_id: stateId('published') })).toMatchObject({
      unchanged: 2,
    });
  });

  test('enter a collection at its end and return to their places', async () => {
    const ids = await make(3);
    const { id } = await mara.ok('createCollection', { body: { name: 'Chosen' } });
    const inOrder = async () =>
      (await mara.ok('listCollectionPosts', { params: { id }, query: {} })).items.map((post) => post.id);
    await run(mara, ids, { kind: 'add_to_collection', collection_id: id });
    expect(await inOrder()).toEqual(ids);
    const cover = { cover_post_id: ids[0] ?? null, cover_focal_x: 0.25, cover_focal_y: 0.5 };
    await mara.ok('updateCollection', { params: { id }, body: cover });
    const removed = await run(mara, ids.slice(0, 2), { kind: 'remove_from_collection', collection_id: id });
    expect(await inOrder()).toEqual(ids.slice(2));
    await undo(removed.id);
    expect(await inOrder()).toEqual(ids);
    expect(await mara.ok('getCollection', { params: { id } })).toMatchObject(cover);
    const action = { kind: 'add_to_collection' as const, collection_id: nowhere };
    expect((await mara.refused('batchPosts', { body: { ids, action } })).status).toBe(404);
    const foreign = { kind: 'add_to_collection' as const, collection_id: id };
    expect((await tom.refused('batchPosts', { body: { ids, action: foreign } })).status).toBe(403);
  });

  // COLLECTION-9
  test('return to a collection beside what has taken their places', async () => {
    const [first = '', second = '', third = ''] = await make(3);
    const { id } = await mara.ok('createCollection', { body: { name: 'Full' } });
    const params = { id };
    const add = (post_id: string) => mara.ok('addToCollection', { params: { id, post_id } });
    for (const post of [first, second]) await add(post);
    const removed = await run(mara, [second], { kind: 'remove_from_collection', collection_id: id });
    await add(third);
    await undo(removed.id);
    for (const order of [
      [first, second, third],
      [third, second, first],
      [first, third, second],
    ]) {
      const items = order.map((post) => ({ kind: 'post' as const, id: post }));
      await mara.ok('orderCollectionItems', { params, body: { items } });
      const page = await mara.ok('listCollectionPosts', { params, query: {} });
      expect(page.items.map((post) => post.id)).toEqual(order);
    }
  });

  test('enter a collection with as many statements as a few', async () => {
    const { id } = await mara.ok('createCollection', { body: { name: 'Many' } });
    const caller = await callerOf(library.deps.db, mara.ref);
    if (caller === null) throw new Error('mara is not known');
    const statementsOf = async (count: number) => {
      const ids = await make(count);
      const append = () => library.deps.db.transaction().execute((tx) => appendPosts(tx, caller, id, ids));
      return (await countStatements(library, append))[1];
    };
    expect(await statementsOf(12)).toBe(await statementsOf(2));
  });

  test('are deleted and restored', async () => {
    const ids = await make(2);
    const done = await run(mara, ids, { kind: 'delete' });
    for (const id of ids) expect((await mara.refused('getPost', { params: { id } })).status).toBe(404);
    expect(await run(mara, ids, { kind: 'restore' })).toMatchObject({ changed: 2 });
    expect(await undo(done.id)).toMatchObject({ changed: 0, refused_count: 2 });
  });

  // BATCH-1
  test('are no drafts when a query selects them, unless it asks for that state', async () => {
    const tags = ['half done'];
    const [published = ''] = await make(1, { tags });
    const [draft = ''] = await make(1, { tags, draft: true });
    const selected = async (query: PostSelection, who: Visitor = mara) => {
      const body = { query, action: { kind: 'add_tags' as const, tags: ['chosen'] } };
      const answer = await who.ok('batchPosts', { body });
      const id = 'job_id' in answer ? answer.job_id : '';
      await library.runJobs();
      const { items } = await who.ok('listBatchItems', { params: { id }, query: {} });
      return items.map((item) => item.id);
    };
    const root = await library.join('root', 'admin');
    for (const who of [mara, root]) expect(await selected({ tag: tags }, who)).toEqual([published]);
    expect(await selected({ tag: tags, state_id: stateId('wip') })).toEqual([draft]);
    expect(await selected({ tag: tags, state_id: stateId('wip') }, tom)).toEqual([]);
    expect(await selected({ tag: tags, state_id: stateId('published') })).toEqual([published]);
  });

  test('are selected by author and tag', async () => {
    const [id = ''] = await make(1, { tags: ['by query'] });
    const body = {
      query: { tag: ['By Query'] },
      action: { kind: 'add_tags' as const, tags: ['found'] },
      dry_run: true,
    };
    expect(await mara.ok('batchPosts', { body })).toEqual({
      matched: 1,
      changes: 1,
      unchanged: 0,
      refused: [],
    });
    expect((await posts([id]))[0]?.tags).toEqual(['by query']);
  });
});
