import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addPosts } from './people.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const author = await library.join('author');
const stranger = await library.join('stranger', 'viewer');
const curator = await library.join('curator', 'viewer');
await grant(library, curator, 'posts.admin');
const picture = await upload(author, plainFile());
const locked = await upload(author, plainFile(), { sensitivity: 'restricted' });

beforeEach(async () => {
  await db.deleteFrom('featured_posts').execute();
});

const post = async (body: object = {}, asset = picture) =>
  (await publish(author, [asset], { visibility: 'public', ...body })).id;
const feature = (id: string, position?: number, who: Visitor = curator) =>
  who.ok('featurePost', { params: { id }, body: position === undefined ? undefined : { position } });
const rail = async (who: Visitor = root) => (await who.ok('listFeatured')).map(({ id }) => id);
/** Puts posts into the list directly, in this order. */
const fill = (ids: readonly string[]) =>
  sql`insert into featured_posts (post_id, position)
    select id, place - 1 from unnest(${[...ids]}::uuid[]) with ordinality t (id, place)`.execute(db);

async function featured(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await post());
  for (const id of ids) await feature(id);
  return ids;
}

// POST-44
test('GET /posts/featured lists the posts that the caller can read, in order, with the feed’s rule on withheld members', async () => {
  const [open, hidden] = [await post(), await post({ visibility: 'private' })];
  const [org, closed] = [await post({ visibility: 'org-only' }), await post({}, locked)];
  for (const id of [hidden, open, org, closed]) await feature(id);
  expect(await rail(stranger)).toEqual([open, org]);
  expect(await rail(author)).toEqual([hidden, open, org, closed]);
  const [first] = await stranger.ok('listFeatured');
  expect({ ...first, annotation_counts: [] }).toEqual(await stranger.ok('getPost', { params: { id: open } }));
  const reader = await library.join('keeps placeholders', 'viewer');
  await reader.ok('updatePreferences', { body: { feed_filters: { show_restricted: true } } });
  const withheld = (await reader.ok('listFeatured')).at(-1);
  expect(withheld?.members).toMatchObject([{ restricted: true }]);
});

describe('PUT and DELETE /posts/{id}/featured', () => {
  test('adds at the end or at a position; again moves it, or leaves it', async () => {
    const [a, b, c] = [await post(), await post(), await post()];
    await feature(a);
    await feature(b);
    await feature(c, 0);
    expect(await rail()).toEqual([c, a, b]);
    await feature(a);
    expect(await rail()).toEqual([c, a, b]);
    await feature(a, 0);
    expect(await rail()).toEqual([a, c, b]);
    await feature(a, 1);
    expect(await rail()).toEqual([c, a, b]);
    await feature(c, 49);
    expect(await rail()).toEqual([a, b, c]);
    await curator.ok('unfeaturePost', { params: { id: b } });
    await curator.ok('unfeaturePost', { params: { id: b } });
    expect(await rail()).toEqual([a, c]);
  });

  // POST-44
  test('answers 404 for an unknown or deleted post, 409 for a draft; a null position is the end', async () => {
    const [draft, gone, last] = [await post({ draft: true }), await post(), await post()];
    await author.ok('deletePost', { params: { id: gone }, body: undefined });
    const put = (id: string, body?: object) => curator.status('PUT', `/posts/${id}/featured`, body);
    expect([await put(nowhere), await put(gone), await put(draft)]).toEqual([404, 404, 409]);
    expect(await put(last, { position: null })).toBe(204);
    expect(await curator.status('DELETE', `/posts/${nowhere}/featured`)).toBe(404);
    expect(await rail()).toEqual([last]);
  });

  // POST-44
  test('accepts 50 posts; the 51st is 409; one that returns to a full list keeps its place', async () => {
    const ids = await addPosts(library, { author, members: [picture.id], count: 51, visibility: 'public' });
    const [last = '', ...others] = ids;
    await fill(others);
    expect(await rail()).toEqual(others);
    expect(await curator.status('PUT', `/posts/${last}/featured`)).toBe(409);
    await curator.ok('unfeaturePost', { params: { id: others[0] ?? '' } });
    await feature(last);
    expect((await rail()).at(-1)).toBe(last);

    await db.deleteFrom('featured_posts').execute();
    await fill(ids);
    const shown = await rail(curator);
    expect(shown).toEqual(ids.slice(0, 50));
    const turned = shown.toReversed();
    await curator.ok('orderFeatured', { body: { post_ids: turned } });
    expect(await rail(curator)).toEqual(turned);
    await curator.ok('unfeaturePost', { params: { id: turned[0] ?? '' } });
    expect(await rail(curator)).toEqual([...turned.slice(1), ids[50]]);
  });

  // POST-44
  test('a deleted or unpublished post leaves the list and returns to its place', async () => {
    const [a = '', b = '', c = ''] = await featured(3);
    await author.ok('deletePost', { params: { id: b }, body: undefined });
    expect(await rail()).toEqual([a, c]);
    await curator.ok('orderFeatured', { body: { post_ids: [c, a] } });
    await author.ok('restorePost', { params: { id: b } });
    expect(await rail()).toEqual([c, b, a]);
    await author.ok('unpublishPost', { params: { id: c } });
    expect(await rail()).toEqual([b, a]);
    await author.ok('publishPost', { params: { id: c }, body: undefined });
    expect(await rail()).toEqual([c, b, a]);
  });

  // POST-44
  test('is audited', async () => {
    const id = await post();
    await feature(id, 0);
    await curator.ok('unfeaturePost', { params: { id } });
    expect(await auditEvents(library, { target_id: id })).toMatchObject([
      { event: 'post.featured', actor_user_ref: curator.ref, metadata: { position: 0 } },
      { event: 'post.unfeatured', actor_user_ref: curator.ref, metadata: {} },
    ]);
  });
});

describe('PUT /posts/featured/order', () => {
  // POST-45
  test('requires the whole list, each post once; otherwise nothing changes', async () => {
    const ids = await featured(3);
    const [a = '', b = '', c = ''] = ids;
    const put = (post_ids: unknown) => curator.status('PUT', '/posts/featured/order', { post_ids });
    const other = await post();
    expect(await put([a, b])).toBe(409);
    expect(await put([a, b, other])).toBe(409);
    expect(await put([a, b, c, other])).toBe(409);
    expect(await put([a, b, b])).toBe(400);
    expect(await rail()).toEqual(ids);
    expect(await put([c, a.toUpperCase(), b])).toBe(204);
    expect(await rail()).toEqual([c, a, b]);
  });

  // POST-45
  test('keeps the place of posts that are withheld from the sender', async () => {
    const [a, hidden, b] = [await post(), await post({}, locked), await post()];
    for (const id of [a, hidden, b]) await feature(id, undefined, root);
    expect(await rail(curator)).toEqual([a, b]);
    await curator.ok('orderFeatured', { body: { post_ids: [b, a] } });
    expect(await rail(root)).toEqual([b, hidden, a]);
    expect(await root.status('PUT', '/posts/featured/order', { post_ids: [a, b] })).toBe(409);
    await root.ok('orderFeatured', { body: { post_ids: [hidden, a, b] } });
    expect(await rail(root)).toEqual([hidden, a, b]);
  });

  test('twenty concurrent changes keep every post in the list once', async () => {
    const ids = await featured(4);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const id = ids[i % 4] ?? '';
        return i % 2 === 0
          ? feature(id, i % 3)
          : curator.ok('orderFeatured', { body: { post_ids: [...ids].reverse() } });
      }),
    );
    expect([...(await rail())].sort()).toEqual([...ids].sort());
    const { rows } = await sql`select position from featured_posts order by position`.execute(db);
    expect(rows).toEqual([0, 1, 2, 3].map((position) => ({ position })));
  });
});
