import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** One character to a reader, two code units to JavaScript, four bytes to the database. */
const clef = '\u{1d11e}';

let library: Library;
let mara: Account;
let ines: Account;
let viewer: Account;
let moderator: Account;
let root: Account;
let picture: { id: string };
let post: string;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, viewer, moderator, root] = await Promise.all([
    library.join('mara'),
    library.join('ines'),
    library.join('viewer', 'viewer'),
    library.join('moderator'),
    library.join('root', 'admin'),
  ]);
  await grant(library, moderator, 'posts.admin');
  picture = await upload(mara, plainFile());
});

beforeEach(async () => {
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

const say = (caller: Visitor, body: string, parentId?: string, to = post) =>
  caller.ok('createComment', {
    params: { id: to },
    body: { body, ...(parentId === undefined ? {} : { parent_id: parentId }) },
  });
const sayRefused = (caller: Visitor, parentId?: string, to = post) =>
  caller.refused('createComment', {
    params: { id: to },
    body: { body: 'x', ...(parentId === undefined ? {} : { parent_id: parentId }) },
  });
const edit = (caller: Visitor, id: string, body: string) =>
  caller.ok('updateComment', { params: { id }, body: { body } });
const editRefused = async (caller: Visitor, id: string) =>
  (await caller.refused('updateComment', { params: { id }, body: { body: 'changed' } })).status;
const threadOf = async (caller: Visitor = mara) =>
  (await caller.ok('listComments', { params: { id: post } })).items;
const countOf = async () => (await mara.ok('getPost', { params: { id: post } })).comment_count;

// COMMENT-4
describe('POST /posts/{id}/comments', () => {
  // COMMENT-4
  test('answers 201 with the comment and increments the count of the post', async () => {
    const before = Date.now();
    const sent = await ines.send(`/posts/${post}/comments`, { method: 'POST', body: { body: 'Ice.' } });
    expect(sent.status).toBe(201);
    const comment = JSON.parse(sent.text);
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
    expect(Math.abs(Date.parse(comment.created_at) - before)).toBeLessThan(10_000);
    expect(await threadOf()).toEqual([{ ...comment, replies: [] }]);
    expect(await countOf()).toBe(1);
  });

  test('with a parent creates a reply, counted by the post and the parent', async () => {
    const parent = await say(ines, 'first');
    const reply = await say(mara, 'reply', parent.id);
    expect(reply).toMatchObject({ parent_id: parent.id, post_id: post, reply_count: 0 });
    expect(await threadOf()).toMatchObject([{ id: parent.id, reply_count: 1, replies: [reply] }]);
    expect(await countOf()).toBe(2);
  });

  test('accepts null as no parent', async () => {
    const comment = await ines.ok('createComment', {
      params: { id: post },
      body: { body: 'x', parent_id: null },
    });
    expect(comment.parent_id).toBeNull();
  });

  // COMMENT-5
  test('adds a reply to a reply below their root', async () => {
    const parent = await say(ines, 'first');
    const reply = await say(mara, 'reply', parent.id);
    const deeper = await say(ines, 'deeper', reply.id);
    expect(deeper.parent_id).toBe(parent.id);
    const [shown] = await threadOf();
    expect(shown?.replies.map(({ id, reply_count }) => [id, reply_count])).toEqual([
      [reply.id, 0],
      [deeper.id, 0],
    ]);
    expect(shown?.reply_count).toBe(2);
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
    for (const parent of [deletedReply.id, gone.id, goneWith.id, nowhere, elsewhere.id, post]) {
      expect(await sayRefused(ines, parent)).toEqual({ status: 404, error: 'comment not found' });
    }
    expect(await countOf()).toBe(1);
    expect(await threadOf()).toMatchObject([{ id: kept.id, reply_count: 0, replies: [] }]);
    expect(await mara.ok('getPost', { params: { id: other.id } })).toMatchObject({ comment_count: 1 });
  });

  // COMMENT-4
  test.each([
    'a',
    '  kept as written  ',
    'two\nlines\r\n\tand a tab',
    '<script>alert(1)</script> &amp; **not** [markup](javascript:x)',
    'שלום \u202eabc\u202c e\u0301 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿',
    '\u2028\u2029\u200b\ufeffx',
    "'; drop table comments; -- %s $1 \\u0041 {}",
    'x'.repeat(10_000),
    clef.repeat(10_000),
  ])('keeps a body as it was written (%#)', async (body) => {
    const comment = await say(ines, body);
    expect(comment.body).toBe(body);
    expect((await edit(ines, comment.id, `${body.slice(0, -2)}é`)).body).toBe(`${body.slice(0, -2)}é`);
    expect((await edit(ines, comment.id, body)).body).toBe(body);
    expect((await threadOf())[0]?.body).toBe(body);
  });

  const faulty: [string, unknown][] = [
    ['without a body', {}],
    ['with a body of blanks', { body: ' \n\t\u00a0\u3000' }],
    ['with a body of 10,001 characters of two code units', { body: clef.repeat(10_001) }],
    ['with a property of the answer', { body: 'x', author_user_ref: 1 }],
    ['that is no JSON', '{"body":"x"'],
  ];

  test.each([...faulty, ['with null', { body: null }]])(
    'a request %s is 400 and writes nothing',
    async (_, body) => {
      const answer = await ines.send(`/posts/${post}/comments`, { method: 'POST', body });
      expect(answer.status).toBe(400);
      expect(Object.keys(JSON.parse(answer.text))).toEqual(['error']);
      expect(await threadOf()).toEqual([]);
      expect(await countOf()).toBe(0);
    },
  );

  test.each(faulty.filter(([name]) => !/without a body|null/.test(name)))(
    'a change %s is 400 and changes nothing',
    async (_, body) => {
      const comment = await say(ines, 'as it was');
      const answer = await ines.send(`/comments/${comment.id}`, { method: 'PATCH', body });
      expect(answer.status).toBe(400);
      expect(await threadOf()).toEqual([{ ...comment, replies: [] }]);
    },
  );

  test('more than a mebibyte is 413, another content type 415, a malformed post id 400', async () => {
    const path = `/posts/${post}/comments`;
    const large = await ines.send(path, { method: 'POST', body: { body: 'x'.repeat(1024 * 1024) } });
    expect(large.status).toBe(413);
    const headers = { 'content-type': 'text/plain' };
    expect((await ines.send(path, { method: 'POST', body: 'hello', headers })).status).toBe(415);
    expect((await ines.send('/posts/7/comments', { method: 'POST', body: { body: 'x' } })).status).toBe(400);
  });

  // COMMENT-4, ROLE-16
  test('requires posts.comment and nothing else', async () => {
    expect(await sayRefused(viewer)).toEqual({ status: 403, error: 'missing capability posts.comment' });
    // Checked first, even if the post does not exist or comments are disabled.
    expect(await sayRefused(viewer, undefined, nowhere)).toMatchObject({ status: 403 });
    await grant(library, viewer, 'posts.comment');
    expect(await say(viewer, 'now I may')).toMatchObject({ author: { ref: viewer.ref } });
    const { db } = library.deps;
    await db
      .insertInto('user_capability_revokes')
      .values({ user_ref: viewer.ref, capability: 'posts.comment' })
      .execute();
    expect(await sayRefused(viewer)).toMatchObject({ status: 403 });
    await db.deleteFrom('user_capability_grants').where('user_ref', '=', viewer.ref).execute();
    await db.deleteFrom('user_capability_revokes').where('user_ref', '=', viewer.ref).execute();
  });

  // POST-34
  test('does not change updated_at of the post', async () => {
    const before = await mara.ok('getPost', { params: { id: post } });
    const comment = await say(ines, 'x');
    await ines.ok('likeComment', { params: { id: comment.id } });
    await ines.ok('deleteComment', { params: { id: comment.id } });
    const after = await mara.ok('updatePost', {
      params: { id: post },
      body: { title: 'still mine', if_unchanged_since: before.updated_at },
    });
    expect(after.posted_at).toBe(before.posted_at);
  });
});

// COMMENT-6
describe('a draft does not accept comments', () => {
  // COMMENT-6
  test('not even from its author or administrators: 409, but not comments_disabled', async () => {
    const parent = await say(ines, 'from before');
    await mara.ok('unpublishPost', { params: { id: post } });
    for (const caller of [mara, moderator, root]) {
      for (const id of [undefined, parent.id, nowhere]) {
        const refusal = await sayRefused(caller, id);
        expect(refusal.status).toBe(409);
        expect(refusal.error).not.toBe('comments_disabled');
      }
    }
    expect(await sayRefused(ines)).toMatchObject({ status: 404 });
    expect(await countOf()).toBe(1);
    await mara.ok('publishPost', { params: { id: post } });
    await say(ines, 'again', parent.id);
    expect(await countOf()).toBe(2);
  });

  test('also when it was never published', async () => {
    const draft = await publish(mara, [picture], { draft: true, visibility: 'public' });
    expect(await sayRefused(mara, undefined, draft.id)).toMatchObject({ status: 409 });
  });
});

// POST-31
describe('comments_enabled', () => {
  const set = (value: boolean, caller: Account = mara) =>
    caller.ok('updatePost', { params: { id: post }, body: { comments_enabled: value } });

  // POST-31
  test('is true by default, when set, and for existing rows', async () => {
    expect(await mara.ok('getPost', { params: { id: post } })).toMatchObject({ comments_enabled: true });
    for (const value of [true, false])
      expect(await publish(mara, [picture], { comments_enabled: value })).toMatchObject({
        comments_enabled: value,
      });
    const { db } = library.deps;
    const old = await db
      .insertInto('posts')
      .values((eb) => ({
        author_user_ref: mara.ref,
        state_id: eb
          .selectFrom('workflow_states')
          .select('id')
          .where('domain', '=', 'post')
          .where('code', '=', 'published')
          .$asScalar(),
      }))
      .returning('id')
      .executeTakeFirstOrThrow();
    expect(await mara.ok('getPost', { params: { id: old.id } })).toMatchObject({ comments_enabled: true });
    await say(ines, 'x', undefined, old.id);
  });

  // POST-31
  test('when false, comments and replies are 409 comments_disabled for everyone', async () => {
    const parent = await say(ines, 'from before');
    const reply = await say(mara, 'reply', parent.id);
    await set(false);
    for (const caller of [ines, mara, moderator, root]) {
      for (const id of [undefined, parent.id, reply.id, nowhere]) {
        expect(await sayRefused(caller, id)).toEqual({ status: 409, error: 'comments_disabled' });
      }
    }
    expect(await sayRefused(viewer)).toMatchObject({ status: 403 });
    expect(await countOf()).toBe(2);
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
    const off = await set(false);
    expect(await seen()).toEqual({
      ...before,
      post: { ...before.post, comments_enabled: false, updated_at: off.updated_at },
    });
    expect(await edit(ines, first.id, 'first, edited')).toMatchObject({ body: 'first, edited' });
    expect(await mara.ok('likeComment', { params: { id: reply.id } })).toEqual({
      liked: true,
      like_count: 1,
    });
    expect(await mara.ok('unlikeComment', { params: { id: reply.id } })).toMatchObject({ liked: false });
    expect(await ines.ok('likePost', { params: { id: post } })).toMatchObject({ liked: true });
    await ines.ok('createWhiteboard', { params: { id: post }, body: { strokes: [{ points: [[0, 0]] }] } });
    await ines.ok('deleteComment', { params: { id: reply.id } });
    await moderator.ok('deleteComment', { params: { id: second.id } });
    expect(await countOf()).toBe(1);
    expect(await ines.ok('getPost', { params: { id: post } })).toMatchObject({
      comments_preview: [{ id: first.id, body: 'first, edited' }],
    });
  });

  // POST-32, ROLE-16
  test('is set by those who may edit the post; posts.comment does not suffice', async () => {
    expect(
      await ines.refused('updatePost', { params: { id: post }, body: { comments_enabled: false } }),
    ).toMatchObject({
      status: 403,
    });
    await set(false, moderator);
    expect(await sayRefused(ines)).toMatchObject({ status: 409 });
    expect(
      await ines.refused('updatePost', { params: { id: post }, body: { comments_enabled: true } }),
    ).toMatchObject({
      status: 403,
    });
    await set(true, root);
    await say(ines, 'x');
    await set(false);
    // Absent and null leave it unchanged.
    for (const body of [{ title: 'x' }, { comments_enabled: null }])
      expect(await mara.ok('updatePost', { params: { id: post }, body })).toMatchObject({
        comments_enabled: false,
      });
    await set(true);
    await say(ines, 'x');
  });

  test('affects only its post', async () => {
    const other = await publish(mara, [picture], { comments_enabled: false });
    await say(ines, 'x');
    expect(await sayRefused(ines, undefined, other.id)).toMatchObject({ status: 409 });
  });

  test('accepts only true and false', async () => {
    for (const value of ['false', 0, 'x', []]) {
      const body = { comments_enabled: value };
      expect((await mara.send(`/posts/${post}`, { method: 'PATCH', body })).status).toBe(400);
    }
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
    expect(Math.abs(Date.parse(edited.edited_at ?? '') - began)).toBeLessThan(10_000);
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
  });

  test('without a body, or with null, changes nothing', async () => {
    const comment = await say(ines, 'as it was');
    for (const body of [{}, { body: null }])
      expect(await ines.ok('updateComment', { params: { id: comment.id }, body })).toEqual(comment);
  });

  // COMMENT-7
  test('is open to its author only: 403 for the post’s author and administrators', async () => {
    const comment = await say(ines, 'mine');
    for (const caller of [mara, moderator, root, viewer])
      expect(await editRefused(caller, comment.id)).toBe(403);
    // The right is checked first, even without a change.
    expect((await mara.refused('updateComment', { params: { id: comment.id }, body: {} })).status).toBe(403);
    expect(await threadOf()).toEqual([{ ...comment, replies: [] }]);
  });

  test('answers 403 to everyone for a comment without a local author', async () => {
    const { id } = await library.deps.db
      .insertInto('comments')
      .values({ post_id: post, body: 'from a peer', remote_display_name: 'Ada', author_user_ref: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    for (const caller of [ines, mara, root]) expect(await editRefused(caller, id)).toBe(403);
  });

  test('answers 404 for a deleted or unknown comment, 400 for a malformed id', async () => {
    const comment = await say(ines, 'x');
    await ines.ok('deleteComment', { params: { id: comment.id } });
    for (const id of [comment.id, nowhere]) expect(await editRefused(ines, id)).toBe(404);
    expect((await ines.send('/comments/7', { method: 'PATCH', body: { body: 'x' } })).status).toBe(400);
  });

  // COMMENT-10
  test('answers 404 while its author cannot read the post', async () => {
    const comment = await say(ines, 'x');
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
    expect(await editRefused(ines, comment.id)).toBe(404);
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'public' } });
    await edit(ines, comment.id, 'y');
  });

  test('records no audit event', async () => {
    const events = async () =>
      (await library.deps.db.selectFrom('audit_events').select('id').execute()).length;
    const before = await events();
    const comment = await say(ines, 'x');
    await edit(ines, comment.id, 'y');
    await ines.ok('deleteComment', { params: { id: comment.id } });
    expect(await events()).toBe(before);
  });
});
