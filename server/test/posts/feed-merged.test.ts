import { describe, expect, test } from 'vitest';
import { type Account, openLibrary } from '../support/library.ts';
import { countStatements } from '../support/statements.ts';
import { addTeam } from '../support/teams.ts';
import { addPosts, everyPage, everyPost } from './people.ts';

/** The time of an author's first post; authors begin an hour apart, so that their lists partly overlap. */
const hour = (n: number) => `2026-03-01T${String(n).padStart(2, '0')}:00:00Z`;

/** Returns the whole feed of the people that the fan follows, in the order of the common feed. */
async function expected(sort: 'newest' | 'oldest'): Promise<string[]> {
  const all = await everyPost(fan, { sort, limit: 200 });
  const theirs = await Promise.all(authors.map(({ ref }) => everyPost(fan, { author_ref: ref, limit: 200 })));
  const followed = new Set(theirs.flat());
  return all.filter((id) => followed.has(id));
}

const library = await openLibrary();
const fan = await library.join('fan');
const authors: Account[] = [];
for (const name of ['ann', 'bob', 'cy', 'dee', 'eve']) authors.push(await library.join(name));
const stranger = await library.join('stranger');
for (const [n, author] of authors.entries()) {
  await fan.ok('followUser', { params: { ref: author.ref } });
  await addPosts(library, { author, members: [], count: 7 * n, from: hour(1), together: n === 2 });
  await addPosts(library, { author, members: [], count: 3, from: hour(n + 2), visibility: 'followers' });
  await addPosts(library, { author, members: [], count: 2, from: hour(n + 2), visibility: 'private' });
  await addPosts(library, { author, members: [], count: 2, from: hour(n + 3), draft: true });
  await addPosts(library, { author: stranger, members: [], count: 5, from: hour(n + 1) });
}

// FEED-8
describe('the feed of followed accounts', () => {
  test.each([
    ['newest', 1],
    ['newest', 4],
    ['oldest', 3],
    ['newest', 200],
  ] as const)('has each of their posts once, %s first, by pages of %i', async (sort, limit) => {
    const pages = await everyPage(fan, { feed: 'following', sort, limit });
    expect(pages.flat()).toEqual(await expected(sort));
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  });

  test('continues after any number of hidden posts', async () => {
    const [reader, shy] = await library.joinAll('reader', 'shy');
    await reader.ok('followUser', { params: { ref: shy.ref } });
    const [first = ''] = await addPosts(library, { author: shy, members: [], count: 1, from: hour(5) });
    const [second = ''] = await addPosts(library, { author: shy, members: [], count: 1, from: hour(4) });
    const few = { author: shy, members: [], visibility: 'private' } as const;
    const pages = (sort: 'newest' | 'oldest') => everyPage(reader, { feed: 'following', sort, limit: 1 });
    await addPosts(library, { ...few, count: 6, from: hour(6) });
    expect(await pages('newest')).toEqual([[first], [second]]);
    await addPosts(library, { ...few, count: 150, from: hour(7) });
    expect(await pages('newest')).toEqual([[first], [second]]);
    expect(await pages('oldest')).toEqual([[second], [first]]);
  });

  // FEED-13
  test('takes as many statements as the feed of all posts', { tags: ['one-process'] }, async () => {
    const ask = (query: { feed?: 'following' }) =>
      countStatements(library, () => fan.ok('listPosts', { query }));
    await ask({ feed: 'following' });
    const [, plain] = await ask({});
    const [, merged] = await ask({ feed: 'following' });
    expect(merged).toBe(plain);
  });
});

// FEED-8
test('the feed of the caller’s teams merges the posts of all of them in one order', async () => {
  const [ann, bob] = authors;
  if (ann === undefined || bob === undefined) throw new Error('two authors');
  const reader = await library.join('teamreader');
  const teams = [await addTeam(library, 'one', [reader]), await addTeam(library, 'two', [reader])];
  const made: string[] = [];
  for (const [n, team_id] of [...teams, teams[0]].entries()) {
    const author = n === 1 ? bob : ann;
    const ids = await addPosts(library, { author, members: [], count: 4, from: hour(10 + n) });
    await library.deps.db.updateTable('posts').set({ team_id }).where('id', 'in', ids).execute();
    made.unshift(...ids);
  }
  const pages = await everyPage(reader, { feed: 'team', limit: 5 });
  expect(pages.map((page) => page.length)).toEqual([5, 5, 2]);
  expect(pages.flat()).toEqual(made);
});
