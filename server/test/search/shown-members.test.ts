import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { shownAssets } from '../../src/access/assets.ts';
import { callerOf } from '../../src/access/caller-of.ts';
import { everyPost } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { grant } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

/**
 * A search for a common word decides about many posts at once, by the members that every caller of a kind is shown
 * (migration 0057). It must find the posts of the caller's feed, which decides about one post after the other.
 */

const POSTS = 640;

/** Returns a choice that depends on the row `n` and the salt only. */
const dice = (salt: number, most: number) =>
  sql`(abs(hashint4(n + ${salt}::integer)::bigint) % ${most}::integer)`;
const sensitivities = sql`(array['posts', 'posts', 'public', 'org', 'team', 'restricted', 'restricted', 'restricted'])`;

const library = await openLibrary({}, { connections: 2 });
const [mara, ines, reader] = await library.joinAll('mara', 'ines', 'reader');
const root = await library.join('root', 'admin');
await grant(library, reader, 'content.read.all');
await ines.ok('followUser', { params: { ref: mara.ref } });
await library.setPublicMode(true);
const team = await addTeam(library, 'lights', [ines]);
const { db } = library.deps;
await sql`insert into files (hash, size_bytes, mime, extension)
    values (repeat('a', 64), 1, 'image/jpeg', 'jpg')`.execute(db);
await sql`insert into assets (id, owner_user_ref, team_id, title, asset_type, file_hash, file_name, processing_status,
      status, sensitivity)
    select md5('asset' || n)::uuid, case when n % 9 = 0 then ${ines.ref}::bigint else ${mara.ref}::bigint end,
      case when n % 5 = 0 then ${team}::uuid end, 'file', 1, repeat('a', 64), n || '.jpg',
      (array['ready', 'ready', 'ready', 'pending', 'failed'])[1 + ${dice(3, 5)}],
      (array['active', 'active', 'active', 'archived'])[1 + ${dice(5, 4)}], ${sensitivities}[1 + ${dice(7, 8)}]
    from generate_series(1, ${POSTS * 2}::integer) n`.execute(db);
await sql`insert into posts (id, author_user_ref, title, visibility, state_id, posted_at, created_at, updated_at)
    select md5('post' || n)::uuid, case when n % 9 = 0 then ${ines.ref}::bigint else ${mara.ref}::bigint end, 'common',
      (array['public', 'public', 'org-only', 'followers', 'private', 'explicit-share'])[1 + ${dice(11, 6)}],
      (select id from workflow_states where domain = 'post' and code = case when n % 20 = 0 then 'wip' else 'published' end),
      t, t, t
    from generate_series(1, ${POSTS}::integer) n,
      lateral (select timestamptz '2026-01-01' + n * interval '1 second' as t) x`.execute(db);
// Posts without members, with one and with two.
await sql`insert into post_members (post_id, asset_id, sort_order)
    select md5('post' || n)::uuid, md5('asset' || (2 * n - m))::uuid, m
    from generate_series(1, ${POSTS}::integer) n, generate_series(0, 1) m
    where m < n % 7 and m < 2`.execute(db);

/** Returns the rows that differ from what the members of all posts require. */
async function wrongRows(): Promise<unknown[]> {
  const { rows } = await sql`with due as (
      select m.post_id, m.asset_id, p.posted_at, x.audience
      from post_members m join posts p on p.id = m.post_id join assets a on a.id = m.asset_id cross join lateral (
        select member_audience(a.deleted_at, a.status, shown_status(a.processing_status, a.interim_hash),
          a.sensitivity, a.exposure) as audience) x
      where x.audience is not null),
    kept as (select post_id, asset_id, posted_at, audience from shown_members)
    (select 'missing' as what, d.* from (select * from due except select * from kept) d)
    union all
    (select 'false' as what, k.* from (select * from kept except select * from due) k)`.execute(db);
  return rows;
}

/** Returns the posts of the feed. */
const posted = (visitor: Visitor) => everyPost(visitor, { limit: 200, sort: 'newest' });

/** Returns the posts that a search for a word of all posts finds. */
async function found(visitor: Visitor): Promise<string[]> {
  const query = { q: 'common', kind: 'post', limit: 200, sort: 'newest' } as const;
  const pages = await pagesOf((from) => visitor.ok('search', { query: { ...query, ...from } }));
  return pages.flat().map((hit) => (hit.kind === 'post' ? hit.post.id : hit.kind));
}

/** Rows of a table as `key`, with a number `n` each. */
const numbered = (table: 'assets' | 'posts') =>
  sql`(select id as key, row_number() over (order by id)::integer as n from ${sql.table(table)}) numbered`;

/** Statements that change what callers are shown, grouped: a search is compared with the feed after each group. */
const changes: readonly (readonly [what: string, statements: readonly RawBuilder<unknown>[]])[] = [
  ['nothing changes', []],
  [
    'files change their sensitivity, team, owner and status or are deleted',
    [
      sql`update assets set sensitivity = ${sensitivities}[1 + ${dice(13, 8)}], team_id = null,
          owner_user_ref = case when n % 4 = 0 then (select max(ref) from users) else owner_user_ref end
        from ${numbered('assets')} where id = key and n % 3 = 0`,
      sql`update assets set status = case when n % 6 = 0 then 'archived' else 'active' end,
          processing_status = case when n % 4 = 0 then 'failed' else 'ready' end,
          deleted_at = case when n % 10 = 0 then now() end
        from ${numbered('assets')} where id = key and n % 2 = 0`,
    ],
  ],
  [
    'posts change their visibility and time',
    [
      sql`update posts set visibility = (array['public', 'org-only', 'private'])[1 + ${dice(17, 3)}],
          posted_at = posted_at + ${dice(19, 500)} * interval '1 second'
        from ${numbered('posts')} where id = key and n % 3 = 0`,
    ],
  ],
  [
    'posts are deleted, members leave, and files and posts are deleted for good',
    [
      sql`update posts set deleted_at = now() from ${numbered('posts')} where id = key and n % 5 = 0`,
      sql`delete from post_members using ${numbered('posts')} where post_id = key and sort_order = 1 and n % 4 = 0`,
      sql`delete from assets where deleted_at is not null`,
      sql`delete from posts where deleted_at is not null`,
    ],
  ],
];

// SEARCH-2, FEED-3
test.each(changes)(
  'a search for a word of every post finds those of the feed when %s',
  async (_what, statements) => {
    expect(await wrongRows()).toEqual([]);
    for (const [nth, statement] of statements.entries()) {
      await statement.execute(db);
      expect([nth, await wrongRows()]).toEqual([nth, []]);
    }
    for (const visitor of [ines, mara, reader, root, library.anonymous()])
      expect(await found(visitor)).toEqual(await posted(visitor));
  },
);

// ASSET-1, ASSET-4
test('members that every caller is shown pass the rule of each caller', async () => {
  const callers = await Promise.all([ines, mara, reader, root].map(({ ref }) => callerOf(db, ref)));
  const cases = [
    ...callers.map((caller) => [caller, ['public', 'org-only']] as const),
    [{ kind: 'anonymous' }, ['public']] as const,
  ];
  for (const [caller, audiences] of cases) {
    if (caller === null) throw new Error('an account is missing');
    const { rows } = await sql<{ shown: boolean; rows: number }>`
      select ${shownAssets(caller)} as shown, count(*) as rows
      from shown_members s join assets a on a.id = s.asset_id
      where s.audience = any(${audiences}::text[]) group by 1`.execute(db);
    expect(rows.map(({ shown }) => shown)).toEqual([true]);
  }
});

test('inserting many assets in one statement reads rows in proportion to their number', {
  tags: ['one-process'],
}, async () => {
  const count = 2000;
  const read = await db.transaction().execute(async (tx) => {
    const rowsRead = async () => {
      const { rows } = await sql<{ n: number }>`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as n
        from pg_stat_xact_user_tables`.execute(tx);
      return rows[0]?.n ?? 0;
    };
    const before = await rowsRead();
    await sql`insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, processing_status)
      select ${mara.ref}::bigint, 'one of many', 1, repeat('a', 64), n || '.jpg', 'ready'
      from generate_series(1, ${count}::integer) n`.execute(tx);
    return (await rowsRead()) - before;
  });
  expect(read).toBeLessThan(50 * count);
});
