import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { notifyOf } from '../../src/people/notifications/jobs/notify.ts';
import { openLibrary } from '../support/library.ts';
import { watchStatements } from '../support/statements.ts';
import { comment, publisher, settle, unread } from './telling.ts';

const WATCHERS = 2000;

const library = await openLibrary();
const [author, first] = await library.joinAll('author', 'first');
const post = await publisher(author)({ title: 'Watched' });
const { db } = library.deps;
await sql`with crowd as (
      insert into users (username, role_id, email)
      select 'crowd' || n, (select role_id from users where ref = ${author.ref}), 'crowd' || n || '@example.org'
      from generate_series(1, ${WATCHERS - 1}) n returning ref)
    insert into post_watches (post_id, user_ref, watching)
    select ${post.id}::uuid, ref, true
    from crowd union all select ${post.id}::uuid, ${first.ref}, true`.execute(db);

const rowsOf = async (commentId: string) => {
  const { rows } = await sql`select count(*) as n, count(distinct user_ref) as people
    from notifications where comment_id = ${commentId}`.execute(db);
  return rows[0];
};

test('answers a comment on a post with 2,000 watchers before notifying them', async () => {
  const { id } = await comment(author, post, 'news');
  expect(await rowsOf(id)).toEqual({ n: 0, people: 0 });
  await settle(library);
  expect(await rowsOf(id)).toEqual({ n: WATCHERS, people: WATCHERS });
  expect(await unread(first)).toBe(1);
  // Repeating it, also concurrently, notifies nobody twice.
  const again = { what: 'comment', comment: id, answers: null } as const;
  await Promise.all([notifyOf(db, again), notifyOf(db, again)]);
  expect(await rowsOf(id)).toEqual({ n: WATCHERS, people: WATCHERS });
});

// NOTICE-16
test('notifies each account once when the job is interrupted and resumed', async () => {
  const { id } = await comment(author, post, 'more news');
  // The state after a kill between two chunks: the first thousand are notified.
  await sql`insert into notifications (user_ref, kind, act, post_id, comment_id, in_app, mail)
    select user_ref, 'watched_comment', ${`comment:${id}`}, post_id, ${id}::uuid, true, 'off'
    from post_watches
    where post_id = ${post.id} and user_ref <> ${author.ref} order by user_ref limit 1000`.execute(db);
  await settle(library);
  expect(await rowsOf(id)).toEqual({ n: WATCHERS, people: WATCHERS });
});

test('enqueues one mail job per notification with immediate mail', async () => {
  await sql`insert into notification_preferences (user_ref, kinds)
    select user_ref, '{"watched_comment": {"in_app": true, "mail": "now"}}' from post_watches
    where user_ref <> ${first.ref}`.execute(db);
  const { id } = await comment(author, post, 'urgent');
  const event = { what: 'comment', comment: id, answers: null } as const;
  await notifyOf(db, event);
  await notifyOf(db, event);
  const { rows } = await sql<{ n: number }>`select count(*) as n from graphile_worker.jobs
    where task_identifier = 'mail-notification'`.execute(db);
  expect(rows[0]?.n).toBe(WATCHERS - 1);
});

test('reads a thousand notifications with one indexed statement', { tags: ['one-process'] }, async () => {
  const other = await publisher(author)({ title: 'Watched by as many' });
  await sql`insert into post_watches (post_id, user_ref, watching)
    select ${other.id}::uuid, user_ref, true from post_watches where post_id = ${post.id}`.execute(db);
  await sql`analyze post_watches`.execute(db);
  const { id } = await comment(author, post, 'the last news');
  const [, statements] = await watchStatements(library, () =>
    notifyOf(db, { what: 'comment', comment: id, answers: null }),
  );
  const telling = statements.filter(({ text }) => text.includes('from post_watches w\n'));
  // Two full chunks, and one statement that finds no more accounts.
  expect(telling).toHaveLength(WATCHERS / 1000 + 1);
  for (const { text, values } of telling.slice(0, 2)) {
    const { rows } = await library.database.pool.query(`explain ${text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index (Only )?Scan using post_watches_pkey/);
    expect(plan).not.toMatch(/on post_watches w .*\n.*Filter: .*post_id/);
  }
});
