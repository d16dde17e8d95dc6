import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createAccount } from '../../src/identity/accounts.ts';
import { startSession } from '../../src/identity/sessions.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

/** Counters and threads under writers that all come at the same time. */
const WRITERS = 200;

let library: Library;
let mara: Account;
let picture: { id: string };
let post: string;
let writers: Visitor[];

/** Somebody with a session and without a password, which would take its time two hundred times. */
async function arrive(username: string): Promise<Visitor> {
  const { db, passwords } = library.deps;
  const ref = await createAccount(db, passwords, { username, password: null, role: 'member' });
  if (ref === null) throw new Error(`${username} is taken`);
  const token = await startSession(db, { userRef: ref, days: 30, address: '127.0.0.1', userAgent: 'test' });
  return visit(library.address, {}, token);
}

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  picture = await upload(mara, await jpeg(60, 40));
  writers = await Promise.all(Array.from({ length: WRITERS }, (_, i) => arrive(`writer${i}`)));
});

beforeEach(async () => {
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

/** Every counter below the post beside the rows it counts; the same pair, if nothing drifted. */
async function counters() {
  const { rows: posts } = await sql<Record<'likes' | 'liked' | 'comments' | 'live', number>>`
    select p.like_count as likes, p.comment_count as comments,
      (select count(*) from post_likes l where l.post_id = p.id) as liked,
      (select count(*) from comments c where c.post_id = p.id and c.deleted_at is null) as live
    from posts p where p.id = ${post}`.execute(library.deps.db);
  const { rows: drifted } = await sql`
    select c.id from comments c where c.post_id = ${post} and (
      c.like_count <> (select count(*) from comment_likes l where l.comment_id = c.id)
      or c.reply_count <> (select count(*) from comments r where r.parent_id = c.id and r.deleted_at is null))`.execute(
    library.deps.db,
  );
  const { rows: orphans } = await sql`
    select r.id from comments r join comments c on c.id = r.parent_id
    where r.post_id = ${post} and r.deleted_at is null and c.deleted_at is not null`.execute(library.deps.db);
  const [row] = posts;
  if (row === undefined) throw new Error('the post is not there');
  return { ...row, drifted: drifted.length, orphans: orphans.length };
}

const consistent = { drifted: 0, orphans: 0 };

/** Comments without holding the answer against the contract, which is done elsewhere, and returns the id. */
async function say(caller: Visitor, body: string, parentId?: string): Promise<{ id: string }> {
  const sent = { body, ...(parentId === undefined ? {} : { parent_id: parentId }) };
  const answer = await caller.send(`/posts/${post}/comments`, { method: 'POST', body: sent });
  expect([answer.status, answer.status === 201 ? '' : answer.text]).toEqual([201, '']);
  return JSON.parse(answer.text);
}

/** The statuses of these answers, each once, in order. */
const statusesOf = (answers: { status: number }[]) =>
  [...new Set(answers.map(({ status }) => status))].sort();

// LIKE-3
test('200 likes at once are 200, and the 100 taken back at once leave 100', async () => {
  const path = () => `/posts/${post}/like`;
  const liked = await Promise.all(writers.map((writer) => writer.send(path(), { method: 'POST' })));
  expect(statusesOf(liked)).toEqual([200]);
  expect(await counters()).toEqual({ ...consistent, likes: 200, liked: 200, comments: 0, live: 0 });
  const unliked = await Promise.all(
    writers.filter((_, i) => i % 2 === 0).map((writer) => writer.send(path(), { method: 'DELETE' })),
  );
  expect(statusesOf(unliked)).toEqual([200]);
  expect(await counters()).toEqual({ ...consistent, likes: 100, liked: 100, comments: 0, live: 0 });
  expect(await mara.ok('getLike', { params: { id: post } })).toEqual({ liked: false, like_count: 100 });
});

// LIKE-3
test('likes and unlikes of the same callers, all mixed, never drift', async () => {
  const few = writers.slice(0, 10);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      (few[i % 10] ?? mara).send(`/posts/${post}/like`, { method: i % 3 === 0 ? 'DELETE' : 'POST' }),
    ),
  );
  expect(statusesOf(answers)).toEqual([200]);
  const { likes, liked } = await counters();
  expect(likes).toBe(liked);
  // Whatever order they came in: now everybody likes it, then nobody.
  await Promise.all(few.map((writer) => writer.ok('likePost', { params: { id: post } })));
  expect(await counters()).toMatchObject({ likes: 10, liked: 10 });
  await Promise.all(few.map((writer) => writer.ok('unlikePost', { params: { id: post } })));
  expect(await counters()).toMatchObject({ likes: 0, liked: 0 });
});

test('200 comments at once are 200, each in the thread once', async () => {
  const made = await Promise.all(writers.map((writer, i) => say(writer, `number ${i}`)));
  expect(await counters()).toEqual({ ...consistent, likes: 0, liked: 0, comments: 200, live: 200 });
  const { items } = await mara.ok('listComments', { params: { id: post }, query: { limit: 200 } });
  expect(new Set(items.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)));
  const { comment_count, comments_preview } = await mara.ok('getPost', { params: { id: post } });
  expect(comment_count).toBe(200);
  expect(comments_preview?.map(({ id }) => id)).toEqual(items.slice(0, 3).map(({ id }) => id));
});

test('200 replies and likes of one comment at once are counted, each', async () => {
  const root = await say(mara, 'root');
  const answers = await Promise.all(
    writers.flatMap((writer) => [
      writer.send(`/posts/${post}/comments`, { method: 'POST', body: { body: 'x', parent_id: root.id } }),
      writer.send(`/comments/${root.id}/like`, { method: 'POST' }),
    ]),
  );
  expect(statusesOf(answers)).toEqual([200, 201]);
  expect(await counters()).toEqual({ ...consistent, likes: 0, liked: 0, comments: 201, live: 201 });
  const { items } = await mara.ok('listComments', { params: { id: post } });
  expect(items[0]).toMatchObject({ reply_count: 200, like_count: 200 });
});

// HTTP-36, POST-34
test('200 writers who do everything at once leave every counter at its rows, and nobody is answered 500', async () => {
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
      // In the middle of it all two roots go, with what was said below them.
      if (i === 60 || i === 120) await ask(mara, 'DELETE', `/comments/${roots[i / 60]?.id ?? ''}`);
      if (i === 90) await ask(mara, 'PATCH', `/posts/${post}`, { title: 'changed meanwhile' });
    }),
  );
  expect([...new Set(seen)].sort()).toEqual([200, 201, 204, 404]);
  const counted = await counters();
  expect(counted).toMatchObject(consistent);
  expect(counted.likes).toBe(counted.liked);
  expect(counted.likes).toBe(100);
  expect(counted.comments).toBe(counted.live);
  expect(await mara.ok('getPost', { params: { id: post } })).toMatchObject({
    like_count: 100,
    comment_count: counted.live,
    title: 'changed meanwhile',
  });
});

test('a reply and the removal of its root at once: the reply is refused or goes too, never left behind', async () => {
  let refused = 0;
  let gone = 0;
  for (let round = 0; round < 12; round += 1) {
    const root = await say(mara, 'root');
    const body = { body: 'x', parent_id: root.id };
    const replying = (some: Visitor[]) =>
      some.map((writer) => writer.send(`/posts/${post}/comments`, { method: 'POST', body }));
    const before = replying(writers.slice(0, 4));
    const removal = mara.send(`/comments/${root.id}`, { method: 'DELETE' });
    const answers = await Promise.all([...before, ...replying(writers.slice(4, 8))]);
    expect((await removal).status).toBe(204);
    for (const { status } of answers) {
      expect([201, 404]).toContain(status);
      if (status === 404) refused += 1;
      else gone += 1;
    }
  }
  // Both happened, or this shows nothing.
  expect(refused).toBeGreaterThan(0);
  expect(gone).toBeGreaterThan(0);
  expect(await counters()).toEqual({ ...consistent, likes: 0, liked: 0, comments: 0, live: 0 });
});

test('a comment taken away twice at once is counted off once', async () => {
  const root = await say(mara, 'root');
  await Promise.all(writers.slice(0, 5).map((writer) => say(writer, 'reply', root.id)));
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => mara.send(`/comments/${root.id}`, { method: 'DELETE' })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
  expect(await counters()).toEqual({ ...consistent, likes: 0, liked: 0, comments: 0, live: 0 });
});

test('once comments are off no comment comes in, however many are under way', async () => {
  const storm = writers.slice(0, 60).map(async (writer) => {
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

test('once a post is a draft no comment comes in, and none is lost', async () => {
  const storm = writers
    .slice(0, 60)
    .map((writer) => writer.send(`/posts/${post}/comments`, { method: 'POST', body: { body: 'x' } }));
  await mara.ok('unpublishPost', { params: { id: post } });
  const when = await counters();
  const answers = await Promise.all(storm);
  for (const { status } of answers) expect([201, 404]).toContain(status);
  expect(await counters()).toEqual(when);
  expect(when.comments).toBe(answers.filter(({ status }) => status === 201).length);
});

test('two who follow each other, and all who follow one, at once', async () => {
  const refs = await library.deps.db
    .selectFrom('users')
    .select('ref')
    .where('username', 'like', 'writer%')
    .execute();
  const follow = (caller: Visitor, ref: number) => caller.send(`/users/${ref}/follow`, { method: 'POST' });
  const answers = await Promise.all([
    ...writers.map((writer) => follow(writer, mara.ref)),
    ...refs.slice(0, 50).map(({ ref }) => follow(mara, ref)),
  ]);
  expect(statusesOf(answers)).toEqual([204]);
  expect(await mara.ok('getUser', { params: { ref: mara.ref } })).toMatchObject({
    follower_count: WRITERS,
    following_count: 50,
  });
});
