import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

/** Accounts that write concurrently. */
const WRITERS = 24;

let post: string;

const library = await openLibrary();
const { db } = library.deps;
const mara = await library.join('mara');
const picture = await upload(mara, plainFile());
const writers = await Promise.all(Array.from({ length: WRITERS }, (_, i) => library.join(`writer${i}`)));

beforeEach(async () => {
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

/** Returns the counters of the post next to the numbers of rows they count, and how many other counters are wrong. */
async function counters() {
  const { rows: posts } = await sql<Record<'likes' | 'liked' | 'comments' | 'live', number>>`
    select p.like_count as likes, p.comment_count as comments,
      (select count(*) from post_likes l where l.post_id = p.id) as liked,
      (select count(*) from comments c where c.post_id = p.id and c.deleted_at is null) as live
    from posts p where p.id = ${post}`.execute(db);
  const { rows: drifted } = await sql`
    select c.id from comments c where c.post_id = ${post} and (
      c.like_count <> (select count(*) from comment_likes l where l.comment_id = c.id)
      or c.reply_count <> (select count(*) from comments r where r.parent_id = c.id and r.deleted_at is null))`.execute(
    db,
  );
  const { rows: orphans } = await sql`
    select r.id from comments r join comments c on c.id = r.parent_id
    where r.post_id = ${post} and r.deleted_at is null and c.deleted_at is not null`.execute(db);
  const [row] = posts;
  if (row === undefined) throw new Error('the post is not there');
  return { ...row, drifted: drifted.length, orphans: orphans.length };
}

const consistent = { drifted: 0, orphans: 0 };

/** Comments without checking the response against the contract, which other tests do, and returns the id. */
async function say(caller: Visitor, body: string, parentId?: string): Promise<{ id: string }> {
  const sent = { body, ...(parentId === undefined ? {} : { parent_id: parentId }) };
  const answer = await caller.send(`/posts/${post}/comments`, { method: 'POST', body: sent });
  expect([answer.status, answer.status === 201 ? '' : answer.text]).toEqual([201, '']);
  return JSON.parse(answer.text);
}

/** Returns the distinct statuses of these responses in ascending order. */
const statusesOf = (answers: { status: number }[]) =>
  [...new Set(answers.map(({ status }) => status))].sort();

// LIKE-3
test('counts concurrent likes, and those left after concurrent unlikes of half of them', async () => {
  const params = { id: post };
  await Promise.all(writers.map((writer) => writer.ok('likePost', { params })));
  expect(await counters()).toEqual({ ...consistent, likes: WRITERS, liked: WRITERS, comments: 0, live: 0 });
  const half = WRITERS / 2;
  await Promise.all(writers.slice(0, half).map((writer) => writer.ok('unlikePost', { params })));
  expect(await counters()).toEqual({ ...consistent, likes: half, liked: half, comments: 0, live: 0 });
  expect(await mara.ok('getLike', { params })).toEqual({ liked: false, like_count: half });
});

// LIKE-3
test('counts right after mixed concurrent likes and unlikes of the same callers', async () => {
  const few = writers.slice(0, 10);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      (few[i % 10] ?? mara).send(`/posts/${post}/like`, { method: i % 3 === 0 ? 'DELETE' : 'POST' }),
    ),
  );
  expect(statusesOf(answers)).toEqual([200]);
  const { likes, liked } = await counters();
  expect(likes).toBe(liked);
  // The previous state depends on the order of arrival: now all accounts like it, and then none.
  await Promise.all(few.map((writer) => writer.ok('likePost', { params: { id: post } })));
  expect(await counters()).toMatchObject({ likes: 10, liked: 10 });
  await Promise.all(few.map((writer) => writer.ok('unlikePost', { params: { id: post } })));
  expect(await counters()).toMatchObject({ likes: 0, liked: 0 });
});

test('lists and counts each concurrent comment once, and replies to and likes of one of them', async () => {
  const made = await Promise.all(writers.map((writer, i) => say(writer, `number ${i}`)));
  const { items } = await mara.ok('listComments', { params: { id: post }, query: { limit: 200 } });
  expect(new Set(items.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)));
  const { comment_count, comments_preview } = await mara.ok('getPost', { params: { id: post } });
  expect(comment_count).toBe(WRITERS);
  expect(comments_preview?.map(({ id }) => id)).toEqual(items.slice(0, 3).map(({ id }) => id));

  const id = made[0]?.id ?? '';
  await Promise.all(
    writers.flatMap((writer) => [say(writer, 'x', id), writer.ok('likeComment', { params: { id } })]),
  );
  const comments = 2 * WRITERS;
  expect(await counters()).toEqual({ ...consistent, likes: 0, liked: 0, comments, live: comments });
  const again = await mara.ok('listComments', { params: { id: post }, query: { limit: 200 } });
  const counts = { reply_count: WRITERS, like_count: WRITERS };
  expect(again.items.find((one) => one.id === id)).toMatchObject(counts);
});

// HTTP-36, POST-34
test('keeps all counters consistent, without a 500, while many accounts like, comment, edit and delete', async () => {
  const roots = await Promise.all([1, 2, 3, 4].map((n) => say(mara, `root ${n}`)));
  const seen: number[] = [];
  const ask = async (caller: Visitor, method: string, path: string, body?: unknown) => {
    const answer = await caller.send(path, { method, ...(body === undefined ? {} : { body }) });
    seen.push(answer.status);
    const answered: { id?: string } = answer.text === '' ? {} : JSON.parse(answer.text);
    return answered.id ?? null;
  };
  await Promise.all(
    writers.map(async (writer, i) => {
      const root = roots[i % 4]?.id ?? '';
      await ask(writer, 'POST', `/posts/${post}/like`);
      const own = await ask(writer, 'POST', `/posts/${post}/comments`, { body: `by ${i}` });
      const reply = await ask(writer, 'POST', `/posts/${post}/comments`, { body: 'x', parent_id: root });
      await ask(writer, 'POST', `/comments/${root}/like`);
      if (i % 2 === 0) await ask(writer, 'DELETE', `/posts/${post}/like`);
      if (i % 3 === 0 && own !== null) await ask(writer, 'DELETE', `/comments/${own}`);
      if (i % 5 === 0 && reply !== null) await ask(writer, 'DELETE', `/comments/${reply}`);
      if (i % 7 === 0) await ask(writer, 'DELETE', `/comments/${root}/like`);
      if (own !== null) await ask(writer, 'PATCH', `/comments/${own}`, { body: 'edited' });
      // Meanwhile two roots are deleted with their replies.
      if (i === 8 || i === 16) await ask(mara, 'DELETE', `/comments/${roots[i / 8]?.id ?? ''}`);
      if (i === 12) await ask(mara, 'PATCH', `/posts/${post}`, { title: 'changed meanwhile' });
    }),
  );
  expect([...new Set(seen)].sort()).toEqual([200, 201, 204, 404]);
  const counted = await counters();
  expect(counted).toMatchObject(consistent);
  expect([counted.likes, counted.liked]).toEqual([WRITERS / 2, WRITERS / 2]);
  expect(counted.comments).toBe(counted.live);
  expect(await mara.ok('getPost', { params: { id: post } })).toMatchObject({
    like_count: WRITERS / 2,
    comment_count: counted.live,
    title: 'changed meanwhile',
  });
});

test('refuses or deletes replies that are written while their root is deleted', async () => {
  let refused = 0;
  let gone = 0;
  for (let round = 0; round < 10; round += 1) {
    const root = await say(mara, 'root');
    const body = { body: 'x', parent_id: root.id };
    const replying = (some: Visitor[]) =>
      some.map((writer) => writer.send(`/posts/${post}/comments`, { method: 'POST', body }));
    const before = replying(writers.slice(0, 4));
    // The root is deleted after none to all of them were answered.
    await Promise.all(before.slice(0, round % 5));
    const removal = mara.send(`/comments/${root.id}`, { method: 'DELETE' });
    const during = replying(writers.slice(4, 8));
    expect((await removal).status).toBe(204);
    const answers = await Promise.all([...before, ...during, ...replying(writers.slice(8, 9))]);
    for (const { status } of answers) {
      expect([201, 404]).toContain(status);
      if (status === 404) refused += 1;
      else gone += 1;
    }
  }
  // Both must happen, or the test proves nothing.
  expect(refused).toBeGreaterThan(0);
  expect(gone).toBeGreaterThan(0);
  expect(await counters()).toEqual({ ...consistent, likes: 0, liked: 0, comments: 0, live: 0 });
});

test('counts a comment off once when it is deleted concurrently', async () => {
  const root = await say(mara, 'root');
  await Promise.all(writers.slice(0, 5).map((writer) => say(writer, 'reply', root.id)));
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => mara.send(`/comments/${root.id}`, { method: 'DELETE' })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
  expect(await counters()).toEqual({ ...consistent, likes: 0, liked: 0, comments: 0, live: 0 });
});

test('refuses comments once they are disabled, also those under way', async () => {
  const storm = writers.map(async (writer) => {
    const answer = await writer.send(`/posts/${post}/comments`, { method: 'POST', body: { body: 'x' } });
    return [answer.status, answer.status === 409 ? answer.text : ''];
  });
  await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
  const when = await counters();
  const answers = await Promise.all(storm);
  for (const answer of answers)
    expect([
      [201, ''],
      [409, '{"error":"comments_disabled"}'],
    ]).toContainEqual(answer);
  const after = await counters();
  expect(after).toEqual(when);
  expect(after.comments).toBe(answers.filter(([status]) => status === 201).length);
});

test('refuses comments once the post is a draft, and keeps those before', async () => {
  const storm = writers.map((writer) =>
    writer.send(`/posts/${post}/comments`, { method: 'POST', body: { body: 'x' } }),
  );
  await mara.ok('unpublishPost', { params: { id: post } });
  const when = await counters();
  const answers = await Promise.all(storm);
  for (const { status } of answers) expect([201, 404]).toContain(status);
  expect(await counters()).toEqual(when);
  expect(when.comments).toBe(answers.filter(({ status }) => status === 201).length);
});

test('counts concurrent follows of one account and mutual follows', async () => {
  const follow = (caller: Visitor, ref: number) => caller.send(`/users/${ref}/follow`, { method: 'POST' });
  const answers = await Promise.all([
    ...writers.map((writer) => follow(writer, mara.ref)),
    ...writers.slice(0, 20).map(({ ref }) => follow(mara, ref)),
  ]);
  expect(statusesOf(answers)).toEqual([204]);
  expect(await mara.ok('getUser', { params: { ref: mara.ref } })).toMatchObject({
    follower_count: WRITERS,
    following_count: 20,
  });
});
