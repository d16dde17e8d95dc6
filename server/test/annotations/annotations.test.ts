import type { Anchor } from '@vitrine/contract/annotations';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Listening, listen } from '../notifications/streams.ts';
import { told } from '../notifications/telling.ts';
import type { Visitor } from '../support/client.ts';
import { formOf, openLibrary, publish, upload } from '../support/library.ts';
import { grant, nowhere, setStatus } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

let post: string;

const library = await openLibrary();
const { db } = library.deps;
const [mara, ines, otto, moderator] = await library.joinAll('mara', 'ines', 'otto', 'moderator');
const olga = await library.join('olga', 'viewer');
await grant(library, moderator, 'posts.admin');
const picture = await upload(mara, plainFile('a'));
const secret = await upload(mara, plainFile('b'), { sensitivity: 'restricted' });
await mara.ok('putAssetShare', { params: { id: secret.id, user_ref: otto.ref }, body: {} });

beforeEach(async () => {
  await library.setPublicMode(false);
  post = (await publish(mara, [picture, secret], { visibility: 'public' })).id;
});

const point: Anchor = { kind: 'point', x: 0.5, y: 0.25 };

interface Given {
  asset_id?: string;
  version?: number;
  anchor?: unknown;
  body?: string;
  strokes?: unknown;
}

const given = ({ asset_id = picture.id, anchor = point, body = 'Look here.', ...rest }: Given) => ({
  params: { id: post },
  // Some of them are malformed on purpose.
  body: { asset_id, anchor: anchor as Anchor, body, ...(rest as object) },
});
const annotate = (caller: Visitor, what: Given = {}) => caller.ok('createAnnotation', given(what));
const setMime = (mime: string) =>
  db.updateTable('files').set({ mime, media: '{}' }).where('hash', '=', String(picture.file_hash)).execute();
const annotateRefused = async (caller: Visitor, what: Given = {}, to = post) =>
  (await caller.refused('createAnnotation', { ...given(what), params: { id: to } })).status;
const reply = (caller: Visitor, parent_id: string, body = 'Yes.') =>
  caller.ok('createComment', { params: { id: post }, body: { body, parent_id } });
const listed = async (caller: Visitor, query: Record<string, unknown> = {}) =>
  (await caller.ok('listComments', { params: { id: post }, query })).items;
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);
const postOf = (caller: Visitor) => caller.ok('getPost', { params: { id: post } });

// ANNOTATION-1, ANNOTATION-2
describe('POST /posts/{id}/annotations', () => {
  test('answers with a comment about the place, which the thread lists', async () => {
    const made = await annotate(ines);
    expect(made).toMatchObject({
      post_id: post,
      parent_id: null,
      body: 'Look here.',
      author: { ref: ines.ref },
      annotation: { asset_id: picture.id, version: 1, anchor: point },
    });
    expect(made).not.toHaveProperty('resolved_at');
    expect(await listed(mara)).toEqual([{ ...made, replies: [] }]);
  });

  test.each<[string, Anchor]>([
    ['a region', { kind: 'region', x: 0.7, y: 0.6, w: 0.3, h: 0.4 }],
    [
      'a shape',
      {
        kind: 'shape',
        points: [
          [0, 0],
          [1, 0.5],
          [0.25, 1],
        ],
      },
    ],
    ['a moment', { kind: 'time', start: 1.9602917 }],
    ['a range of a film with a place', { kind: 'time', start: 0, end: 2.5, x: 0.1, y: 0.2, w: 0.3, h: 0.4 }],
    ['a page', { kind: 'page', page: 3, x: 0.5, y: 0.5 }],
    ['a view of a model', { kind: 'camera', position: [1, -2, 3.5], target: [0, 0, 0], point: [0.5, 0, 0] }],
  ])('takes %s and returns it as it was sent', async (_, anchor) => {
    const mime = { time: 'video/mp4', camera: 'model/gltf-binary', page: 'application/pdf' };
    await setMime(mime[anchor.kind as 'time'] ?? 'image/png');
    expect((await annotate(ines, { anchor })).annotation?.anchor).toEqual(anchor);
  });

  test('takes a drawing without a body', async () => {
    const strokes = [
      {
        tool: 'arrow' as const,
        points: [
          [0, 0],
          [0.5, 0.5],
        ],
        color: '#ff0000',
      },
    ];
    const made = await ines.ok('createAnnotation', {
      params: { id: post },
      body: { asset_id: picture.id, anchor: point, strokes },
    });
    expect(made).toMatchObject({ body: '', annotation: { strokes } });
    const nothing = { params: { id: post }, body: { asset_id: picture.id, anchor: point } };
    expect(await ines.refused('createAnnotation', nothing)).toMatchObject({ status: 422 });
  });

  test.each<[string, unknown]>([
    ['a point outside the picture', { kind: 'point', x: 1.01, y: 0 }],
    ['a region that leaves the picture', { kind: 'region', x: 0.8, y: 0, w: 0.3, h: 0.1 }],
    [
      'a place of a frame that leaves the picture',
      { kind: 'time', start: 0, x: 0.5, y: 0.9, w: 0.1, h: 0.2 },
    ],
    ['half a point', { kind: 'time', start: 0, x: 0.5 }],
    ['a width without a height', { kind: 'page', page: 1, x: 0, y: 0, w: 0.5 }],
    ['a size without a point', { kind: 'page', page: 1, w: 0.5, h: 0.5 }],
    ['a negative time', { kind: 'time', start: -1 }],
    ['a time that is no number', { kind: 'time', start: null }],
    ['a time as text', { kind: 'time', start: 'NaN' }],
    ['an end before the start', { kind: 'time', start: 2, end: 1.5 }],
    ['page 0', { kind: 'page', page: 0 }],
    ['half a page', { kind: 'page', page: 1.5 }],
    ['a shape of one point', { kind: 'shape', points: [[0, 0]] }],
    ['an unknown kind', { kind: 'mood' }],
    ['a property of another kind', { kind: 'point', x: 0, y: 0, page: 1 }],
  ])('refuses %s', async (_, anchor) => {
    expect([400, 422]).toContain(await annotateRefused(ines, { anchor }));
  });

  test('refuses an infinite time, in which JSON has no number', async () => {
    const text = `{"asset_id":"${picture.id}","body":"x","anchor":{"kind":"time","start":1e999}}`;
    const headers = { 'content-type': 'application/json' };
    const { status } = await ines.send(`/posts/${post}/annotations`, { method: 'POST', body: text, headers });
    expect(status).toBe(400);
  });

  test('refuses a page and a time beyond the file, where its pages and its duration are known', async () => {
    const media = JSON.stringify({ page_count: 3, duration_seconds: 12.5 });
    await db
      .updateTable('files')
      .set({ media, mime: 'video/mp4' })
      .where('hash', '=', String(picture.file_hash))
      .execute();
    expect(await annotateRefused(ines, { anchor: { kind: 'page', page: 4 } })).toBe(422);
    expect(await annotateRefused(ines, { anchor: { kind: 'time', start: 14 } })).toBe(422);
    expect(await annotateRefused(ines, { anchor: { kind: 'time', start: 1, end: 14 } })).toBe(422);
    await annotate(ines, { anchor: { kind: 'page', page: 3 } });
    await annotate(ines, { anchor: { kind: 'time', start: 12.5 } });
  });

  test.each<[string, string, Anchor]>([
    ['a moment of a picture', 'image/png', { kind: 'time', start: 0 }],
    ['a page of a film', 'video/mp4', { kind: 'page', page: 1 }],
    ['a page of a picture', 'image/png', { kind: 'page', page: 1 }],
    ['a moment of a document', 'application/pdf', { kind: 'time', start: 0 }],
    ['a point of a sound', 'audio/mpeg', point],
    ['a view of a picture', 'image/png', { kind: 'camera', position: [0, 0, 1], target: [0, 0, 0] }],
  ])('refuses %s', async (_, mime, anchor) => {
    await setMime(mime);
    expect(await ines.refused('createAnnotation', given({ anchor }))).toEqual({
      status: 422,
      error: `anchor: a file of the type ${mime} has no such place`,
    });
  });

  test('refuses a version that was deleted, whose annotations stay', async () => {
    const file = await upload(mara, plainFile('first'));
    post = (await publish(mara, [file], { visibility: 'public' })).id;
    const { id } = await annotate(ines, { asset_id: file.id });
    await mara.ok('addAssetVersion', { params: { id: file.id }, body: formOf(plainFile('second'), {}) });
    await annotate(ines, { asset_id: file.id, version: 1 });
    await mara.ok('deleteAssetVersion', { params: { id: file.id, number: 1 } });
    expect(await annotateRefused(ines, { asset_id: file.id, version: 1 })).toBe(404);
    expect(idsOf(await listed(ines, { asset_id: file.id }))).toContain(id);
    expect((await annotate(ines, { asset_id: file.id })).annotation?.version).toBe(2);
  });

  test('refuses 10,000 strokes', async () => {
    const strokes = Array.from({ length: 10_000 }, () => ({ points: [[0, 0]] }));
    expect(await annotateRefused(ines, { strokes })).toBe(400);
  });

  test('is 404 for files that are not in the post, withheld files and unknown posts alike', async () => {
    const other = await upload(mara, plainFile('other'));
    const asked = [other.id, secret.id, nowhere].map((asset_id) => given({ asset_id }));
    const answers = await Promise.all(asked.map((input) => ines.refused('createAnnotation', input)));
    expect(answers).toEqual(asked.map(() => ({ status: 404, error: 'the post has no such file' })));
    expect(await annotateRefused(ines, {}, nowhere)).toBe(404);
    await annotate(otto, { asset_id: secret.id });
  });

  test('is 404 for a version that does not exist, and takes earlier ones that do', async () => {
    const file = await upload(mara, plainFile('first'));
    post = (await publish(mara, [file], { visibility: 'public' })).id;
    const addVersion = async (text: string) =>
      mara.ok('addAssetVersion', { params: { id: file.id }, body: formOf(plainFile(text)) });
    await addVersion('second');
    expect(await annotateRefused(ines, { asset_id: file.id, version: 3 })).toBe(404);
    const onFirst = await annotate(ines, { asset_id: file.id, version: 1 });
    expect(onFirst.annotation?.version).toBe(1);
    expect((await annotate(ines, { asset_id: file.id })).annotation?.version).toBe(2);
    await mara.ok('deleteAssetVersion', { params: { id: file.id, number: 1 } });
    expect(await annotateRefused(ines, { asset_id: file.id, version: 1 })).toBe(404);
    // ANNOTATION-4
    expect(idsOf(await listed(ines))).toContain(onFirst.id);
  });

  test('needs posts.comment, and neither enabled comments nor a published post', async () => {
    expect(await annotateRefused(olga)).toBe(403);
    await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
    const { id } = await annotate(ines);
    const answer = { params: { id: post }, body: { body: 'x', parent_id: id } };
    expect(await ines.refused('createComment', answer)).toEqual({ status: 409, error: 'comments_disabled' });
  });

  // ANNOTATION-3
  test('works in drafts, whose annotations have replies', async () => {
    post = (await publish(mara, [picture], { draft: true })).id;
    const { id } = await annotate(mara);
    await reply(mara, id);
    const plain = { params: { id: post }, body: { body: 'x' } };
    expect(await mara.refused('createComment', plain)).toMatchObject({ status: 409 });
    expect(await annotateRefused(ines)).toBe(404);
  });
});

// ANNOTATION-5
describe('an annotation of a withheld file', () => {
  let hidden: string;
  let answer: string;

  beforeEach(async () => {
    hidden = (await annotate(otto, { asset_id: secret.id, body: 'hidden thing' })).id;
    answer = (await reply(otto, hidden, 'hidden answer')).id;
    await annotate(ines, { body: 'seen' });
  });

  test('is listed and counted for readers of the file only', async () => {
    expect((await listed(ines)).map(({ body }) => body)).toEqual(['seen']);
    expect((await listed(otto)).map(({ body }) => body)).toEqual(['seen', 'hidden thing']);
    expect((await listed(otto, { asset_id: secret.id }))[0]?.replies.map(({ id }) => id)).toEqual([answer]);
    expect(await listed(ines, { asset_id: secret.id })).toEqual([]);
    expect((await postOf(ines)).annotation_counts).toEqual([{ asset_id: picture.id, open: 1, resolved: 0 }]);
    expect((await postOf(otto)).annotation_counts).toHaveLength(2);
  });

  test('has an id that answers like an unknown one, and so do its replies', async () => {
    const of = (id: string) => ({ params: { id } });
    for (const id of [hidden, answer]) {
      const edited = { ...of(id), body: { body: 'x' } };
      const answers = [
        await ines.refused('updateComment', edited),
        await ines.refused('deleteComment', of(id)),
        await ines.refused('likeComment', of(id)),
        await ines.refused('unlikeComment', of(id)),
        await ines.refused('listReplies', of(id)),
        await ines.refused('resolveComment', of(id)),
        await ines.refused('reopenComment', of(id)),
        await ines.refused('assignComment', { ...of(id), body: { user_ref: ines.ref } }),
      ];
      const unknown = await ines.refused('likeComment', of(nowhere));
      expect(answers).toEqual(answers.map(() => unknown));
      const replying = { params: { id: post }, body: { body: 'x', parent_id: id } };
      const unknownParent = { params: { id: post }, body: { body: 'x', parent_id: nowhere } };
      expect(await ines.refused('createComment', replying)).toEqual(
        await ines.refused('createComment', unknownParent),
      );
    }
    await otto.ok('likeComment', of(answer));
  });

  test('notifies nobody who may not see the file', async () => {
    await annotate(otto, { asset_id: secret.id, body: 'hidden @ines' });
    await annotate(otto, { body: 'open @ines' });
    await library.runJobs();
    const { items } = await ines.ok('listNotifications');
    expect(items.map(({ comment }) => comment?.excerpt)).not.toContain('hidden @ines');
    expect(items.map(({ comment }) => comment?.excerpt)).toContain('open @ines');
    expect((await ines.ok('getUnreadCount')).count).toBe(items.filter(({ read }) => !read).length);
    const all = await mara.ok('listNotifications');
    expect(all.items.map(({ comment }) => comment?.excerpt)).toContain('hidden @ines');
  });

  test('appears with its file and disappears with it', async () => {
    const members = (...assets: { id: string }[]) => ({
      params: { id: post },
      body: { members: assets.map(({ id }) => ({ asset_id: id })) },
    });
    const { id: seen } = (await listed(ines))[0] ?? { id: '' };
    await mara.ok('updatePost', members(secret));
    expect(await listed(mara, { asset_id: picture.id })).toEqual([]);
    expect(await mara.refused('likeComment', { params: { id: seen } })).toMatchObject({ status: 404 });
    await mara.ok('updatePost', members(picture, secret));
    expect(idsOf(await listed(mara, { asset_id: picture.id }))).toEqual([seen]);
  });
});

test('annotations of a file in the trash are absent, and return with it', async () => {
  const file = await upload(mara, plainFile('binned'));
  post = (await publish(mara, [picture, file], { visibility: 'public' })).id;
  const { id } = await annotate(ines, { asset_id: file.id });
  await mara.ok('deleteAsset', { params: { id: file.id }, body: {} });
  expect(await listed(mara)).toEqual([]);
  expect((await postOf(mara)).annotation_counts).toEqual([]);
  await mara.ok('restoreAsset', { params: { id: file.id } });
  expect(idsOf(await listed(ines))).toEqual([id]);
  await db.deleteFrom('post_members').where('asset_id', '=', file.id).execute();
  await db.deleteFrom('assets').where('id', '=', file.id).execute();
  expect(await db.selectFrom('comments').select('id').where('id', '=', id).execute()).toEqual([]);
});

// ANNOTATION-6
test('the count and the preview of a post leave out annotations and their replies', async () => {
  const { id } = await annotate(ines);
  await reply(otto, id);
  expect(await postOf(mara)).toMatchObject({ comment_count: 0 });
  expect(await postOf(mara)).not.toHaveProperty('comments_preview');
  const plain = await ines.ok('createComment', { params: { id: post }, body: { body: 'plain' } });
  await reply(otto, plain.id);
  const shown = await postOf(mara);
  expect([shown.comment_count, idsOf(shown.comments_preview ?? [])]).toEqual([2, [plain.id]]);
  const inFeed = (await mara.ok('listPosts')).items.find((one) => one.id === post);
  expect([inFeed?.comment_count, idsOf(inFeed?.comments_preview ?? [])]).toEqual([2, [plain.id]]);
  expect((await listed(mara, { annotated: true }))[0]).toMatchObject({ id, reply_count: 1 });
  await ines.ok('deleteComment', { params: { id } });
  await ines.ok('deleteComment', { params: { id: plain.id } });
  expect(await postOf(mara)).toMatchObject({ comment_count: 0, annotation_counts: [] });
});

// ANNOTATION-7
test('lists are filtered by file, kind, state, author and assignee', async () => {
  const other = await upload(mara, plainFile('c'));
  await mara.ok('updatePost', {
    params: { id: post },
    body: { members: [{ asset_id: picture.id }, { asset_id: other.id }] },
  });
  const plain = await ines.ok('createComment', { params: { id: post }, body: { body: 'plain' } });
  const first = await annotate(ines);
  const second = await annotate(otto, { asset_id: other.id });
  await otto.ok('resolveComment', { params: { id: second.id } });
  await ines.ok('assignComment', { params: { id: first.id }, body: { user_ref: otto.ref } });
  const found = async (query: Record<string, unknown>, caller: Visitor = mara) =>
    idsOf(await listed(caller, query));
  expect(await found({})).toEqual([second.id, first.id, plain.id]);
  expect(await found({ asset_id: picture.id })).toEqual([first.id]);
  expect(await found({ annotated: true })).toEqual([second.id, first.id]);
  expect(await found({ annotated: false })).toEqual([plain.id]);
  expect(await found({ resolved: true })).toEqual([second.id]);
  expect(await found({ resolved: false })).toEqual([first.id, plain.id]);
  expect(await found({ author_ref: ines.ref })).toEqual([first.id, plain.id]);
  expect(await found({ assignee: otto.ref })).toEqual([first.id]);
  expect(await found({ resolved: false, annotated: true, author_ref: otto.ref })).toEqual([]);
  const { next_cursor } = await mara.ok('listComments', {
    params: { id: post },
    query: { annotated: true, limit: 1 },
  });
  expect(await found({ annotated: true, limit: 1, cursor: next_cursor })).toEqual([first.id]);
  await library.setPublicMode(true);
  await otto.ok('updateUser', { params: { ref: otto.ref }, body: { hide_from_anonymous: true } });
  const visitor = library.anonymous();
  expect(await found({ author_ref: otto.ref }, visitor)).toEqual([]);
  expect(await found({ assignee: otto.ref }, visitor)).toEqual([]);
  expect(await found({ annotated: true }, visitor)).toEqual([second.id, first.id]);
  await otto.ok('updateUser', { params: { ref: otto.ref }, body: { hide_from_anonymous: false } });
});

// ANNOTATION-8
describe('resolving', () => {
  const of = (id: string) => ({ params: { id } });

  test('names who resolved it, changes the counts, and is idempotent both ways', async () => {
    const { id } = await annotate(ines);
    const resolved = await ines.ok('resolveComment', of(id));
    expect(resolved).toMatchObject({ id, resolved_by: { ref: ines.ref } });
    expect(await mara.ok('resolveComment', of(id))).toEqual(resolved);
    expect((await postOf(otto)).annotation_counts).toEqual([{ asset_id: picture.id, open: 0, resolved: 1 }]);
    for (const _ of [1, 2]) {
      const open = await ines.ok('reopenComment', of(id));
      expect(open).not.toHaveProperty('resolved_at');
      expect(open).not.toHaveProperty('resolved_by');
    }
  });

  test('is for its author, the author of the post, the assignee and posts.admin', async () => {
    const { id } = await annotate(ines);
    for (const account of [ines, mara, moderator]) {
      await account.ok('resolveComment', of(id));
      await account.ok('reopenComment', of(id));
    }
    expect(await otto.refused('resolveComment', of(id))).toMatchObject({ status: 403 });
    expect(await otto.refused('reopenComment', of(id))).toMatchObject({ status: 403 });
    await mara.ok('assignComment', { ...of(id), body: { user_ref: otto.ref } });
    await otto.ok('resolveComment', of(id));
  });

  test('is for roots', async () => {
    const { id } = await reply(ines, (await annotate(ines)).id);
    expect(await ines.refused('resolveComment', of(id))).toMatchObject({ status: 409 });
  });
});

// ANNOTATION-9
describe('assigning', () => {
  const assigned = (id: string, user_ref: number | null) => ({ params: { id }, body: { user_ref } });

  test('names the assignee until it is assigned to nobody', async () => {
    const { id } = await annotate(ines);
    expect(await ines.ok('assignComment', assigned(id, otto.ref))).toMatchObject({
      assignee: { ref: otto.ref },
    });
    expect(await otto.ok('assignComment', assigned(id, null))).not.toHaveProperty('assignee');
    expect(await otto.refused('assignComment', assigned(id, otto.ref))).toMatchObject({ status: 403 });
  });

  // NOTICE-20
  test('notifies the assignee, once for each time, while it is theirs', async () => {
    const { id } = await annotate(ines);
    const notices = async () =>
      (await told(library, otto)).filter(({ kind, comment }) => kind === 'assigned' && comment?.id === id);
    for (const _ of [1, 2]) await ines.ok('assignComment', assigned(id, otto.ref));
    expect(await notices()).toMatchObject([{ actor: { ref: ines.ref }, post: { id: post } }]);
    await ines.ok('assignComment', assigned(id, null));
    expect(await notices()).toEqual([]);
    await mara.ok('assignComment', assigned(id, otto.ref));
    expect(await notices()).toMatchObject([{ actor: { ref: mara.ref } }, { actor: { ref: ines.ref } }]);
    await otto.ok('assignComment', assigned(id, ines.ref));
    expect(await notices()).toEqual([]);
    // An account does not notify itself.
    const mine = await annotate(ines);
    await ines.ok('assignComment', assigned(mine.id, ines.ref));
    const own = (await told(library, ines)).filter(({ comment }) => comment?.id === mine.id);
    expect(own).toEqual([]);
    const withheld = await annotate(otto, { asset_id: secret.id });
    await otto.ok('assignComment', assigned(withheld.id, mara.ref));
    await library.runJobs();
    await mara.ok('updatePost', { params: { id: post }, body: { members: [{ asset_id: picture.id }] } });
    const gone = (await told(library, mara)).filter(({ comment }) => comment?.id === withheld.id);
    expect(gone).toEqual([]);
  });

  test('is 404 for accounts that may not read the annotation, and for unknown ones', async () => {
    const { id } = await annotate(otto, { asset_id: secret.id });
    await otto.ok('assignComment', assigned(id, mara.ref));
    const answers = [
      await otto.refused('assignComment', assigned(id, ines.ref)),
      await otto.refused('assignComment', assigned(id, 987_654_321)),
    ];
    await setStatus(library, olga, 'disabled');
    answers.push(await ines.refused('assignComment', assigned((await annotate(ines)).id, olga.ref)));
    await setStatus(library, olga, 'active');
    expect(answers).toEqual(answers.map(() => ({ status: 404, error: 'user not found' })));
  });
});

// ANNOTATION-10, ANNOTATION-11
describe('GET /events?post=', () => {
  type Data = { id: string; body?: string; deleted?: true; resolved_at?: string };
  const open: Listening[] = [];
  const look = async (caller: Visitor, at = post) => {
    const stream = await listen(library.address, { cookie: caller }, at);
    open.push(stream);
    return stream;
  };
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });

  test('tells of comments, edits, resolutions and deletions as the thread shows them', async () => {
    const stream = await look(otto);
    const made = await annotate(ines);
    expect(await stream.heard<Data>('comment', ({ id }) => id === made.id)).toEqual(made);
    await ines.ok('updateComment', { params: { id: made.id }, body: { body: 'changed' } });
    await stream.heard<Data>('comment', ({ body }) => body === 'changed');
    const answer = await reply(mara, made.id);
    await stream.heard<Data>('comment', ({ id }) => id === answer.id);
    await mara.ok('resolveComment', { params: { id: made.id } });
    await stream.heard<Data>(
      'resolved',
      ({ id, resolved_at }) => id === made.id && resolved_at !== undefined,
    );
    await ines.ok('deleteComment', { params: { id: made.id } });
    const gone = await stream.heard<Data>('comment', ({ deleted }) => deleted === true);
    expect(gone).toEqual({ id: expect.any(String), post_id: post, deleted: true });
  });

  test('tells nothing of withheld files and of other posts', async () => {
    const [seeing, blind] = [await look(otto), await look(ines)];
    const hidden = await annotate(otto, { asset_id: secret.id, body: 'hidden thing' });
    await otto.ok('resolveComment', { params: { id: hidden.id } });
    await otto.ok('deleteComment', { params: { id: hidden.id } });
    const shown = await annotate(mara, { body: 'the last one' });
    await seeing.heard<Data>('comment', ({ deleted }) => deleted === true);
    await blind.heard<Data>('comment', ({ id }) => id === shown.id);
    expect(blind.text()).not.toContain(hidden.id);
    const other = (await publish(mara, [picture], { visibility: 'private' })).id;
    expect((await look(ines, other)).status).toBe(404);
    expect((await look(ines, nowhere)).status).toBe(404);
  });

  test('tells who is looking', async () => {
    const names =
      (...wanted: string[]) =>
      ({ viewers }: { viewers: { username: string }[] }) =>
        viewers.map(({ username }) => username).join() === wanted.join();
    const first = await look(mara);
    await first.heard('presence', names('mara'));
    const second = await look(otto);
    await first.heard('presence', names('mara', 'otto'));
    await second.heard('presence', names('mara', 'otto'));
    second.close();
    await first.heard('presence', names('mara'));
  });

  test('tells nothing to those who may not read the post any more', async () => {
    const [staying, leaving] = [await look(mara), await look(ines)];
    await staying.heard<{ viewers: unknown[] }>('presence', ({ viewers }) => viewers.length === 2);
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
    const made = await annotate(mara, { body: 'for the author' });
    await staying.heard<Data>('comment', ({ id }) => id === made.id);
    await look(mara);
    await staying.heard<{ viewers: unknown[] }>('presence', ({ viewers }) => viewers.length === 1);
    expect(leaving.text()).not.toContain(made.id);
  });
});

// ANNOTATION-15
test('searches find the words of annotations and replies for those who are shown the file', async () => {
  const found = async (caller: Visitor, q: string) =>
    (await caller.ok('search', { query: { q, kind: 'post' } })).items.length;
  const hidden = await annotate(otto, { asset_id: secret.id, body: 'zebrafish' });
  await reply(otto, hidden.id, 'quokka');
  const open = await annotate(ines, { body: 'axolotl' });
  const asked = ['zebrafish', 'quokka', 'axolotl'];
  const each = (caller: Visitor) => Promise.all(asked.map((word) => found(caller, word)));
  expect([await each(mara), await each(otto), await each(ines)]).toEqual([
    [1, 1, 1],
    [1, 1, 1],
    [0, 0, 1],
  ]);
  const { items } = await ines.ok('search', { query: { q: 'axolotl', kind: 'post' } });
  expect(JSON.stringify(items)).toContain('axolotl');
  await library.setPublicMode(true);
  expect(await each(library.anonymous())).toEqual([0, 0, 1]);
  await ines.ok('updateComment', { params: { id: open.id }, body: { body: 'capybara' } });
  expect([await found(otto, 'axolotl'), await found(otto, 'capybara')]).toEqual([0, 1]);
  await otto.ok('deleteComment', { params: { id: hidden.id } });
  expect(await each(otto)).toEqual([0, 0, 0]);
});
