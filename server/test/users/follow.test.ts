import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

const nobody = 404_000;

let library: Library;
let mara: Account;
let ines: Account;
let viewer: Account;
let root: Account;
let picture: { id: string };

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, viewer, root] = await Promise.all([
    library.join('mara'),
    library.join('ines'),
    library.join('viewer', 'viewer'),
    library.join('root', 'admin'),
  ]);
  picture = await upload(mara, await jpeg(60, 40));
  await library.runJobs();
});

beforeEach(async () => {
  await library.deps.db.deleteFrom('user_follows').execute();
});

const follow = (caller: Visitor, { ref }: { ref: number }) => caller.ok('followUser', { params: { ref } });
const unfollow = (caller: Visitor, { ref }: { ref: number }) =>
  caller.ok('unfollowUser', { params: { ref } });

/** Returns the numbers of followers and followed accounts on a profile. */
async function countsOf({ ref }: Account, caller: Visitor = root): Promise<[number, number]> {
  const { follower_count, following_count } = await caller.ok('getUser', { params: { ref } });
  return [follower_count, following_count];
}

describe('POST and DELETE /users/{ref}/follow', () => {
  // USER-5
  test('answer 204 and update the counts of both profiles', async () => {
    const path = `/users/${mara.ref}/follow`;
    const followed = await ines.send(path, { method: 'POST' });
    expect([followed.status, followed.text]).toEqual([204, '']);
    expect([await countsOf(mara), await countsOf(ines)]).toEqual([
      [1, 0],
      [0, 1],
    ]);
    const left = await ines.send(path, { method: 'DELETE' });
    expect([left.status, left.text]).toEqual([204, '']);
    expect([await countsOf(mara), await countsOf(ines)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  // USER-5
  test('are idempotent', async () => {
    await unfollow(ines, mara);
    await follow(ines, mara);
    await follow(ines, mara);
    expect(await countsOf(mara)).toEqual([1, 0]);
    await unfollow(ines, mara);
    await unfollow(ines, mara);
    expect(await countsOf(mara)).toEqual([0, 0]);
  });

  test('work in one direction', async () => {
    await follow(ines, mara);
    await follow(viewer, mara);
    await follow(mara, viewer);
    expect([await countsOf(mara), await countsOf(ines), await countsOf(viewer)]).toEqual([
      [2, 1],
      [0, 1],
      [1, 1],
    ]);
    await unfollow(mara, ines);
    expect(await countsOf(mara)).toEqual([2, 1]);
  });

  // USER-5
  test('need an account and no capability', async () => {
    await follow(viewer, mara);
    for (const enabled of [true, false]) {
      await library.setPublicMode(enabled);
      for (const id of ['followUser', 'unfollowUser'] as const)
        expect((await library.anonymous().refused(id, { params: { ref: mara.ref } })).status).toBe(401);
    }
    expect(await countsOf(mara)).toEqual([1, 0]);
  });

  // USER-5
  test('answers 400 for the own account', async () => {
    expect((await mara.refused('followUser', { params: { ref: mara.ref } })).status).toBe(400);
    expect(await countsOf(mara)).toEqual([0, 0]);
  });

  // USER-5
  test('answers 404 for an unknown or deleted account', async () => {
    const gone = await library.join(`gone ${Math.random()}`);
    await library.deps.db.deleteFrom('users').where('ref', '=', gone.ref).execute();
    for (const ref of [nobody, gone.ref, 0, -1]) {
      expect((await ines.refused('followUser', { params: { ref } })).status).toBe(404);
      expect((await ines.refused('unfollowUser', { params: { ref } })).status).toBe(404);
    }
  });

  test('counts concurrent requests of one caller once', async () => {
    await Promise.all(Array.from({ length: 30 }, () => follow(ines, mara)));
    expect(await countsOf(mara)).toEqual([1, 0]);
    await Promise.all(Array.from({ length: 30 }, () => unfollow(ines, mara)));
    expect(await countsOf(mara)).toEqual([0, 0]);
  });

  test('allows following an account that is hidden from anonymous callers', async () => {
    const setHidden = (hidden: boolean) =>
      library.deps.db
        .updateTable('users')
        .set({ hide_from_anonymous: hidden })
        .where('ref', '=', mara.ref)
        .execute();
    await setHidden(true);
    await follow(ines, mara);
    expect(await countsOf(mara, ines)).toEqual([1, 0]);
    await setHidden(false);
  });

  test('are deleted with either account', async () => {
    const passing = await library.join(`passing ${Math.random()}`);
    await follow(passing, mara);
    await follow(mara, passing);
    expect(await countsOf(mara)).toEqual([1, 1]);
    await library.deps.db.deleteFrom('users').where('ref', '=', passing.ref).execute();
    expect(await countsOf(mara)).toEqual([0, 0]);
  });

  test('belong to the target of an impersonation', async () => {
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: ines.ref }, body: {} });
    await follow(mask, mara);
    expect([await countsOf(ines), await countsOf(root)]).toEqual([
      [0, 1],
      [0, 0],
    ]);
    expect((await mask.refused('followUser', { params: { ref: ines.ref } })).status).toBe(400);
  });
});

// USER-6
describe('following opens', () => {
  // USER-6
  test('the author’s posts for followers, immediately and while it lasts', async () => {
    const { id } = await publish(mara, [picture], { visibility: 'followers' });
    const comment = await mara.ok('createComment', { params: { id }, body: { body: 'for you' } });
    const paths = [
      `/posts/${id}`,
      `/posts/${id}/comments`,
      `/posts/${id}/like`,
      `/comments/${comment.id}/replies`,
    ];
    const seen = async (caller: Visitor) => {
      const statuses = [];
      for (const path of paths) statuses.push((await caller.send(path)).status);
      const listed = (await caller.ok('listPosts')).items.some((post) => post.id === id);
      const featured = (await caller.ok('listPostsByAsset', { params: { id: picture.id } })).some(
        (post) => post.id === id,
      );
      return [...statuses, listed, featured];
    };
    const open = [200, 200, 200, 200, true, true];
    const shut = [404, 404, 404, 404, false, false];
    expect(await seen(ines)).toEqual(shut);
    await follow(ines, mara);
    expect([await seen(ines), await seen(viewer)]).toEqual([open, shut]);
    await unfollow(ines, mara);
    expect(await seen(ines)).toEqual(shut);
    // Being followed by the author grants no access.
    await follow(mara, ines);
    expect(await seen(ines)).toEqual(shut);
  });

  // USER-6
  test('no draft, private post or post shared with others', async () => {
    await follow(ines, mara);
    for (const body of [
      { visibility: 'followers', draft: true },
      { visibility: 'private' },
      { visibility: 'explicit-share' },
    ] as const) {
      const { id } = await publish(mara, [picture], body);
      expect((await ines.refused('getPost', { params: { id } })).status).toBe(404);
    }
  });

  test('the feed of followed accounts', async () => {
    const { id } = await publish(mara, [picture], { visibility: 'org-only' });
    const feed = async () =>
      (await viewer.ok('listPosts', { query: { feed: 'following' } })).items.map((post) => post.id);
    expect(await feed()).toEqual([]);
    await follow(viewer, mara);
    expect(await feed()).toContain(id);
    await unfollow(viewer, mara);
    expect(await feed()).toEqual([]);
  });
});

describe('GET /users/{ref}/follow', () => {
  const isFollowing = async (caller: Visitor, { ref }: { ref: number }) =>
    (await caller.ok('getUserFollow', { params: { ref } })).following;

  // USER-17
  test('says whether the caller follows the account', async () => {
    expect(await isFollowing(ines, mara)).toBe(false);
    await follow(ines, mara);
    expect([
      await isFollowing(ines, mara),
      await isFollowing(mara, ines),
      await isFollowing(root, mara),
    ]).toEqual([true, false, false]);
    await unfollow(ines, mara);
    expect(await isFollowing(ines, mara)).toBe(false);
  });

  // USER-17
  test('is 404 for an unknown account, and 401 for visitors', async () => {
    expect((await mara.refused('getUserFollow', { params: { ref: nobody } })).status).toBe(404);
    expect((await library.anonymous().refused('getUserFollow', { params: { ref: mara.ref } })).status).toBe(
      401,
    );
  });
});
