import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addPosts } from './people.ts';

/** The access matrix (server/test/access/surfaces/usage.ts) shows who sees which uses of an asset. */

const another = (fields: Record<string, string> = {}) => upload(owner, plainFile(), fields);
const usage = (who: Visitor, { id }: { id: string }) => who.ok('listAssetPosts', { params: { id } });
const featuring = (who: Visitor, { id }: { id: string }) => who.ok('listPostsByAsset', { params: { id } });
const idsOf = (posts: readonly { id: string }[]) => posts.map(({ id }) => id);

const library = await openLibrary();
/** The owner of the assets, which others post. */
const [owner, poster, stranger] = await library.joinAll('owner', 'poster', 'stranger');
const root = await library.join('root', 'admin');

// POST-39
describe('GET /assets/{id}/posts', () => {
  // POST-39
  test('counts the posts that the caller cannot read, and ignores the query', async () => {
    const asset = await another();
    const open = await publish(poster, [asset], { visibility: 'public' });
    for (const body of [{ visibility: 'private' }, { draft: true }] as const)
      await publish(poster, [asset], body);
    const path = `/assets/${asset.id}/posts`;
    const { text } = await owner.send(path);
    const { annotation_counts, ...listed } = await owner.ok('getPost', { params: { id: open.id } });
    expect(annotation_counts).toEqual([]);
    expect(JSON.parse(text)).toEqual({ items: [listed], withheld_count: 2 });
    const others = '?author_ref=1&draft=true&tag=a&q=b';
    for (const query of ['?limit=1', '?cursor=x', '?visibility=private', others])
      expect([query, (await owner.send(path + query)).text]).toEqual([query, text]);
  });

  // POST-39
  test('counts memberships only, not thumbnails', async () => {
    const asset = await another();
    const member = await another();
    expect(await usage(owner, asset)).toEqual({ items: [], withheld_count: 0 });
    await publish(poster, [member], { cover_thumbnail_asset_id: asset.id, visibility: 'private' });
    expect(await usage(owner, asset)).toEqual({ items: [], withheld_count: 0 });
    expect(await usage(owner, member)).toEqual({ items: [], withheld_count: 1 });
  });

  // POST-39
  test('lists the newest 200 of 205 readable posts, and does not count the rest as withheld', async () => {
    const asset = await another();
    const posts = { author: poster, members: [asset.id] };
    const readable = await addPosts(library, { ...posts, count: 205 });
    await addPosts(library, { ...posts, count: 3, visibility: 'private' });
    await addPosts(library, { ...posts, count: 2, visibility: 'public', draft: true });
    const { items, withheld_count } = await usage(owner, asset);
    expect(idsOf(items)).toEqual(readable.slice(0, 200));
    expect(withheld_count).toBe(5);
    const everything = await usage(root, asset);
    expect([everything.items.length, everything.withheld_count]).toEqual([200, 0]);
  });

  test('is exact while posts change concurrently', async () => {
    const asset = await another();
    const posts = await Promise.all(Array.from({ length: 12 }, () => publish(poster, [asset])));
    const totals: number[] = [];
    await Promise.all([
      ...posts.map(({ id }, i) =>
        i % 2
          ? poster.ok('updatePost', { params: { id }, body: { visibility: 'private' } })
          : poster.ok('unpublishPost', { params: { id } }),
      ),
      ...Array.from({ length: 12 }, async () => {
        const { items, withheld_count } = await usage(owner, asset);
        totals.push(withheld_count + items.length);
      }),
    ]);
    // Every post is always in exactly one of the two.
    expect(totals).toEqual(Array.from({ length: 12 }, () => 12));
    expect(await usage(owner, asset)).toEqual({ items: [], withheld_count: 12 });
  });
});

// HTTP-9, POST-41
test('GET /posts/by-asset/{id} is an array of at most the 200 newest; empty for a deleted, unknown or unused asset', async () => {
  const asset = await another();
  for (const id of [asset.id, nowhere])
    expect((await stranger.send(`/posts/by-asset/${id}`)).text).toBe('[]');
  const ids = await addPosts(library, { author: poster, members: [asset.id], count: 205, together: true });
  expect(idsOf(await featuring(stranger, asset))).toEqual(ids.slice(0, 200));
  await owner.ok('deleteAsset', { params: { id: asset.id }, body: undefined });
  for (const who of [stranger, owner, poster, root]) expect(await featuring(who, asset)).toEqual([]);
});
