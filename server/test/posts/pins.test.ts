import { beforeEach, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const [mara, ines] = await library.joinAll('mara', 'ines');
const root = await library.join('root', 'admin');
const picture = await upload(mara, plainFile());
await library.setPublicMode(true);

const publishOne = async (visibility: 'public' | 'private' = 'public') =>
  (await publish(mara, [picture], { visibility })).id;
const pin = (caller: Visitor, id: string) => caller.ok('pinPost', { params: { id } });
const pinRefused = async (caller: Visitor, id: string) => {
  const { status, error } = await caller.refused('pinPost', { params: { id } });
  return [status, error];
};

/** The pins of mara as a caller sees them in the profile; checks that the list of posts has the same. */
async function pinsFor(caller: Visitor): Promise<string[]> {
  const profile = await caller.ok('getUser', { params: { ref: mara.ref } });
  const { items } = await caller.ok('listPosts', { query: { pinned_by: mara.ref } });
  expect(items.map(({ id }) => id).sort()).toEqual([...profile.pinned_post_ids].sort());
  return profile.pinned_post_ids;
}

beforeEach(async () => {
  await library.deps.db.deleteFrom('post_pins').execute();
});

// POST-50, POST-51
test('pins of an author are listed for everyone who may read the posts, the latest first', async () => {
  const [first, second, secret] = [await publishOne(), await publishOne(), await publishOne('private')];
  for (const id of [first, second, secret, first, first.toUpperCase()]) await pin(mara, id);
  expect(await pinsFor(mara)).toEqual([secret, second, first]);
  for (const caller of [ines, library.anonymous()]) expect(await pinsFor(caller)).toEqual([second, first]);
  for (let times = 0; times < 2; times += 1) await mara.ok('unpinPost', { params: { id: second } });
  expect(await pinsFor(ines)).toEqual([first]);
});

// POST-50
test('only the author pins a post, and only a published one', async () => {
  const [shown, secret] = [await publishOne(), await publishOne('private')];
  const { id: draft } = await publish(mara, [picture], { draft: true });
  expect((await pinRefused(ines, shown))[0]).toBe(403);
  expect((await pinRefused(root, shown))[0]).toBe(403);
  for (const id of [secret, nowhere]) expect((await pinRefused(ines, id))[0]).toBe(404);
  expect(await pinRefused(mara, draft)).toEqual([409, 'a draft cannot be pinned']);
  await pin(mara, shown);
  expect((await ines.refused('unpinPost', { params: { id: shown } })).status).toBe(403);
  expect(await pinsFor(ines)).toEqual([shown]);
});

// POST-50
test('an author pins at most six posts, even with concurrent requests', async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => publishOne()));
  const statuses = await Promise.all(ids.map((id) => mara.status('PUT', `/posts/${id}/pin`)));
  expect(statuses.filter((status) => status === 204)).toHaveLength(6);
  expect(statuses.filter((status) => status === 409)).toHaveLength(2);
  const kept = await pinsFor(mara);
  expect(kept).toHaveLength(6);
  for (const id of kept) await pin(mara, id);
});

// POST-50
test('withdrawing a post, deleting it and giving it to another author unpin it', async () => {
  const [withdrawn, deleted] = [await publishOne(), await publishOne()];
  for (const id of [withdrawn, deleted]) await pin(mara, id);
  await mara.ok('unpublishPost', { params: { id: withdrawn } });
  await mara.ok('deletePost', { params: { id: deleted } });
  expect(await pinsFor(mara)).toEqual([]);
  await mara.ok('publishPost', { params: { id: withdrawn } });
  await root.ok('restorePost', { params: { id: deleted } });
  expect(await pinsFor(mara)).toEqual([]);

  const giver = await library.join('giver');
  const given = await publish(giver, [await upload(giver, plainFile('given'))], { visibility: 'public' });
  await pin(giver, given.id);
  await root.ok('transferUser', { params: { ref: giver.ref }, body: { to: mara.ref } });
  expect(await pinsFor(mara)).toEqual([]);
  await pin(mara, given.id);
  expect(await pinsFor(mara)).toEqual([given.id]);
});

// POST-50
test('giving a post to another author unpins it', async () => {
  const [leaver, heir] = await library.joinAll('leaver', 'heir');
  const { id } = await publish(leaver, [await upload(leaver, plainFile())], {});
  await pin(leaver, id);
  const given = await root.ok('transferUser', { params: { ref: leaver.ref }, body: { to: heir.ref } });
  expect(given.posts).toBe(1);
  for (const { ref } of [leaver, heir])
    expect((await root.ok('getUser', { params: { ref } })).pinned_post_ids).toEqual([]);
  expect(await library.deps.db.selectFrom('post_pins').selectAll().execute()).toEqual([]);
});
