import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { openLibrary, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { jpeg } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const [mara, ines] = await library.joinAll('mara', 'ines');
const picture = await upload(mara, await jpeg(64, 48));
await library.runJobs();

/**
 * Sends the request of a reader and hides something between its statements: those that read `table` wait until it is
 * hidden. Returns the response.
 */
async function hiddenMeanwhile(address: string, table: string, hide: RawBuilder<unknown>) {
  const request = await db.transaction().execute(async (tx) => {
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(tx);
    const answer = ines.send(address);
    const waits = await comeToWait(db);
    await hide.execute(tx);
    return { answer, waits };
  });
  expect(request.waits).toBe(true);
  return request.answer;
}

function readWhileHidden(post: string, table: string, address: string) {
  const hide = sql`update posts set visibility = 'private', title = 'secret' where id = ${post}`;
  return hiddenMeanwhile(address, table, hide);
}

const newPost = async () => (await publish(mara, [picture], { visibility: 'org-only' })).id;

// POST-2
test('a post that becomes private between two statements of a request is left out of the response', {
  tags: ['one-process'],
}, async () => {
  for (const address of ['/posts', `/posts/by-asset/${picture.id}`, '/search?kind=post&q=quay']) {
    const post = (await publish(mara, [picture], { visibility: 'org-only', title: 'Quay' })).id;
    expect((await ines.send(address)).text).toContain(post);
    const { status, text } = await readWhileHidden(post, 'post_likes', address);
    expect([status, text.includes(post), text.includes('secret')]).toEqual([200, false, false]);
  }
  const post = await newPost();
  expect((await readWhileHidden(post, 'post_likes', `/posts/${post}`)).status).toBe(404);
});

// COLLECTION-1
test('a collection that becomes private between two statements of a request shows no posts', {
  tags: ['one-process'],
}, async () => {
  const post = await newPost();
  const { id } = await mara.ok('createCollection', { body: { name: 'Quays', visibility: 'org-only' } });
  await mara.ok('addToCollection', { params: { id, post_id: post } });
  const address = `/collections/${id}/posts`;
  expect((await ines.send(address)).text).toContain(post);
  const { status, text } = await hiddenMeanwhile(
    address,
    'collection_posts',
    sql`update collections set visibility = 'private' where id = ${id}`,
  );
  expect([status, JSON.parse(text).items]).toEqual([200, []]);
});

// COMMENT-1
test('comments and whiteboards of a post that becomes private during a request are left out', async () => {
  const post = await newPost();
  const params = { id: post };
  const root = await mara.ok('createComment', { params, body: { body: 'a root' } });
  await mara.ok('createComment', { params, body: { body: 'a reply', parent_id: root.id } });
  for (const address of [`/posts/${post}/comments`, `/comments/${root.id}/replies`]) {
    await sql`update posts set visibility = 'org-only' where id = ${post}`.execute(db);
    expect(JSON.parse((await ines.send(address)).text).items).toHaveLength(1);
    const { status, text } = await readWhileHidden(post, 'comment_likes', address);
    expect([status, JSON.parse(text).items]).toEqual([200, []]);
  }
  await sql`update posts set visibility = 'org-only' where id = ${post}`.execute(db);
  const stroke = {
    color: '#000000',
    width: 0.01,
    points: [
      [0, 0],
      [1, 1],
    ],
  };
  await mara.ok('createWhiteboard', { params, body: { strokes: [stroke] } });
  const { status, text } = await readWhileHidden(post, 'whiteboards', `/posts/${post}/whiteboards`);
  expect([status, JSON.parse(text).items]).toEqual([200, []]);
});
