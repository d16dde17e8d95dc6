import { beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { actAs } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const nobody = 404_000;

const library = await openLibrary();
const [mara, ines, viewer, root] = await Promise.all([
  library.join('mara'),
  library.join('ines'),
  library.join('viewer', 'viewer'),
  library.join('root', 'admin'),
]);
const picture = await upload(mara, plainFile());

beforeEach(async () => {
  await library.deps.db.deleteFrom('user_follows').execute();
});

const follow = (caller: Visitor, { ref }: { ref: number }) => caller.ok('followUser', { params: { ref } });
const unfollow = (caller: Visitor, { ref }: { ref: number }) =>
  caller.ok('unfollowUser', { params: { ref } });

/** Returns the numbers of followers and followed accounts on these profiles, by username. */
async function countsOf(...accounts: Account[]): Promise<Record<string, [number, number]>> {
  const counts: Record<string, [number, number]> = {};
  for (const { ref, username } of accounts) {
    const { follower_count, following_count } = await ines.ok('getUser', { params: { ref } });
    counts[username] = [follower_count, following_count];
  }
  return counts;
}

describe('POST and DELETE /users/{ref}/follow', () => {
  // USER-5
  test('need no capability, answer 204, work in one direction and update the counts of both', async () => {
    const path = `/users/${mara.ref}/follow`;
    for (const method of ['POST', 'DELETE'] as const) {
      for (let times = 0; times < 2; times += 1) {
        const answer = await viewer.send(path, { method });
        expect([answer.status, answer.text]).toEqual([204, '']);
      }
      const count = method === 'POST' ? 1 : 0;
      expect(await countsOf(mara, viewer)).toEqual({ mara: [count, 0], viewer: [0, count] });
    }
    await follow(ines, mara);
    await follow(mara, viewer);
    await unfollow(mara, ines);
    expect(await countsOf(mara, ines, viewer)).toEqual({ mara: [1, 1], ines: [0, 1], viewer: [1, 0] });
  });

  // USER-5
  test('answers 400 for the own account, and 404 for an unknown or deleted one', async () => {
    const gone = await library.join('gone');
    await library.deps.db.deleteFrom('users').where('ref', '=', gone.ref).execute();
    expect((await ines.refused('followUser', { params: { ref: ines.ref } })).status).toBe(400);
    for (const ref of [nobody, gone.ref])
      for (const operation of ['followUser', 'unfollowUser', 'getUserFollow'] as const)
        expect((await ines.refused(operation, { params: { ref } })).status).toBe(404);
  });

  test('counts concurrent requests of one caller once', async () => {
    await Promise.all(Array.from({ length: 12 }, () => follow(ines, mara)));
    expect(await countsOf(mara)).toEqual({ mara: [1, 0] });
    await Promise.all(Array.from({ length: 12 }, () => unfollow(ines, mara)));
    expect(await countsOf(mara)).toEqual({ mara: [0, 0] });
  });

  test('follows an account that is hidden from anonymous callers, until either is deleted', async () => {
    const passing = await library.join('passing');
    await passing.ok('updateUser', { params: { ref: passing.ref }, body: { hide_from_anonymous: true } });
    await follow(passing, mara);
    await follow(mara, passing);
    expect(await countsOf(mara, passing)).toEqual({ mara: [1, 1], passing: [1, 1] });
    await library.deps.db.deleteFrom('users').where('ref', '=', passing.ref).execute();
    expect(await countsOf(mara)).toEqual({ mara: [0, 0] });
  });

  test('belong to the target of an impersonation', async () => {
    const mask = await actAs(library, root, ines);
    await follow(mask, mara);
    expect(await countsOf(ines, root)).toEqual({ ines: [0, 1], root: [0, 0] });
    expect((await mask.refused('followUser', { params: { ref: ines.ref } })).status).toBe(400);
  });
});

// USER-6
test('following opens the author’s posts for followers, immediately and while it lasts', async () => {
  const { id } = await publish(mara, [picture], { visibility: 'followers' });
  const comment = await mara.ok('createComment', { params: { id }, body: { body: 'for you' } });
  const paths = [`/posts/${id}`, `/posts/${id}/comments`, `/comments/${comment.id}/replies`];
  const seen = async (caller: Visitor) => {
    const statuses = await Promise.all(paths.map((path) => caller.status('GET', path)));
    return [...statuses, (await caller.ok('listPosts')).items.some((post) => post.id === id)];
  };
  const open = [200, 200, 200, true];
  const shut = [404, 404, 404, false];
  expect(await seen(ines)).toEqual(shut);
  await follow(ines, mara);
  expect([await seen(ines), await seen(viewer)]).toEqual([open, shut]);
  await unfollow(ines, mara);
  expect(await seen(ines)).toEqual(shut);
  // Being followed by the author grants no access.
  await follow(mara, ines);
  expect(await seen(ines)).toEqual(shut);
});

// USER-17
test('GET /users/{ref}/follow says whether the caller follows the account', async () => {
  const isFollowing = async (caller: Visitor, { ref }: { ref: number }) =>
    (await caller.ok('getUserFollow', { params: { ref } })).following;
  expect(await isFollowing(ines, mara)).toBe(false);
  await follow(ines, mara);
  const others = [await isFollowing(mara, ines), await isFollowing(root, mara)];
  expect([await isFollowing(ines, mara), ...others]).toEqual([true, false, false]);
  await unfollow(ines, mara);
  expect(await isFollowing(ines, mara)).toBe(false);
});
