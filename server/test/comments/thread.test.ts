import type { CommentPreview, CommentRoot } from '@vitrine/contract/comments';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { nowhere, setStatus } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

/** One character to a reader, two code units to JavaScript, four bytes to the database. */
const clef = '\u{1d11e}';

let post: string;

const library = await openLibrary();
const { db } = library.deps;
const [mara, ines] = await library.joinAll('mara', 'ines');
const olga = await library.join('olga', 'viewer');
const picture = await upload(mara, plainFile());

beforeEach(async () => {
  await library.setPublicMode(false);
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

interface Laid {
  body?: string;
  /** Seconds after a fixed moment. */
  at: number;
  authorRef?: number | null;
  remote?: string;
  parent?: string;
  deleted?: boolean;
}

const moment = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

/** Inserts comments with given times, which the API does not allow, and returns their ids in the same order. */
async function lay(...comments: Laid[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { body = 'x', at, authorRef = mara.ref, remote, parent, deleted } of comments) {
    const { id } = await db
      .insertInto('comments')
      .values({
        post_id: post,
        parent_id: parent ?? null,
        author_user_ref: authorRef,
        remote_display_name: remote ?? null,
        body,
        created_at: moment(at),
        deleted_at: deleted === true ? moment(at + 1) : null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    ids.push(id);
  }
  return ids;
}

const say = (caller: Visitor, body: string, reply: { parent_id?: string } = {}) =>
  caller.ok('createComment', { params: { id: post }, body: { body, ...reply } });
const threadOf = (caller: Visitor, query: { limit?: number; cursor?: string } = {}) =>
  caller.ok('listComments', { params: { id: post }, query });
const repliesOf = (caller: Visitor, id: string, query: { limit?: number; cursor?: string } = {}) =>
  caller.ok('listReplies', { params: { id }, query });
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);

/** Returns the preview that this caller sees, which is the same wherever the post is shown. */
async function previewOf(caller: Visitor): Promise<CommentPreview[]> {
  const single = await caller.ok('getPost', { params: { id: post } });
  const listed = (await caller.ok('listPosts')).items.find(({ id }) => id === post);
  const ofAsset = await caller.ok('listPostsByAsset', { params: { id: picture.id } });
  const shown = [listed, ofAsset.find(({ id }) => id === post)].map((one) => one?.comments_preview);
  expect(shown).toEqual([single.comments_preview, single.comments_preview]);
  return single.comments_preview ?? [];
}

/** Checks that the preview is the first three roots of the thread, without their other properties (COMMENT-12). */
async function expectPreview(caller: Visitor): Promise<CommentPreview[]> {
  const preview = await previewOf(caller);
  const { items } = await threadOf(caller, { limit: 3 });
  expect(preview).toEqual(
    items.map(({ id, body, created_at, author, remote_display_name }) => ({
      id,
      body,
      created_at,
      ...(author === undefined ? {} : { author }),
      ...(remote_display_name === undefined ? {} : { remote_display_name }),
    })),
  );
  return preview;
}

describe('GET /posts/{id}/comments', () => {
  // COMMENT-1
  test('lists roots newest first, with their replies nested one level, oldest first', async () => {
    const first = await say(ines, 'first');
    const second = await say(mara, 'second');
    const reply = await say(mara, 'reply to first', { parent_id: first.id });
    await say(ines, 'reply to the reply', { parent_id: reply.id });
    await say(ines, 'reply to second', { parent_id: second.id });
    const { items, next_cursor } = await threadOf(olga);
    expect(next_cursor).toBeNull();
    expect(items.map(({ body, replies }) => [body, replies.map((one) => one.body)])).toEqual([
      ['second', ['reply to second']],
      ['first', ['reply to first', 'reply to the reply']],
    ]);
    expect(items[1]).toEqual({
      id: first.id,
      post_id: post,
      parent_id: null,
      body: 'first',
      created_at: first.created_at,
      edited_at: null,
      author: { ref: ines.ref, username: 'ines', display_name: 'ines', avatar_url: null },
      like_count: 0,
      liked: false,
      reply_count: 2,
      replies: [
        {
          id: reply.id,
          post_id: post,
          parent_id: first.id,
          body: 'reply to first',
          created_at: reply.created_at,
          edited_at: null,
          author: { ref: mara.ref, username: 'mara', display_name: 'mara', avatar_url: null },
          like_count: 0,
          liked: false,
          reply_count: 0,
        },
        expect.objectContaining({ parent_id: first.id, reply_count: 0 }),
      ],
    });
  });

  test('omits deleted comments and replies, and comments of other posts', async () => {
    expect(await threadOf(ines)).toEqual({ items: [], next_cursor: null });
    const [kept = ''] = await lay({ at: 1 }, { at: 2, deleted: true });
    const [reply = ''] = await lay({ at: 3, parent: kept }, { at: 4, parent: kept, deleted: true });
    const other = await publish(mara, [picture]);
    await mara.ok('createComment', { params: { id: other.id }, body: { body: 'elsewhere' } });
    const { items } = await threadOf(ines);
    expect(items).toMatchObject([{ id: kept, reply_count: 1, replies: [{ id: reply }] }]);
  });

  test('pages contain every root once, ordered by id when their times are equal', async () => {
    const roots = await lay(...Array.from({ length: 12 }, (_, i) => ({ at: Math.floor(i / 4) })));
    const [parent = ''] = roots;
    await lay({ at: 9, parent }, { at: 2, deleted: true }, { at: 2, deleted: true });
    const expected = roots
      .map((id, i) => ({ id, at: Math.floor(i / 4) }))
      .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    const whole = await threadOf(ines);
    expect(idsOf(whole.items)).toEqual(idsOf(expected));
    expect(whole.next_cursor).toBeNull();
    for (const lengths of [[5, 5, 2], [6, 6], [12]]) {
      const pages = await pagesOf((from) => threadOf(ines, { limit: lengths[0] ?? 0, ...from }));
      expect(pages.map(({ length }) => length)).toEqual(lengths);
      expect(idsOf(pages.flat())).toEqual(idsOf(expected));
    }
  });

  test('pages neither repeat nor lose a root while others are added and deleted', async () => {
    const ids = (await lay(...Array.from({ length: 9 }, (_, i) => ({ at: i })))).reverse();
    const first = await threadOf(ines, { limit: 3 });
    expect(idsOf(first.items)).toEqual(ids.slice(0, 3));
    const added = await say(ines, 'new');
    // The first of them is the comment that the cursor names.
    for (const gone of [ids[2], ids[4]]) await mara.ok('deleteComment', { params: { id: gone ?? nowhere } });
    const rest = await threadOf(ines, { cursor: first.next_cursor ?? '' });
    expect(idsOf(rest.items)).toEqual([ids[3], ...ids.slice(5)]);
    expect(idsOf(rest.items)).not.toContain(added.id);
  });

  test('has 50 items per page by default, and at most 200', async () => {
    await sql`insert into comments (post_id, author_user_ref, body)
      select ${post}, ${mara.ref}, 'x' from generate_series(1, 60)`.execute(db);
    expect((await threadOf(ines)).items).toHaveLength(50);
    expect((await threadOf(ines, { limit: 200 })).items).toHaveLength(60);
  });

  // HTTP-10
  test('needs a fixed number of statements, regardless of the number of roots and replies', {
    tags: ['one-process'],
  }, async () => {
    const roots = await lay(...Array.from({ length: 10 }, (_, i) => ({ at: i })));
    await lay(...roots.flatMap((parent) => [1, 2, 3].map((at) => ({ at: 40 + at, parent }))));
    const count = async (limit: number) => {
      const [{ items }, statements] = await countStatements(library, () => threadOf(ines, { limit }));
      expect(items.flatMap(({ replies }) => replies)).toHaveLength(3 * limit);
      return statements;
    };
    await count(1);
    // Statements: session, right to read, roots, comments of guests, replies.
    expect([await count(1), await count(10)]).toEqual([5, 5]);
  });
});

describe('replies', () => {
  // COMMENT-1, COMMENT-2
  test('the oldest twenty come with their root; GET /comments/{id}/replies pages all, newest first', async () => {
    const [root = '', other = ''] = await lay({ at: 0 }, { at: 0 });
    const replies = await lay(...Array.from({ length: 23 }, (_, i) => ({ at: 1 + i, parent: root })));
    await lay({ at: 3, parent: root, deleted: true }, { at: 4, parent: other });
    const shown = (await threadOf(ines)).items.find(({ id }) => id === root);
    expect(shown?.reply_count).toBe(23);
    expect(idsOf(shown?.replies ?? [])).toEqual(replies.slice(0, 20));
    const expected = replies.toReversed();
    expect(idsOf((await repliesOf(ines, root)).items)).toEqual(expected);
    const pages = await pagesOf((from) => repliesOf(ines, root, { limit: 4, ...from }));
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4, 3]);
    expect(idsOf(pages.flat())).toEqual(expected);
    expect((await repliesOf(ines, root, { limit: 23 })).next_cursor).toBeNull();
  });

  test('have the same form nested and on their own; those of equal times are ordered by id', async () => {
    const [root = ''] = await lay({ at: 0 });
    const peer = { at: 5, parent: root, authorRef: null, remote: 'Ada' };
    const ids = await lay(...Array.from({ length: 4 }, () => ({ at: 5, parent: root })), peer);
    const nested = (await threadOf(ines)).items[0]?.replies ?? [];
    expect(idsOf(nested)).toEqual(ids.toSorted());
    expect((await repliesOf(ines, root)).items).toEqual(nested.toReversed());
  });

  // COMMENT-2
  test('of a reply are an empty list; of a deleted or unknown comment 404', async () => {
    const [root = '', gone = ''] = await lay({ at: 0 }, { at: 0, deleted: true });
    const [reply = ''] = await lay({ at: 1, parent: root });
    expect(await repliesOf(ines, reply)).toEqual({ items: [], next_cursor: null });
    for (const id of [gone, nowhere])
      expect((await ines.refused('listReplies', { params: { id } })).status).toBe(404);
  });
});

// IDENTITY-2
describe('identities in a thread', () => {
  type Columns = Partial<Record<'display_name' | 'fullname' | 'avatar_asset_id', string | null>> & {
    hide_from_anonymous?: boolean;
  };
  const setColumns = (columns: Columns) =>
    db.updateTable('users').set(columns).where('ref', '=', ines.ref).execute();

  /** Returns the author that this caller sees of the only root, and checks that its only reply shows the same. */
  async function shownTo(caller: Visitor): Promise<CommentRoot['author']> {
    const { items } = await threadOf(caller);
    expect(items).toHaveLength(1);
    const [root] = items;
    expect(root?.replies).toHaveLength(1);
    expect(root?.replies[0]?.author).toEqual(root?.author);
    if (root?.author === undefined) expect(Object.keys(root ?? {})).not.toContain('author');
    expect((await repliesOf(caller, root?.id ?? nowhere)).items[0]?.author).toEqual(root?.author);
    await expectPreview(caller);
    return root?.author;
  }

  beforeEach(async () => {
    await library.setPublicMode(true);
    const names = { display_name: null, fullname: null };
    await setColumns({ ...names, avatar_asset_id: null, hide_from_anonymous: false });
    const [root = ''] = await lay({ at: 0, authorRef: ines.ref });
    await lay({ at: 1, authorRef: ines.ref, parent: root });
  });

  // IDENTITY-2
  test('are named by display name, else full name (never to anonymous callers), else username', async () => {
    const names = async () => [
      (await shownTo(olga))?.display_name,
      (await shownTo(library.anonymous()))?.display_name,
    ];
    expect(await names()).toEqual(['ines', 'ines']);
    await setColumns({ fullname: 'Ines Maria Costa' });
    expect(await names()).toEqual(['Ines Maria Costa', 'ines']);
    await setColumns({ display_name: 'Inês' });
    expect(await names()).toEqual(['Inês', 'Inês']);
    await setColumns({ display_name: '  ', fullname: ' ' });
    expect(await names()).toEqual(['ines', 'ines']);
    await setColumns({ fullname: 'Ines Maria Costa' });
    const { text } = await library.anonymous().send(`/posts/${post}/comments`);
    expect(text).not.toContain('Costa');
  });

  // IDENTITY-1
  test('are exactly ref, username, display name and avatar', async () => {
    const avatar = await upload(mara, await jpeg(60, 40));
    await setColumns({ avatar_asset_id: avatar.id });
    expect(await shownTo(library.anonymous())).toEqual({
      ref: ines.ref,
      username: 'ines',
      display_name: 'ines',
      avatar_url: `/api/v1/assets/${avatar.id}/variants/col`,
    });
  });

  // IDENTITY-3
  test('are withheld from anonymous callers when the user hides from them; the comment is shown', async () => {
    await setColumns({ hide_from_anonymous: true });
    expect(await shownTo(library.anonymous())).toBeUndefined();
    expect(await shownTo(olga)).toMatchObject({ ref: ines.ref });
    const { text } = await library.anonymous().send(`/posts/${post}/comments`);
    expect(text).not.toContain('ines');
    const hers = new RegExp(`ref":${ines.ref}\\b`);
    expect(text).not.toMatch(hers);
    expect((await olga.send(`/posts/${post}/comments`)).text).toMatch(hers);
  });

  // IDENTITY-4
  test('of a removed account are withheld from everyone; the comment is shown', async () => {
    const nina = await library.join('nina');
    const [gone = ''] = await lay({ at: 7, body: 'still here', authorRef: nina.ref });
    await lay({ at: 8, body: 'so is this', authorRef: nina.ref, parent: gone });
    await db.deleteFrom('users').where('ref', '=', nina.ref).execute();
    for (const caller of [mara, ines, library.anonymous()]) {
      const root = (await threadOf(caller)).items[0];
      expect(root).toMatchObject({ id: gone, body: 'still here', reply_count: 1 });
      expect(root?.replies[0]).toMatchObject({ body: 'so is this' });
      for (const one of [root ?? {}, root?.replies[0] ?? {}]) expect(one).not.toHaveProperty('author');
      await expectPreview(caller);
    }
    expect(await mara.ok('getPost', { params: { id: post } })).toMatchObject({ comment_count: 4 });
  });

  // IDENTITY-4
  test('of a disabled account are shown', async () => {
    const nina = await library.join('nadia');
    const [root = ''] = await lay({ at: 7, authorRef: nina.ref });
    await setStatus(library, nina, 'disabled');
    const { items } = await threadOf(olga);
    expect(items[0]).toMatchObject({ id: root, author: { ref: nina.ref } });
  });

  // IDENTITY-5
  test('of a peer’s comment are left out, and it has a remote name, which local comments do not have', async () => {
    const [local] = (await threadOf(mara)).items;
    for (const one of [local ?? {}, local?.replies[0] ?? {}])
      expect(one).not.toHaveProperty('remote_display_name');
    for (const [place, remote_display_name] of ['Ada of elsewhere', ''].entries()) {
      const peer = { at: 7 + place, authorRef: null, remote: remote_display_name };
      const [root = ''] = await lay(peer);
      await lay({ ...peer, parent: root });
      const [shown] = (await threadOf(library.anonymous())).items;
      expect(shown).toMatchObject({ id: root, remote_display_name, replies: [{ remote_display_name }] });
      expect(shown).not.toHaveProperty('author');
      for (const caller of [olga, library.anonymous()])
        expect((await expectPreview(caller))[0]).toMatchObject({ id: root, remote_display_name });
    }
  });
});

// POST-33
describe('comments_preview', () => {
  // COMMENT-12, HTTP-5
  test('has the newest three roots with exactly its keys, in every response that is a post', async () => {
    expect(await previewOf(olga)).toEqual([]);
    const [hello = ''] = await lay({ at: 2, body: 'hello', authorRef: ines.ref });
    await lay({ at: 3, parent: hello }, { at: 4, deleted: true });
    await mara.ok('likeComment', { params: { id: hello } });
    await ines.ok('updateComment', { params: { id: hello }, body: { body: 'edited' } });
    const [shown] = await expectPreview(mara);
    expect(shown).toEqual({
      id: hello,
      body: 'edited',
      created_at: expect.stringMatching(/^2026-01-01T00:00:02(\.0+)?Z$/),
      author: { ref: ines.ref, username: 'ines', display_name: 'ines', avatar_url: null },
    });
    const answers = [
      await mara.ok('updatePost', { params: { id: post }, body: { title: 'x' } }),
      await mara.ok('unpublishPost', { params: { id: post } }),
      ...(await mara.ok('listPosts', { query: { draft: true } })).items,
      await mara.ok('publishPost', { params: { id: post }, body: undefined }),
      ...(await mara.ok('listAssetPosts', { params: { id: picture.id } })).items,
    ].filter(({ id }) => id === post);
    expect(answers).toHaveLength(5);
    for (const { comments_preview } of answers) expect(comments_preview?.[0]).toEqual(shown);
  });

  // POST-33
  test('is the first roots of the thread of its post for every caller after every change', async () => {
    await library.setPublicMode(true);
    const agree = async () => {
      for (const caller of [mara, ines, library.anonymous()]) await expectPreview(caller);
      return (await previewOf(olga)).map(({ body }) => body);
    };
    expect(await agree()).toEqual([]);
    const other = await publish(mara, [picture], { visibility: 'public' });
    await mara.ok('createComment', { params: { id: other.id }, body: { body: 'of another post' } });
    // Equal times are ordered as in the thread.
    await lay(...Array.from({ length: 6 }, (_, n) => ({ at: 1, body: `${n}` })));
    await agree();
    const first = await say(ines, 'first');
    const second = await say(mara, 'second');
    for (const body of ['third', 'fourth']) await say(ines, body);
    expect(await agree()).toEqual(['fourth', 'third', 'second']);
    // The next comment takes the place of a deleted one.
    await mara.ok('deleteComment', { params: { id: second.id } });
    const body = `${clef.repeat(9999)}\n`;
    await ines.ok('updateComment', { params: { id: first.id }, body: { body } });
    expect(await agree()).toEqual(['fourth', 'third', body]);
    await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
    await agree();
  });
});

// COMMENT-13
test('deleting and restoring a post deletes and restores its thread', async () => {
  const [root = ''] = await lay({ at: 0 });
  await lay({ at: 1, parent: root });
  const before = await threadOf(ines);
  await mara.ok('deletePost', { params: { id: post }, body: undefined });
  for (const caller of [mara, ines]) {
    expect((await caller.refused('listComments', { params: { id: post } })).status).toBe(404);
    expect((await caller.refused('listReplies', { params: { id: root } })).status).toBe(404);
  }
  await mara.ok('restorePost', { params: { id: post } });
  expect(await threadOf(ines)).toEqual(before);
  expect(await ines.ok('getPost', { params: { id: post } })).toMatchObject({ comment_count: 2 });
});

test('the counter of a post is right after its comments are removed for good', async () => {
  const [root = ''] = await lay({ at: 0 });
  await lay({ at: 1, parent: root });
  await sql`delete from comments where id = ${root}`.execute(db);
  expect(await mara.ok('getPost', { params: { id: post } })).toMatchObject({ comment_count: 0 });
});
