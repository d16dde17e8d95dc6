import type { CommentPreview } from '@vitrine/contract/comments';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let ines: Account;
let olga: Account;
let root: Account;
let picture: { id: string };
let post: string;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, olga, root] = await Promise.all([
    library.join('mara'),
    library.join('ines'),
    library.join('olga', 'viewer'),
    library.join('root', 'admin'),
  ]);
  picture = await upload(mara, await jpeg(60, 40));
  await library.runJobs();
});

beforeEach(async () => {
  await library.setPublicMode(true);
  await library.deps.db
    .updateTable('users')
    .set({ display_name: null, fullname: null, avatar_asset_id: null, hide_from_anonymous: false })
    .where('ref', '=', ines.ref)
    .execute();
  await library.deps.db.deleteFrom('posts').execute();
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

const moment = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

interface Laid {
  at: number;
  body?: string;
  parent?: string;
  authorRef?: number | null;
  remote?: string;
  deleted?: boolean;
}

/** Inserts a comment with a given time, which the API does not allow. */
async function lay({ at, body = 'x', parent, authorRef = ines.ref, remote, deleted }: Laid): Promise<string> {
  const { id } = await library.deps.db
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
  return id;
}

/** Returns the preview that this caller sees, and checks that it is the same wherever the post is shown. */
async function previewOf(caller: Visitor): Promise<CommentPreview[] | undefined> {
  const single = await caller.ok('getPost', { params: { id: post } });
  const listed = (await caller.ok('listPosts')).items.find(({ id }) => id === post);
  const byAsset = (await caller.ok('listPostsByAsset', { params: { id: picture.id } })).find(
    ({ id }) => id === post,
  );
  expect(listed).toBeDefined();
  expect(listed?.comments_preview).toEqual(single.comments_preview);
  expect(byAsset?.comments_preview).toEqual(single.comments_preview);
  return single.comments_preview;
}

/** Returns the roots of the thread with the fields of a preview (COMMENT-12). */
async function rootsOf(caller: Visitor): Promise<CommentPreview[]> {
  const { items } = await caller.ok('listComments', { params: { id: post }, query: { limit: 3 } });
  return items.map(({ id, body, created_at, author, remote_display_name }) => ({
    id,
    body,
    created_at,
    ...(author === undefined ? {} : { author }),
    ...(remote_display_name === undefined ? {} : { remote_display_name }),
  }));
}

const idsOf = (items: readonly { id: string }[] | undefined) => items?.map(({ id }) => id);

// POST-33
describe('comments_preview', () => {
  test('is empty without comments, also after all were deleted', async () => {
    expect((await previewOf(olga)) ?? []).toEqual([]);
    const gone = await lay({ at: 1, deleted: true });
    await lay({ at: 2, parent: gone, deleted: true });
    expect((await previewOf(olga)) ?? []).toEqual([]);
    expect(await rootsOf(olga)).toEqual([]);
  });

  // POST-33
  test('contains the newest three top-level comments, newest first', async () => {
    const ids = [];
    for (const at of [1, 2, 3, 4, 5]) ids.push(await lay({ at, body: `number ${at}` }));
    expect(idsOf(await previewOf(olga))).toEqual([ids[4], ids[3], ids[2]]);
    expect((await previewOf(olga))?.map(({ body }) => body)).toEqual(['number 5', 'number 4', 'number 3']);
  });

  // POST-33
  test('contains neither replies nor deleted comments', async () => {
    const first = await lay({ at: 1 });
    const second = await lay({ at: 2 });
    await lay({ at: 3, deleted: true });
    for (const at of [4, 5, 6]) await lay({ at, parent: first, body: 'reply' });
    expect(idsOf(await previewOf(olga))).toEqual([second, first]);
  });

  test('orders comments of equal times as the thread does', async () => {
    const ids = [];
    for (let i = 0; i < 8; i += 1) ids.push(await lay({ at: 1 }));
    expect(idsOf(await previewOf(olga))).toEqual(ids.sort().reverse().slice(0, 3));
  });

  // POST-33
  test('equals the first roots of the thread for every caller after every change', async () => {
    const callers = [mara, ines, olga, root, library.anonymous()];
    const agree = async () => {
      for (const caller of callers) expect((await previewOf(caller)) ?? []).toEqual(await rootsOf(caller));
    };
    const say = (caller: Account, body: string) =>
      caller.ok('createComment', { params: { id: post }, body: { body } });
    const hide = (hidden: boolean) =>
      library.deps.db
        .updateTable('users')
        .set({ hide_from_anonymous: hidden })
        .where('ref', '=', ines.ref)
        .execute();
    await agree();
    const first = await say(ines, 'first');
    await lay({ at: 5, authorRef: null, remote: 'Ada' });
    await agree();
    const second = await say(mara, 'second');
    await say(ines, 'third');
    await say(root, 'fourth');
    await agree();
    await hide(true);
    await agree();
    await mara.ok('deleteComment', { params: { id: second.id } });
    await ines.ok('updateComment', { params: { id: first.id }, body: { body: 'edited' } });
    await agree();
    expect((await previewOf(olga))?.map(({ body }) => body)).toEqual(['fourth', 'third', 'edited']);
    await hide(false);
    await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
    await agree();
  });

  test('includes the next comment when one of the three is deleted', async () => {
    const ids = [];
    for (const at of [1, 2, 3, 4]) ids.push(await lay({ at }));
    await ines.ok('deleteComment', { params: { id: ids[2] ?? '' } });
    expect(idsOf(await previewOf(olga))).toEqual([ids[3], ids[1], ids[0]]);
  });

  test('is in every response that is a post', async () => {
    const id = await lay({ at: 1 });
    const answers = [
      await mara.ok('updatePost', { params: { id: post }, body: { title: 'x' } }),
      await mara.ok('unpublishPost', { params: { id: post } }),
      ...(await mara.ok('listPosts', { query: { draft: true } })).items,
      await mara.ok('publishPost', { params: { id: post } }),
      ...(await mara.ok('listAssetPosts', { params: { id: picture.id } })).items,
    ];
    expect(answers).toHaveLength(5);
    for (const answer of answers) expect(idsOf(answer.comments_preview)).toEqual([id]);
  });

  test('in a list belongs to each post', async () => {
    const first = post;
    const a = await lay({ at: 1, body: 'of the first' });
    post = (await publish(mara, [picture], { visibility: 'public' })).id;
    const b = await lay({ at: 2, body: 'of the second' });
    const quiet = await publish(mara, [picture], { visibility: 'public' });
    const { items } = await olga.ok('listPosts');
    const shown = new Map(items.map((item) => [item.id, idsOf(item.comments_preview)]));
    expect([shown.get(first), shown.get(post), shown.get(quiet.id)]).toEqual([[a], [b], undefined]);
  });

  // POST-33
  test('is withheld from callers who cannot read the post', async () => {
    await lay({ at: 1, body: 'between us' });
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
    for (const caller of [ines, library.anonymous()]) {
      for (const path of [`/posts/${post}`, '/posts', `/posts/by-asset/${picture.id}`])
        expect((await caller.send(path)).text).not.toContain('between us');
    }
  });
});

// COMMENT-12
describe('CommentPreview', () => {
  // COMMENT-12
  test('has exactly its keys: no reply, like, edit or depth data', async () => {
    const id = await lay({ at: 1, body: 'hello' });
    await lay({ at: 2, parent: id });
    await mara.ok('likeComment', { params: { id } });
    await ines.ok('updateComment', { params: { id }, body: { body: 'edited' } });
    expect(await previewOf(mara)).toEqual([
      {
        id,
        body: 'edited',
        created_at: expect.stringMatching(/^2026-01-01T00:00:01(\.0+)?Z$/),
        author: { ref: ines.ref, username: 'ines', display_name: 'ines', avatar_url: null },
      },
    ]);
  });

  // HTTP-5
  test('has the times of the thread, in UTC', async () => {
    const { db } = library.deps;
    for (const created_at of [
      '2026-03-29T01:30:00.120Z',
      '2026-03-29T01:30:01Z',
      '2026-12-31T23:59:59.999Z',
    ]) {
      await db
        .insertInto('comments')
        .values({ post_id: post, author_user_ref: ines.ref, body: 'x', created_at })
        .execute();
    }
    const shown = (await previewOf(olga)) ?? [];
    expect(shown).toEqual(await rootsOf(olga));
    expect(shown.map(({ created_at }) => Date.parse(created_at))).toEqual(
      ['2026-12-31T23:59:59.999Z', '2026-03-29T01:30:01Z', '2026-03-29T01:30:00.120Z'].map(Date.parse),
    );
  });

  test.each(['x'.repeat(10_000), '\u{1d11e}'.repeat(10_000), '<b>\n"\\u0041" \u2028 é', "'; --"])(
    'has the body as written, untruncated (%#)',
    async (body) => {
      await ines.ok('createComment', { params: { id: post }, body: { body } });
      expect((await previewOf(olga))?.map((one) => one.body)).toEqual([body]);
    },
  );

  test('shows the author’s name as the caller may see it', async () => {
    await lay({ at: 1 });
    await library.deps.db
      .updateTable('users')
      .set({ fullname: 'Ines Maria Costa', avatar_asset_id: picture.id })
      .where('ref', '=', ines.ref)
      .execute();
    const authorFor = async (caller: Visitor) => (await previewOf(caller))?.[0]?.author;
    const avatar_url = `/api/v1/assets/${picture.id}/variants/col`;
    const known = { ref: ines.ref, username: 'ines', avatar_url };
    expect(await authorFor(olga)).toEqual({ ...known, display_name: 'Ines Maria Costa' });
    expect(await authorFor(library.anonymous())).toEqual({ ...known, display_name: 'ines' });
  });

  // IDENTITY-3
  test('omits the author for anonymous callers when the user hides from them', async () => {
    const id = await lay({ at: 1, body: 'still here' });
    await library.deps.db
      .updateTable('users')
      .set({ hide_from_anonymous: true })
      .where('ref', '=', ines.ref)
      .execute();
    expect(await previewOf(library.anonymous())).toEqual([
      { id, body: 'still here', created_at: expect.any(String) },
    ]);
    expect(await previewOf(olga)).toMatchObject([{ id, author: { ref: ines.ref } }]);
  });

  // IDENTITY-4
  test('omits the author for everyone when the account was removed', async () => {
    const nina = await library.join('nina');
    const id = await lay({ at: 1, authorRef: nina.ref });
    await library.deps.db.deleteFrom('users').where('ref', '=', nina.ref).execute();
    for (const caller of [mara, root, library.anonymous()])
      expect(await previewOf(caller)).toEqual([{ id, body: 'x', created_at: expect.any(String) }]);
  });

  // IDENTITY-5
  test.each(['Ada of elsewhere', ''])('has a peer’s remote name %j instead of an author', async (remote) => {
    const id = await lay({ at: 1, authorRef: null, remote });
    for (const caller of [olga, library.anonymous()])
      expect(await previewOf(caller)).toEqual([
        { id, body: 'x', created_at: expect.any(String), remote_display_name: remote },
      ]);
  });
});
