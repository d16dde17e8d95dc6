import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Account, openLibrary } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { nowhere } from '../support/people.ts';
import { comment, publisher, settle, told, unread } from './telling.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [author, follower, watcher] = await library.joinAll('author', 'follower', 'watcher');
const write = publisher(author);

// NOTICE-1
describe('a notification about content that is not readable any more', () => {
  // NOTICE-1
  test('is missing from list and count until it is readable again', async () => {
    const post = await write({ title: 'Secret plans' });
    const params = { id: post.id };
    await watcher.ok('watchPost', { params });
    const { id } = await comment(follower, post, 'a secret word');
    const count = async () => {
      const shown = await told(library, watcher);
      expect(await unread(watcher)).toBe(shown.length);
      return shown.length;
    };
    expect(await count()).toBe(1);
    const changes: [string, () => Promise<unknown>, number][] = [
      ['private', () => author.ok('updatePost', { params, body: { visibility: 'private' } }), 0],
      ['org-only', () => author.ok('updatePost', { params, body: { visibility: 'org-only' } }), 1],
      ['deleted', () => author.ok('deletePost', { params, body: {} }), 0],
      ['restored', () => author.ok('restorePost', { params }), 1],
      ['without the comment', () => author.ok('deleteComment', { params: { id } }), 0],
    ];
    for (const [label, change, due] of changes) {
      await change();
      expect([label, await count()]).toEqual([label, due]);
    }
  });

  // NOTICE-6
  test('returns 404 when marked as read', async () => {
    const post = await write({ title: 'Hidden' });
    await watcher.ok('watchPost', { params: { id: post.id } });
    await comment(root, post);
    const [row] = await told(library, watcher);
    const id = row?.id ?? '';
    const mark = (who: Account) => who.send(`/account/notifications/${id}/read`, { method: 'POST' });
    for (const one of [author, follower, root])
      expect([one.username, (await mark(one)).status]).toEqual([one.username, 404]);
    await author.ok('updatePost', { params: { id: post.id }, body: { visibility: 'private' } });
    expect((await mark(watcher)).status).toBe(404);
    await watcher.ok('readAllNotifications');
    await author.ok('updatePost', { params: { id: post.id }, body: { visibility: 'org-only' } });
    expect((await told(library, watcher))[0]).toMatchObject({ id, read: false });
    expect((await mark(watcher)).status).toBe(204);
    expect((await mark(watcher)).status).toBe(204);
    expect((await told(library, watcher))[0]).toMatchObject({ id, read: true });
    expect((await watcher.refused('readNotification', { params: { id: nowhere } })).status).toBe(404);
  });

  // NOTICE-1, IDENTITY-6
  test('shows the current title and text, no actor if the event has none, and goes with its target', async () => {
    const post = await write({ title: 'Before' });
    const { id } = await comment(follower, post, 'rude');
    const swift = await comment(follower, post);
    // Deleted before the job: nobody is notified of it.
    await author.ok('deleteComment', { params: { id: swift.id } });
    await settle(library);
    await follower.ok('updateComment', { params: { id }, body: { body: 'kind' } });
    await author.ok('updatePost', { params: { id: post.id }, body: { title: 'After' } });
    const shown = { post: { title: 'After' }, comment: { excerpt: 'kind' } };
    expect((await told(library, author))[0]).toMatchObject({ ...shown, actor: { ref: follower.ref } });
    const { db } = library.deps;
    await sql`update notifications set actor_user_ref = 999999 where comment_id = ${id}`.execute(db);
    expect((await told(library, author))[0]).not.toHaveProperty('actor');
    const rows = () =>
      db.selectFrom('notifications').select('comment_id').where('post_id', '=', post.id).execute();
    expect(await rows()).toEqual([{ comment_id: id }]);
    await db.deleteFrom('posts').where('id', '=', post.id).execute();
    expect(await rows()).toEqual([]);
  });
});

describe('the list', () => {
  test('is paged newest first without duplicates', async () => {
    const reader = await library.join('reader');
    const post = await publisher(reader)({ title: 'Long' });
    for (let n = 0; n < 5; n += 1) await comment(follower, post, `${n}`);
    await settle(library);
    const pages = await pagesOf((from) => reader.ok('listNotifications', { query: { limit: 3, ...from } }));
    expect(pages.map((items) => items.map((item) => item.comment?.excerpt))).toEqual([
      ['4', '3', '2'],
      ['1', '0'],
    ]);
  });

  test('stops counting at 1000', async () => {
    const many = await library.join('many');
    await sql`insert into notifications (user_ref, kind, act, post_id, in_app, mail)
      select ${many.ref}, 'mention', 'test:' || n, p.id, true, 'off'
      from generate_series(1, 1005) n,
        (select id from posts where deleted_at is null and not draft limit 1) p`.execute(library.deps.db);
    expect(await unread(many)).toBe(1000);
    await many.ok('readAllNotifications');
    expect(await unread(many)).toBe(0);
  });
});

// NOTICE-17
test('a notification is removed after 180 days, read or not', async () => {
  const reader = await library.join('archivist');
  const post = await publisher(reader)({ title: 'Old and new' });
  for (const text of ['old', 'recent']) {
    await comment(follower, post, text);
    await settle(library);
  }
  const [recent, old] = await told(library, reader);
  for (const [one, days] of [
    [old, 181],
    [recent, 179],
  ] as const)
    await sql`update notifications set happened_at = now() - make_interval(days => ${days})
      where id = ${one?.id}`.execute(library.deps.db);
  await sql`select graphile_worker.add_job('forget-notifications')`.execute(library.deps.db);
  expect((await told(library, reader)).map(({ id }) => id)).toEqual([recent?.id]);
});
