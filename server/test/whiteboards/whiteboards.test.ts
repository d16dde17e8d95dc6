import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

// comments/callers.test.ts tests who may access the whiteboards of a post.
const strokes = [
  {
    points: [
      [0, 0.5],
      [1, 0.25],
    ],
    color: '#00ff7f',
    width: 0.01,
  },
  { points: [[0.5, 0.5]] },
];

let library: Library;
let mara: Account;
let ines: Account;
let viewer: Account;
let root: Account;
let picture: { id: string };
let post: string;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, viewer, root] = await Promise.all([
    library.join('mara'),
    library.join('ines'),
    library.join('viewer', 'viewer'),
    library.join('root', 'admin'),
  ]);
  picture = await upload(mara, plainFile());
});

beforeEach(async () => {
  await library.setPublicMode(true);
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

const draw = (caller: Visitor, body: { title?: string; strokes: { points: number[][] }[] } = { strokes }) =>
  caller.ok('createWhiteboard', { params: { id: post }, body });
const send = (body: unknown) => ines.send(`/posts/${post}/whiteboards`, { method: 'POST', body });
const boardsOf = (caller: Visitor, query: { limit?: number; cursor?: string } = {}) =>
  caller.ok('listWhiteboards', { params: { id: post }, query });

describe('POST /posts/{id}/whiteboards', () => {
  // BOARD-1
  test('returns 201 with the unchanged board and lists it', async () => {
    const answer = await send({ title: 'Crop tighter', strokes });
    expect(answer.status).toBe(201);
    const board = JSON.parse(answer.text);
    expect(board).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      post_id: post,
      author: { ref: ines.ref, username: 'ines', display_name: 'ines', avatar_url: null },
      title: 'Crop tighter',
      strokes,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await boardsOf(mara)).toEqual({ items: [board], next_cursor: null });
  });

  test('without a title has an empty one', async () => {
    expect(await draw(ines)).toMatchObject({ title: '' });
  });

  // BOARD-1
  test('is allowed to every reader of the post, with or without posts.comment', async () => {
    for (const caller of [mara, ines, viewer, root])
      expect(await draw(caller)).toMatchObject({ author: { ref: caller.ref } });
  });

  // BOARD-2
  test('is not gated by comments_enabled', async () => {
    await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
    const board = await draw(ines);
    expect((await boardsOf(viewer)).items).toEqual([board]);
  });

  test('on a draft and on a private post is for those who read them: author and administrators', async () => {
    const draft = await publish(mara, [picture], { draft: true, visibility: 'public' });
    const hidden = await publish(mara, [picture], { visibility: 'private' });
    for (const { id } of [draft, hidden]) {
      post = id;
      const boards = [await draw(mara), await draw(root)];
      expect((await boardsOf(mara)).items).toEqual(boards.reverse());
      const body = { strokes };
      for (const caller of [ines, viewer]) {
        expect((await caller.refused('createWhiteboard', { params: { id }, body })).status).toBe(404);
        expect((await caller.refused('listWhiteboards', { params: { id } })).status).toBe(404);
      }
    }
    // After publication it shows what was drawn before.
    post = draft.id;
    await mara.ok('publishPost', { params: { id: post } });
    expect((await boardsOf(library.anonymous())).items).toHaveLength(2);
  });

  test('does not count as a comment, and does not change the preview or the order of posts', async () => {
    const before = await mara.ok('getPost', { params: { id: post } });
    await draw(ines);
    expect(await mara.ok('getPost', { params: { id: post } })).toEqual(before);
    expect((await mara.ok('listComments', { params: { id: post } })).items).toEqual([]);
  });

  // BOARD-3
  test('keeps titles to the last character, and five decimals of a point', async () => {
    const sent = [
      [0.1 + 0.2, -10],
      [10, 1 / 3],
      [5e-324, 0.123456789012345],
    ];
    const points = [
      [0.3, -10],
      [10, 0.33333],
      [0, 0.12346],
    ];
    const title = '  <b>"é"</b> \u{1d11e} \u202e ';
    expect(await draw(ines, { title, strokes: [{ points: sent }] })).toMatchObject({
      title,
      strokes: [{ points }],
    });
    expect((await boardsOf(mara)).items).toMatchObject([{ title, strokes: [{ points }] }]);
  });

  const line = (count: number) => ({ points: Array.from({ length: count }, () => [0, 1]) });
  const stroke = (more: object) => ({ strokes: [{ points: [[0, 0]], ...more }] });
  const point = (...coordinates: unknown[]) => ({ strokes: [{ points: [coordinates] }] });

  const taken: [string, unknown][] = [
    ['a stroke of 5,000 points', { strokes: [line(5000)] }],
    ['1,000 strokes', { strokes: Array.from({ length: 1000 }, () => line(1)) }],
    ['a title of 500 characters', { title: '\u{1d11e}'.repeat(500), strokes: [line(1)] }],
    ['an empty title', { title: '', strokes: [line(1)] }],
    [
      'a width of 0 and of 1',
      { strokes: [...stroke({ width: 0 }).strokes, ...stroke({ width: 1 }).strokes] },
    ],
    ['a colour in capitals', stroke({ color: '#ABCDEF' })],
    ['the edges of what a point may reach', point(-10, 10)],
  ];
  test.each(taken)('takes %s', async (_, body) => {
    expect((await send(body)).status).toBe(201);
  });

  const refused: [string, unknown][] = [
    ['nothing', undefined],
    ['an empty object', {}],
    ['no strokes', { strokes: [] }],
    ['strokes that are null', { strokes: null }],
    ['strokes that are an object', { strokes: {} }],
    ['1,001 strokes', { strokes: Array.from({ length: 1001 }, () => line(1)) }],
    ['a stroke without points', { strokes: [{}] }],
    ['a stroke of no points', { strokes: [line(0)] }],
    ['a stroke of 5,001 points', { strokes: [line(5001)] }],
    ['a point of one number', point(0)],
    ['a point of three', point(0, 0, 0)],
    ['a point of texts', point('0', '0')],
    ['a point with null, which NaN becomes', point(Number.NaN, 0)],
    ['a point with infinity', '{"strokes":[{"points":[[1e400,0]]}]}'],
    ['a point that is no JSON', '{"strokes":[{"points":[[NaN,0]]}]}'],
    ['a point beyond 10', point(10.0001, 0)],
    ['a point below -10', point(0, -10.0001)],
    ['a point that is an object', { strokes: [{ points: [{ x: 0, y: 0 }] }] }],
    ['a colour by name', stroke({ color: 'red' })],
    ['a colour of three digits', stroke({ color: '#fff' })],
    ['a colour with more behind it', stroke({ color: '#ffffff;' })],
    ['a colour with a line behind it', stroke({ color: '#ffffff\n' })],
    ['a width beyond 1', stroke({ width: 1.01 })],
    ['a width below 0', stroke({ width: -0.01 })],
    ['an unknown property of a stroke', stroke({ tool: 'pen' })],
    ['an unknown property', { strokes, author_user_ref: 1 }],
    ['a title of 501 characters', { title: 'x'.repeat(501), strokes }],
    ['a title with NUL', { title: 'a\u0000b', strokes }],
    ['a title that is a number', { title: 5, strokes }],
    ['a list', [{ strokes }]],
  ];
  test.each(refused)('refuses %s with 400 and keeps nothing', async (_, body) => {
    const answer = await send(body);
    expect([answer.status, Object.keys(JSON.parse(answer.text))]).toEqual([400, ['error']]);
    expect((await boardsOf(mara)).items).toEqual([]);
  });

  test('takes a board of just below a mebibyte, and answers 413 above it', async () => {
    const sized = (bytes: number) => {
      // A number of `digits` digits has that many bytes.
      const head = '{"strokes":[{"points":[';
      const tail = ']}]}';
      const points: string[] = [];
      let left = bytes - head.length - tail.length;
      while (left > 0) {
        const digits = Math.min(300, left - '[0,0.],'.length);
        if (digits < 1) break;
        points.push(`[0,0.${'1'.repeat(digits)}]`);
        left -= '[0,0.],'.length + digits;
      }
      return head + points.join(',') + tail;
    };
    const mebibyte = 1024 * 1024;
    const fits = sized(mebibyte - 100);
    expect([fits.length <= mebibyte, (await send(fits)).status]).toEqual([true, 201]);
    expect((await send(`${fits}${' '.repeat(mebibyte)}`)).status).toBe(413);
    expect((await boardsOf(mara)).items).toHaveLength(1);
  });

  test('stores a board in about its request size, regardless of its numbers', async () => {
    const points = Array.from({ length: 2000 }, () => [5e-324, 1e-300]);
    const body = JSON.stringify({ strokes: [{ points }] });
    const answer = await send(body);
    if (answer.status === 400) return;
    const { rows } = await sql<{ size: number }>`
      select length(strokes::text) as size from whiteboards where post_id = ${post}`.execute(library.deps.db);
    // Lists read these texts, so the input must limit their size.
    expect(rows[0]?.size).toBeLessThan(4 * body.length);
  });
});

describe('GET /posts/{id}/whiteboards', () => {
  // BOARD-5
  test('lists each once, newest first, ordered by id when times are equal', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 9; i += 1) {
      const { id } = await library.deps.db
        .insertInto('whiteboards')
        .values({
          post_id: post,
          author_user_ref: ines.ref,
          strokes: JSON.stringify(strokes),
          created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(i / 3))).toISOString(),
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      ids.push(id);
    }
    const expected = ids
      .map((id, i) => ({ id, at: Math.floor(i / 3) }))
      .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
    expect((await boardsOf(viewer)).items.map(({ id }) => id)).toEqual(expected);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string }[]; next_cursor: string | null } = await boardsOf(viewer, {
        limit: 3,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(page.items).toHaveLength(3);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(expected);
  });

  test('shows those of this post alone', async () => {
    await draw(ines);
    post = (await publish(mara, [picture], { visibility: 'public' })).id;
    expect(await boardsOf(viewer)).toEqual({ items: [], next_cursor: null });
  });

  test('of an unknown post, and of one in the trash, is 404; a malformed id, limit or cursor 400', async () => {
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'cursor='])
      expect([query, (await viewer.send(`/posts/${post}/whiteboards?${query}`)).status]).toEqual([
        query,
        400,
      ]);
    expect((await viewer.send('/posts/7/whiteboards')).status).toBe(400);
    await draw(ines);
    await mara.ok('deletePost', { params: { id: post }, body: undefined });
    for (const id of [nowhere, post]) {
      expect((await mara.refused('listWhiteboards', { params: { id } })).status).toBe(404);
      expect((await mara.refused('createWhiteboard', { params: { id }, body: { strokes } })).status).toBe(
        404,
      );
    }
    await mara.ok('restorePost', { params: { id: post } });
    expect((await boardsOf(viewer)).items).toHaveLength(1);
  });

  test('omits identities that are hidden from anonymous callers, and those of removed accounts', async () => {
    const nina = await library.join('nina');
    const board = await draw(nina);
    const { author: _, ...withoutAuthor } = board;
    expect((await boardsOf(library.anonymous())).items).toEqual([board]);
    const { db } = library.deps;
    await db.updateTable('users').set({ hide_from_anonymous: true }).where('ref', '=', nina.ref).execute();
    expect((await boardsOf(library.anonymous())).items).toEqual([withoutAuthor]);
    expect((await boardsOf(viewer)).items).toEqual([board]);
    await db.deleteFrom('users').where('ref', '=', nina.ref).execute();
    for (const caller of [viewer, root, library.anonymous()])
      expect((await boardsOf(caller)).items).toEqual([withoutAuthor]);
  });
});

describe('what is drawn on a post', () => {
  // BOARD-3
  test('is at most 10,000 points on a board', async () => {
    const line = (count: number) => ({ points: Array.from({ length: count }, () => [0, 1]) });
    expect((await send({ strokes: [line(5000), line(5000)] })).status).toBe(201);
    const answer = await send({ strokes: [line(5000), line(5000), line(1)] });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      { error: 'a whiteboard has at most 10000 points' },
    ]);
  });

  // BOARD-4
  test('is deleted by its author, the post’s author and posts.admin only', async () => {
    for (const caller of [ines, mara, root]) {
      const { id } = await draw(ines);
      expect((await viewer.refused('deleteWhiteboard', { params: { id } })).status).toBe(403);
      await caller.ok('deleteWhiteboard', { params: { id } });
      expect((await caller.refused('deleteWhiteboard', { params: { id } })).status).toBe(404);
      expect((await boardsOf(mara)).items).toEqual([]);
    }
    expect((await ines.refused('deleteWhiteboard', { params: { id: nowhere } })).status).toBe(404);
  });

  test('of a post that is no longer readable is a 404, also for its author', async () => {
    const { id } = await draw(ines);
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
    expect((await ines.refused('deleteWhiteboard', { params: { id } })).status).toBe(404);
    expect((await library.anonymous().refused('deleteWhiteboard', { params: { id } })).status).toBe(401);
    expect((await boardsOf(mara)).items).toHaveLength(1);
  });
});
