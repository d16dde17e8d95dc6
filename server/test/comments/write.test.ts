import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEventsDuring } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { actAs, grant, nowhere, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** One character to a reader, two code units to JavaScript, four bytes to the database. */
const clef = '\u{1d11e}';

let post: string;

const library = await openLibrary();
const [mara, ines, moderator] = await library.joinAll('mara', 'ines', 'moderator');
const viewer = await library.join('viewer', 'viewer');
const root = await library.join('root', 'admin');
await grant(library, moderator, 'posts.admin');
const picture = await upload(mara, plainFile());

beforeEach(async () => {
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

const say = (caller: Visitor, body: string, parent_id: string | null = null, to = post) =>
  caller.ok('createComment', { params: { id: to }, body: { body, parent_id } });
const sayRefused = (caller: Visitor, parent_id: string | null = null, to = post) =>
  caller.refused('createComment', { params: { id: to }, body: { body: 'x', parent_id } });
const edit = (caller: Visitor, id: string, body: string) =>
  caller.ok('updateComment', { params: { id }, body: { body } });
const editRefused = async (caller: Visitor, id: string) =>
  (await caller.refused('updateComment', { params: { id }, body: { body: 'changed' } })).status;
const threadOf = async (caller: Visitor = mara) =>
  (await caller.ok('listComments', { params: { id: post } })).items;
const countOf = async () => (await mara.ok('getPost', { params: { id: post } })).comment_count;
/** Inserts a comment that a peer sent. */
const addRemote = () =>
  library.deps.db
    .insertInto('comments')
    .values({ post_id: post, body: 'from a peer', remote_display_name: 'Ada', author_user_ref: null })
    .returning('id')
    .executeTakeFirstOrThrow();

// COMMENT-4
describe('POST /posts/{id}/comments', () => {
  // COMMENT-4
  test('answers with the comment and increments the count of the post', async () => {
    const before = Date.now();
    const comment = await say(ines, 'Ice.');
    expect(comment).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      post_id: post,
      parent_id: null,
      body: 'Ice.',
      created_at: expect.stringMatching(/Z$/),
      edited_at: null,
      author: { ref: ines.ref, username: 'ines', display_name: 'ines', avatar_url: null },
      like_count: 0,
      liked: false,
      reply_count: 0,
    });
    expect(Math.abs(Date.parse(comment.created_at) - before)).toBeLessThan(60_000);
    expect(await threadOf()).toEqual([{ ...comment, replies: [] }]);
    expect(await countOf()).toBe(1);
    const mask = await actAs(library, root, ines);
    expect(await say(mask, 'by the impersonated account')).toMatchObject({ author: { ref: ines.ref } });
  });

  // COMMENT-5
  test('adds a reply, also to a reply, below the root, which the post and the root count', async () => {
    const parent = await ines.ok('createComment', { params: { id: post }, body: { body: 'first' } });
    const reply = await say(mara, 'reply', parent.id);
    expect(reply).toMatchObject({ parent_id: parent.id, post_id: post, reply_count: 0 });
    const deeper = await say(ines, 'deeper', reply.id);
    expect(deeper.parent_id).toBe(parent.id);
    expect(await threadOf()).toEqual([{ ...parent, reply_count: 2, replies: [reply, deeper] }]);
    expect(await countOf()).toBe(3);
  });

  // COMMENT-5
  test('answers 404 for a parent that is deleted, unknown or of another post', async () => {
    const kept = await say(ines, 'kept');
    const deletedReply = await say(ines, 'deleted reply', kept.id);
    const gone = await say(ines, 'gone');
    const goneWith = await say(mara, 'gone with it', gone.id);
    for (const { id } of [deletedReply, gone]) await ines.ok('deleteComment', { params: { id } });
    const other = await publish(mara, [picture]);
    const elsewhere = await say(ines, 'elsewhere', undefined, other.id);
    for (const parent of [deletedReply.id, gone.id, goneWith.id, nowhere, elsewhere.id, post])
      expect(await sayRefused(ines, parent)).toEqual({ status: 404, error: 'comment not found' });
    expect(await countOf()).toBe(1);
    expect(await threadOf()).toMatchObject([{ id: kept.id, reply_count: 0, replies: [] }]);
    expect(await mara.ok('getPost', { params: { id: other.id } })).toMatchObject({ comment_count: 1 });
  });

  // COMMENT-4
  test('keeps a body as it was written', async () => {
    const bodies = [
      'a',
      '  kept as written  ',
      'two\nlines\r\n\tand a tab',
      '<script>alert(1)</script> &amp; **not** [markup](javascript:x)',
      'שלום \u202eabc\u202c e\u0301 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿',
      '\u2028\u2029\u200b\ufeffx',
      "'; drop table comments; -- %s $1 \\u0041 {}",
      'x'.repeat(10_000),
      clef.repeat(10_000),
    ];
    for (const body of bodies) {
      const comment = await say(ines, body);
      expect(comment.body).toBe(body);
      expect((await edit(ines, comment.id, `${body.slice(0, -2)}é`)).body).toBe(`${body.slice(0, -2)}é`);
      expect((await edit(ines, comment.id, body)).body).toBe(body);
      expect((await threadOf())[0]?.body).toBe(body);
    }
  });

  test('refuses blanks and more than 10,000 characters, also for a change', async () => {
    const comment = await say(ines, 'as it was');
    for (const body of [' \n\t\u00a0\u3000', clef.repeat(10_001)]) {
      expect(await ines.status('POST', `/posts/${post}/comments`, { body })).toBe(400);
      expect(await ines.status('PATCH', `/comments/${comment.id}`, { body })).toBe(400);
    }
    expect(await ines.status('POST', `/posts/${post}/comments`, { body: null })).toBe(400);
    expect(await threadOf()).toEqual([{ ...comment, replies: [] }]);
    expect(await countOf()).toBe(1);
  });

  // COMMENT-4, ROLE-16
  test('requires posts.comment and nothing else', async () => {
    expect(await sayRefused(viewer)).toEqual({ status: 403, error: 'missing capability posts.comment' });
    // Checked first, even if the post does not exist or comments are disabled.
    expect(await sayRefused(viewer, undefined, nowhere)).toMatchObject({ status: 403 });
    await grant(library, viewer, 'posts.comment');
    expect(await say(viewer, 'now I may')).toMatchObject({ author: { ref: viewer.ref } });
    await withdrawGrants(library, viewer);
  });
});

// COMMENT-6
test('a draft does not accept comments, not even from its author: 409, but not comments_disabled', async () => {
  const parent = await say(ines, 'from before');
  await mara.ok('unpublishPost', { params: { id: post } });
  for (const id of [null, parent.id, nowhere]) {
    const { status, error } = await sayRefused(mara, id);
    expect([status, error === 'comments_disabled']).toEqual([409, false]);
  }
  expect(await countOf()).toBe(1);
  await mara.ok('publishPost', { params: { id: post }, body: undefined });
  await say(ines, 'again', parent.id);
  expect(await countOf()).toBe(2);
});

// POST-31
describe('comments_enabled', () => {
  const set = (value: boolean) =>
    mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: value } });

  // POST-31
  test('when false, comments and replies of this post are 409 comments_disabled for everyone', async () => {
    const parent = await say(ines, 'from before');
    const reply = await say(mara, 'reply', parent.id);
    const other = await publish(mara, [picture]);
    await set(false);
    for (const caller of [ines, mara, root])
      for (const id of [null, reply.id, nowhere])
        expect(await sayRefused(caller, id)).toEqual({ status: 409, error: 'comments_disabled' });
    expect(await sayRefused(viewer)).toMatchObject({ status: 403 });
    expect(await countOf()).toBe(2);
    await say(ines, 'x', undefined, other.id);
    await set(true);
    await say(ines, 'x');
  });

  // POST-31
  test('when false, changes nothing else: listing, counts, preview, editing, likes, deletion, whiteboards', async () => {
    const first = await say(ines, 'first');
    const second = await say(mara, 'second');
    const reply = await say(ines, 'reply', first.id);
    const seen = async () => ({
      thread: await threadOf(ines),
      replies: await ines.ok('listReplies', { params: { id: first.id } }),
      post: await ines.ok('getPost', { params: { id: post } }),
    });
    const before = await seen();
    const { updated_at } = await set(false);
    expect(await seen()).toEqual({
      ...before,
      post: { ...before.post, comments_enabled: false, updated_at },
    });
    expect(await edit(ines, first.id, 'first, edited')).toMatchObject({ body: 'first, edited' });
    const params = { id: reply.id };
    expect(await mara.ok('likeComment', { params })).toEqual({ liked: true, like_count: 1 });
    expect(await mara.ok('unlikeComment', { params })).toMatchObject({ liked: false });
    expect(await ines.ok('likePost', { params: { id: post } })).toMatchObject({ liked: true });
    await ines.ok('createWhiteboard', { params: { id: post }, body: { strokes: [{ points: [[0, 0]] }] } });
    await ines.ok('deleteComment', { params });
    await moderator.ok('deleteComment', { params: { id: second.id } });
    expect(await countOf()).toBe(1);
    const { comments_preview } = await ines.ok('getPost', { params: { id: post } });
    expect(comments_preview).toMatchObject([{ id: first.id, body: 'first, edited' }]);
  });
});

describe('PATCH /comments/{id}', () => {
  // COMMENT-7
  test('changes body and edited_at, and nothing else', async () => {
    const older = await say(mara, 'older');
    const comment = await say(ines, 'before');
    await say(mara, 'newest');
    await say(mara, 'reply', comment.id);
    await mara.ok('likeComment', { params: { id: comment.id } });
    const began = Date.now();
    const edited = await edit(ines, comment.id, 'after');
    expect(edited).toEqual({
      ...comment,
      body: 'after',
      edited_at: expect.stringMatching(/Z$/),
      like_count: 1,
      reply_count: 1,
    });
    expect(Math.abs(Date.parse(edited.edited_at ?? '') - began)).toBeLessThan(60_000);
    const thread = await threadOf(ines);
    expect(thread.map(({ body }) => body)).toEqual(['newest', 'after', 'older']);
    expect(thread[2]).toEqual({ ...older, replies: [] });
    expect(await countOf()).toBe(4);
  });

  test('works for replies', async () => {
    const parent = await say(mara, 'parent');
    const reply = await say(ines, 'reply', parent.id);
    const edited = await edit(ines, reply.id, 'changed reply');
    expect(edited).toMatchObject({ parent_id: parent.id, body: 'changed reply' });
    expect(await threadOf()).toEqual([{ ...parent, reply_count: 1, replies: [edited] }]);
    for (const body of [{}, { body: null }])
      expect(await ines.ok('updateComment', { params: { id: reply.id }, body })).toEqual(edited);
  });

  test('is open to nobody for a comment from another server', async () => {
    const { id } = await addRemote();
    for (const caller of [ines, mara, root]) expect(await editRefused(caller, id)).toBe(403);
  });

  // COMMENT-10
  test('answers 404 while its author cannot read the post', async () => {
    const comment = await say(ines, 'x');
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
    expect(await editRefused(ines, comment.id)).toBe(404);
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'public' } });
    await edit(ines, comment.id, 'y');
  });
});

describe('DELETE /comments/{id}', () => {
  const remove = (caller: Visitor, id: string) => caller.ok('deleteComment', { params: { id } });
  const removeRefused = async (caller: Visitor, id: string) =>
    (await caller.refused('deleteComment', { params: { id } })).status;

  // COMMENT-8
  test('is open to its author, the author of the post and posts.admin, not to the author of the root', async () => {
    const comment = await say(mara, 'root');
    for (const caller of [ines, mara, moderator]) await remove(caller, (await say(ines, 'x')).id);
    const reply = await say(ines, 'reply', comment.id);
    const elsewhere = (await publish(ines, [picture])).id;
    const own = await say(mara, 'root', undefined, elsewhere);
    const foreign = await say(moderator, 'reply', own.id, elsewhere);
    expect(await removeRefused(mara, foreign.id)).toBe(403);
    expect(await threadOf()).toEqual([{ ...comment, reply_count: 1, replies: [reply] }]);
    expect(await countOf()).toBe(2);
  });

  // COMMENT-8
  test('deletes its replies too and counts them off, and keeps the rows with the time and the account', async () => {
    const kept = await say(mara, 'kept');
    const keptReply = await say(ines, 'kept reply', kept.id);
    const gone = await say(ines, 'gone');
    const early = await say(mara, 'early', gone.id);
    const late = await say(root, 'late', gone.id);
    // A reply that was deleted before is not subtracted twice.
    await remove(mara, early.id);
    expect(await countOf()).toBe(4);
    await remove(mara, gone.id);
    expect(await countOf()).toBe(2);
    const replies = [{ id: keptReply.id }];
    expect(await threadOf()).toMatchObject([{ id: kept.id, reply_count: 1, replies }]);
    for (const id of [gone.id, late.id, early.id, nowhere]) {
      expect(await removeRefused(root, id)).toBe(404);
      expect(await editRefused(ines, id)).toBe(404);
      expect((await ines.refused('likeComment', { params: { id } })).status).toBe(404);
      expect((await ines.refused('listReplies', { params: { id } })).status).toBe(404);
    }
    expect(await countOf()).toBe(2);
    const deleted = await library.deps.db
      .selectFrom('comments')
      .select(['body', 'deleted_by_user_ref'])
      .where('post_id', '=', post)
      .where('deleted_at', 'is not', null)
      .orderBy('created_at')
      .execute();
    const by = { deleted_by_user_ref: mara.ref };
    expect(deleted).toEqual(['gone', 'early', 'late'].map((body) => ({ body, ...by })));
  });

  // COMMENT-9, COMMENT-10
  test('is 404 for accounts that can no longer read the post; works with comments disabled and in drafts', async () => {
    const [first, second] = [await say(ines, 'first'), await say(ines, 'second')];
    await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
    await remove(ines, first.id);
    await mara.ok('unpublishPost', { params: { id: post } });
    expect(await removeRefused(ines, second.id)).toBe(404);
    await remove(mara, second.id);
    expect(await countOf()).toBe(0);
  });

  test('works for comments from other servers and of removed accounts', async () => {
    const nina = await library.join('nina');
    const orphan = await say(nina, 'x');
    await library.deps.db.deleteFrom('users').where('ref', '=', nina.ref).execute();
    for (const { id } of [orphan, await addRemote()]) {
      expect(await removeRefused(ines, id)).toBe(403);
      await remove(mara, id);
    }
    expect(await countOf()).toBe(0);
  });

  // COMMENT-11
  test('is audited with the author and the impersonator, unless the comment is the caller’s own', async () => {
    const mask = await actAs(library, root, mara);
    const [own, comment] = [await say(ines, 'x'), await say(ines, 'y')];
    const events = await auditEventsDuring(library, async () => {
      await edit(ines, own.id, 'z');
      await removeRefused(viewer, own.id);
      await remove(ines, own.id);
      await remove(mask, comment.id);
    });
    expect(events).toMatchObject([
      {
        event: 'comment.removed',
        actor_user_ref: mara.ref,
        impersonator_user_ref: root.ref,
        subject_user_ref: ines.ref,
        target_kind: 'post',
        target_id: post,
        metadata: { comment_id: comment.id },
      },
    ]);
  });

  test('of a comment with many replies updates the count of the post once', async () => {
    const { db } = library.deps;
    const comment = await say(ines, 'x');
    await sql`insert into comments (post_id, parent_id, author_user_ref, body)
      select ${post}, ${comment.id}, ${ines.ref}, 'x' from generate_series(1, 100)`.execute(db);
    await sql`create table touched (at timestamptz default clock_timestamp())`.execute(db);
    await sql`create function touch() returns trigger language plpgsql as
      $$ begin insert into touched default values; return null; end $$`.execute(db);
    await sql`create trigger posts_touched after update on posts
      for each row execute function touch()`.execute(db);
    await remove(ines, comment.id);
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from touched`.execute(db);
    await sql`drop trigger posts_touched on posts`.execute(db);
    expect(await countOf()).toBe(0);
    // Writing one row 10,000 times in one transaction takes 15 s, during which the post is locked.
    expect(rows[0]?.count).toBeLessThan(5);
  });
});

describe('likes of comments', () => {
  let comment: string;
  let reply: string;
  const like = (caller: Visitor, id = comment) => caller.ok('likeComment', { params: { id } });
  const unlike = (caller: Visitor, id = comment) => caller.ok('unlikeComment', { params: { id } });

  /** Returns the likes of the root and its reply as this caller sees them. */
  async function likeStates(caller: Visitor) {
    const [root, ...others] = await threadOf(caller);
    expect(others).toEqual([]);
    return [root, ...(root?.replies ?? [])].flatMap((one) => [one?.liked, one?.like_count]);
  }

  beforeEach(async () => {
    comment = (await say(ines, 'x')).id;
    reply = (await say(ines, 'y', comment)).id;
  });

  // LIKE-2, LIKE-4
  test('are counted for all and marked per account, separately for roots and replies', async () => {
    expect(await like(mara)).toEqual({ liked: true, like_count: 1 });
    expect(await like(viewer)).toEqual({ liked: true, like_count: 2 });
    expect(await like(ines, reply)).toEqual({ liked: true, like_count: 1 });
    await library.setPublicMode(true);
    const states = await Promise.all([mara, ines, library.anonymous()].map(likeStates));
    await library.setPublicMode(false);
    expect(states).toEqual([
      [true, 2, false, 1],
      [false, 2, true, 1],
      [false, 2, false, 1],
    ]);
    expect((await ines.ok('listReplies', { params: { id: comment } })).items).toMatchObject([
      { liked: true, like_count: 1 },
    ]);
  });

  test('are idempotent, also concurrently, and change neither edited_at nor the order', async () => {
    const newer = await say(ines, 'newer');
    expect(await unlike(mara)).toEqual({ liked: false, like_count: 0 });
    for (const answer of await Promise.all(Array.from({ length: 20 }, () => like(mara))))
      expect(answer).toEqual({ liked: true, like_count: 1 });
    expect((await threadOf()).map(({ id, edited_at }) => [id, edited_at])).toEqual([
      [newer.id, null],
      [comment, null],
    ]);
    for (const answer of await Promise.all(Array.from({ length: 20 }, () => unlike(mara))))
      expect(answer).toEqual({ liked: false, like_count: 0 });
  });

  // LIKE-5
  test('are deleted with the account', async () => {
    const fan = await library.join('fan');
    for (const id of [comment, reply]) await like(fan, id);
    await library.deps.db.deleteFrom('users').where('ref', '=', fan.ref).execute();
    expect(await likeStates(mara)).toEqual([false, 0, false, 0]);
  });
});
