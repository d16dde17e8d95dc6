import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post, PostUpdate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

const another = (fields: Record<string, string> = {}) => upload(mara, plainFile(), fields);
const patch = (id: string, body: PostUpdate) => mara.ok('updatePost', { params: { id }, body });
const read = (id: string, who: Account = mara) => who.ok('getPost', { params: { id } });
const remove = ({ id }: ShownAsset) => mara.ok('deleteAsset', { params: { id }, body: undefined });
const restore = ({ id }: ShownAsset) => mara.ok('restoreAsset', { params: { id } });
const named = (...assets: { id: string }[]) => assets.map(({ id }) => ({ asset_id: id }));
const cover = (post: Post) => [post.cover_asset_id, post.cover_focal_x, post.cover_focal_y];
const focal = { cover_focal_x: 0.25, cover_focal_y: 0.75 };
const centre = [null, null];

async function inFeed(id: string, who: Account): Promise<Post> {
  const { items } = await who.ok('listPosts', { query: { limit: 200 } });
  const found = items.find((post) => post.id === id);
  if (found === undefined) throw new Error('the feed has it not');
  return found;
}

const library = await openLibrary();
const [mara, reader] = await library.joinAll('mara', 'reader');
const [one, two, three] = [await another(), await another(), await another()];

// POST-23
describe('cover_asset_id', () => {
  // POST-23, POST-28
  test('is the current first member unless set, and stays the chosen one until it is cleared', async () => {
    const { id } = await publish(mara, [one, two]);
    const coverAfter = async (body: PostUpdate) => (await patch(id, body)).cover_asset_id;
    expect((await read(id)).cover_asset_id).toBe(one.id);
    expect(await coverAfter({ members: named(three, one) })).toBe(three.id);
    // In the same edit that adds the member, in any case of letters.
    expect(await coverAfter({ members: named(one, two), cover_asset_id: two.id.toUpperCase() })).toBe(two.id);
    expect(await coverAfter({ members: named(three, two, one) })).toBe(two.id);
    expect(await coverAfter({ clear_cover: true })).toBe(three.id);
    expect(await coverAfter({ members: named(one, three) })).toBe(one.id);
  });

  // POST-23
  test('is removed with its member', async () => {
    const post = await publish(mara, [one, two], { cover_asset_id: two.id, ...focal });
    expect(cover(await patch(post.id, { members: named(three, one) }))).toEqual([three.id, ...centre]);
    // The choice was removed, not hidden: adding the member again does not restore it.
    expect(cover(await patch(post.id, { members: named(three, one, two) }))).toEqual([three.id, ...centre]);
  });

  test('is null without a focal point when no member is left', async () => {
    for (const chosen of [false, true]) {
      const [a, b] = [await another(), await another()];
      const post = await publish(mara, [a, b], { ...focal, ...(chosen ? { cover_asset_id: b.id } : {}) });
      await remove(a);
      await remove(b);
      const bare = await read(post.id);
      expect(bare.members).toEqual([]);
      expect(cover(bare)).toEqual([null, ...centre]);
      await restore(a);
      await restore(b);
      expect(cover(await read(post.id))).toEqual([(chosen ? b : a).id, 0.25, 0.75]);
    }
  });

  test('is kept in GET /posts/{id} even if it is a placeholder, and replaced in the feed', async () => {
    const withheld = await another({ sensitivity: 'restricted' });
    const post = await publish(mara, [one, withheld], { cover_asset_id: withheld.id, ...focal });
    expect(cover(await read(post.id, reader))).toEqual([withheld.id, 0.25, 0.75]);
    expect(cover(await inFeed(post.id, reader))).toEqual([one.id, ...centre]);
    expect(cover(await inFeed(post.id, mara))).toEqual([withheld.id, 0.25, 0.75]);
  });
});

// POST-25, POST-26
describe('the focal point', () => {
  // POST-25, POST-28
  test('is set as a pair, survives edits that do not change the cover, and is cleared', async () => {
    const { id } = await publish(mara, [one, two]);
    const coverAfter = async (body: PostUpdate) => cover(await patch(id, body));
    for (const body of [
      focal,
      { title: 'a title' },
      { members: named(one, three) },
      { clear_cover: true },
      { cover_thumbnail_asset_id: two.id },
      { cover_focal_x: null, cover_focal_y: null },
    ])
      expect(await coverAfter(body)).toEqual([one.id, 0.25, 0.75]);
    expect(await coverAfter({ cover_focal_x: 0, cover_focal_y: 1 })).toEqual([one.id, 0, 1]);
    for (let times = 0; times < 2; times += 1)
      expect(await coverAfter({ clear_cover_focal: true })).toEqual([one.id, ...centre]);
  });

  const onOther: [string, () => PostUpdate][] = [
    ['another cover', () => ({ cover_asset_id: two.id })],
    ['another first member', () => ({ members: named(two, one) })],
    ['moving the first member', () => ({ members: [{ asset_id: one.id, sort_order: 9 }, ...named(two)] })],
    ['the first member leaving', () => ({ members: named(two) })],
  ];
  // POST-26
  test.each(onOther)('%s clears it unless a new pair is given', async (_, make) => {
    const post = await publish(mara, [one, two], focal);
    expect(cover(await patch(post.id, make()))).toEqual([two.id, ...centre]);
    const again = await publish(mara, [one, two], focal);
    const pair = { cover_focal_x: 0.5, cover_focal_y: 1 };
    expect(cover(await patch(again.id, { ...make(), ...pair }))).toEqual([two.id, 0.5, 1]);
  });

  test('stays on the chosen cover wherever that moves, and is not restored once it is cleared', async () => {
    const { id } = await publish(mara, [one, two], focal);
    const steps: [PostUpdate, unknown[]][] = [
      [{ cover_asset_id: one.id }, [one.id, 0.25, 0.75]],
      [{ members: named(two, three, one) }, [one.id, 0.25, 0.75]],
      // Without a choice, the cover is the first member, which is another picture.
      [{ clear_cover: true }, [two.id, ...centre]],
      [{ cover_asset_id: one.id }, [one.id, ...centre]],
    ];
    for (const [body, expected] of steps) expect(cover(await patch(id, body))).toEqual(expected);
    const moved = await publish(mara, [one, two], focal);
    await patch(moved.id, { members: named(two, one) });
    expect(cover(await patch(moved.id, { members: named(one, two) }))).toEqual([one.id, ...centre]);
  });

  // POST-26, POST-27
  test('of a cover in the trash is not applied to another picture, and returns with the cover', async () => {
    for (const chosen of [true, false]) {
      const a = await another();
      const members = chosen ? [one, a] : [a, one];
      const post = await publish(mara, members, { ...focal, ...(chosen ? { cover_asset_id: a.id } : {}) });
      await remove(a);
      expect(cover(await read(post.id))).toEqual([one.id, ...centre]);
      expect(cover(await patch(post.id, { title: 'meanwhile' }))).toEqual([one.id, ...centre]);
      await restore(a);
      expect(cover(await read(post.id))).toEqual([a.id, 0.25, 0.75]);
    }
  });

  test('set while the first member is in the trash belongs to the one that is shown', async () => {
    const a = await another();
    const post = await publish(mara, [a, one]);
    await remove(a);
    expect(cover(await patch(post.id, focal))).toEqual([one.id, 0.25, 0.75]);
    await restore(a);
    expect(cover(await read(post.id))).toEqual([a.id, ...centre]);
  });

  // POST-26, POST-27
  test('of a first member that is left out of the feed is not shown on the next', async () => {
    const withheld = await another({ sensitivity: 'restricted' });
    const post = await publish(mara, [withheld, one], focal);
    expect(cover(await inFeed(post.id, reader))).toEqual([one.id, ...centre]);
    expect(cover(await inFeed(post.id, mara))).toEqual([withheld.id, 0.25, 0.75]);
  });

  // POST-25
  test('the database refuses a focal point with only one coordinate', async () => {
    const post = await publish(mara, [one]);
    for (const focal of [sql`cover_focal_x = 0.5`, sql`cover_focal_x = 'NaN', cover_focal_y = 0.5`]) {
      const update = sql`update posts set ${focal} where id = ${post.id}`.execute(library.deps.db);
      await expect(update).rejects.toThrow(/check constraint/);
    }
  });

  test('set during a concurrent change of the cover applies to its own cover or is removed', async () => {
    for (let round = 0; round < 6; round += 1) {
      const post = await publish(mara, [one, two]);
      const [set, changed] = await Promise.all([
        patch(post.id, focal),
        patch(post.id, { cover_asset_id: two.id }),
      ]);
      const after = cover(await read(post.id));
      const focalFirst = Date.parse(set.updated_at) < Date.parse(changed.updated_at);
      expect([
        [two.id, ...centre],
        [two.id, 0.25, 0.75],
      ]).toContainEqual(after);
      if (focalFirst) expect(after).toEqual([two.id, ...centre]);
    }
  });
});

// POST-24
describe('cover_thumbnail_asset_id', () => {
  // POST-24, POST-28
  test('is not a member, is changed and cleared, and the focal point stays', async () => {
    const post = await publish(mara, [one], { cover_thumbnail_asset_id: two.id, ...focal });
    expect(post.members.map(({ asset_id }) => asset_id)).toEqual([one.id]);
    expect([...cover(post), post.cover_thumbnail_asset_id]).toEqual([one.id, 0.25, 0.75, two.id]);
    const { items } = await mara.ok('listPosts', { query: { asset: two.id, limit: 200 } });
    expect(items.map(({ id }) => id)).not.toContain(post.id);
    for (const [body, cover_thumbnail_asset_id] of [
      [{ cover_thumbnail_asset_id: three.id }, three.id],
      [{ clear_cover_thumbnail: true }, null],
    ] as const)
      expect(await patch(post.id, body)).toMatchObject({ cover_thumbnail_asset_id, ...focal });
  });
});
