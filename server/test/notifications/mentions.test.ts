import type { Visibility } from '@vitrine/contract/visibilities';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { mentionedReaders } from '../../src/people/notifications/mentions.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { grant, revoke, setRole, setStatus } from '../support/people.ts';
import { countStatements } from '../support/statements.ts';
import { addTeam } from '../support/teams.ts';
import { publisher } from './telling.ts';

const CROWD = 30;
const members = ['stranger', 'author', 'follower', 'guest', 'boss', 'former', 'admin', 'editor', 'sacked'];

const people = new Map<string, Account>();

function person(name: string): Account {
  const found = people.get(name);
  if (found === undefined) throw new Error(`nobody is called ${name}`);
  return found;
}

const library = await openLibrary();
for (const name of [...members, 'gone']) people.set(name, await library.join(name));
await setRole(library, person('admin'), 'admin');
const { db } = library.deps;
const team = await addTeam(library, 'print', [person('author')]);
const write = publisher(person('author'));
await person('follower').ok('followUser', { params: { ref: person('author').ref } });
await grant(library, person('boss'), 'posts.admin', team);
await grant(library, person('editor'), 'posts.admin');
for (const name of ['sacked', 'gone', 'former']) await grant(library, person(name), 'posts.admin');
await revoke(library, person('sacked'), 'posts.admin');
await sql`update user_capability_grants set expires_at = now() - interval '1 minute'
    where user_ref = ${person('former').ref}`.execute(db);
await setStatus(library, person('gone'), 'disabled');

const everybody = () => [...people.keys()].map((name) => `@${name}`).join(' ');

/** Returns which of the mentioned accounts are notified of the post. */
async function toldOf(postId: string, text = everybody()): Promise<string[]> {
  const refs = await mentionedReaders(db, text, postId);
  return [...people].flatMap(([name, { ref }]) => (refs.includes(ref) ? [name] : []));
}

/** Returns which of them can open it. */
async function opening(postId: string): Promise<string[]> {
  const path = `/posts/${postId}`;
  const statuses = await Promise.all([...people.values()].map((one) => one.status('GET', path)));
  return [...people.keys()].filter((_, at) => statuses[at] === 200);
}

// NOTICE-4
describe('a mention in a post notifies exactly the accounts that may read the post', () => {
  const readers: [Visibility | 'draft', string[]][] = [
    ['public', members],
    ['org-only', members],
    ['followers', ['author', 'follower', 'boss', 'admin', 'editor']],
    ['explicit-share', ['author', 'guest', 'boss', 'admin', 'editor']],
    ['private', ['author', 'boss', 'admin', 'editor']],
    ['draft', ['author', 'boss', 'admin', 'editor']],
  ];
  // NOTICE-4
  test.each(readers)('%s', async (kind, expected) => {
    const { id } = await write({
      team_id: team,
      ...(kind === 'draft' ? { draft: true } : { visibility: kind }),
    });
    await sql`insert into post_shares (post_id, user_ref) values (${id}, ${person('guest').ref})`.execute(db);
    expect(await toldOf(id)).toEqual(expected);
    expect(await opening(id)).toEqual(expected);
  });

  test('a mention in a deleted post notifies no one', async () => {
    const { id } = await write();
    await person('author').ok('deletePost', { params: { id }, body: undefined });
    expect(await toldOf(id)).toEqual([]);
  });
});

test('three statements find the readers among any number of mentioned accounts', {
  tags: ['one-process'],
}, async () => {
  const { id } = await write({ visibility: 'followers' });
  await sql`with crowd as (
      insert into users (username, role_id) select 'crowd' || n, (select role_id from users where ref = ${person('author').ref})
      from generate_series(1, ${CROWD}) n returning ref)
    insert into user_follows (follower_user_ref, followed_user_ref)
    select ref, ${person('author').ref} from crowd`.execute(db);
  for (const some of [1, 5, CROWD]) {
    const text = Array.from({ length: some }, (_, n) => `@crowd${n + 1}`).join(' ');
    const [refs, statements] = await countStatements(library, () => mentionedReaders(db, text, id));
    expect([refs.length, statements]).toEqual([some, 3]);
  }
  expect(await countStatements(library, () => mentionedReaders(db, 'nobody at all', id))).toEqual([[], 0]);
  // A mention counts once, also before a comma, where it may be two names.
  const listed = Array.from({ length: CROWD }, (_, n) => `@crowd${n + 1}`).join(', ');
  expect(await mentionedReaders(db, `${listed}, @author`, id)).toHaveLength(CROWD);
});
