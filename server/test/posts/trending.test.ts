import type { FeedQuery } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openLibrary, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addPosts, everyPage, everyPost } from './people.ts';

const trending = (query: FeedQuery) => everyPost(reader, { feed: 'trending', ...query });

/** Sets the counters of a post and its time. */
const gathered = (id: string, likes: number, comments: number, at: string) =>
  sql`update posts set like_count = ${likes}, comment_count = ${comments}, posted_at = ${at}::timestamptz
    where id = ${id}`.execute(library.deps.db);

/** Creates posts of a new author, so that each test reads only its own. */
async function authored(name: string, count: number, together = false) {
  const author = await library.join(name);
  return { author, ids: await addPosts(library, { author, members: [asset.id], count, together }) };
}

const library = await openLibrary();
const [mara, reader] = await library.joinAll('mara', 'reader');
const asset = await upload(mara, plainFile());

describe('GET /posts?feed=trending', () => {
  // FEED-11
  test('ranks by interest, then by time; a comment counts more than a like', async () => {
    const { author, ids } = await authored('ordered', 6);
    const [quiet = '', fresh = '', liked = '', loved = '', discussed = '', old = ''] = ids;
    await gathered(quiet, 0, 0, '2026-03-01T12:00:00Z');
    await gathered(fresh, 0, 0, '2026-03-01T12:00:01Z');
    await gathered(liked, 3, 0, '2026-03-01T12:00:00Z');
    await gathered(discussed, 0, 3, '2026-03-01T12:00:00Z');
    await gathered(loved, 90, 0, '2026-03-01T12:00:00Z');
    // Has many likes, but from another month.
    await gathered(old, 900, 90, '2026-02-01T12:00:00Z');
    const ranked = [loved, discussed, liked, fresh, quiet, old];
    for (const query of [{}, { sort: 'oldest', limit: 1 }] as const)
      expect(await trending({ author_ref: author.ref, ...query })).toEqual(ranked);
  });

  // FEED-11
  test('likes, comments and their removal change the rank immediately', async () => {
    const { author, ids } = await authored('moved', 2, true);
    const [first = '', second = ''] = await trending({ author_ref: author.ref });
    expect([first, second].sort()).toEqual([...ids].sort());
    const order = () => trending({ author_ref: author.ref });
    await mara.ok('likePost', { params: { id: second } });
    await reader.ok('likePost', { params: { id: second } });
    expect(await order()).toEqual([second, first]);
    await reader.ok('createComment', { params: { id: first }, body: { body: 'a' } });
    await reader.ok('createComment', { params: { id: first }, body: { body: 'b' } });
    expect(await order()).toEqual([first, second]);
    const { items } = await reader.ok('listComments', { params: { id: first } });
    for (const { id } of items) await reader.ok('deleteComment', { params: { id } });
    expect(await order()).toEqual([second, first]);
  });

  test('pages order posts of equal rank and time by id', async () => {
    const { author, ids } = await authored('tied', 23, true);
    const pages = await everyPage(reader, { feed: 'trending', author_ref: author.ref, limit: 5 });
    expect(pages.map(({ length }) => length)).toEqual([5, 5, 5, 5, 3]);
    expect(pages.flat()).toEqual(ids);
  });

  test('a like between two pages does not repeat a seen post', async () => {
    const { author, ids } = await authored('between', 12);
    const query: FeedQuery = { feed: 'trending', author_ref: author.ref, limit: 4 };
    const first = await reader.ok('listPosts', { query });
    // A post that was already read and one that was not both rise to the top.
    for (const id of [ids[2] ?? '', ids[9] ?? '']) await gathered(id, 5000, 0, '2026-01-01T00:00:10Z');
    const second = await reader.ok('listPosts', { query: { ...query, cursor: first.next_cursor ?? '' } });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect(second.items.map(({ id }) => id)).toEqual(ids.slice(4, 8));
  });

  test('has full pages despite withheld posts, and the filters of the feed', async () => {
    const author = await library.join('hiding');
    const own = await upload(author, plainFile('2'), { sensitivity: 'restricted' });
    const shown = await addPosts(library, { author, members: [asset.id], count: 12 });
    await addPosts(library, { author, members: [own.id], count: 40, from: '2026-01-01T00:00:30Z' });
    const pages = await everyPage(reader, { feed: 'trending', author_ref: author.ref, limit: 5 });
    expect(pages.map(({ length }) => length)).toEqual([5, 5, 2]);
    expect(pages.flat()).toEqual(shown);
    expect(await trending({ author_ref: author.ref, asset: asset.id })).toEqual(shown);
    expect(await trending({ author_ref: author.ref, tag: ['none'] })).toEqual([]);
  });

  // FEED-11
  test('its cursors are a number and a post, and not valid for the latest feed', async () => {
    const numbers = ['2026-01-01T00:00:00Z', 'many', 'NaN', 'Infinity', '1e999'];
    const key = (at: unknown, id: string) => `number ${JSON.stringify({ at, id })}`;
    const keys = numbers.map((number) => key(number, nowhere));
    for (const text of [...keys, 'number', 'number {', key('4500.5', 'x'), key(4500.5, nowhere)]) {
      const cursor = Buffer.from(text).toString('base64url');
      const refused = await reader.refused('listPosts', { query: { feed: 'trending', cursor } });
      expect([text, refused.error]).toEqual([text, 'malformed cursor']);
    }
    const { author } = await authored('crossed', 3);
    const query: FeedQuery = { feed: 'trending', author_ref: author.ref, limit: 1 };
    const { next_cursor } = await reader.ok('listPosts', { query });
    const refused = await reader.refused('listPosts', { query: { limit: 1, cursor: next_cursor ?? '' } });
    expect(refused).toEqual({ status: 400, error: 'malformed cursor' });
  });
});
