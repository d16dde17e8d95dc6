import { basePath } from '@vitrine/contract/operations';
import type { Stroke } from '@vitrine/contract/strokes';
import sharp from 'sharp';
import { beforeEach, describe, expect, test } from 'vitest';
import { listen } from '../notifications/streams.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** The access matrix (server/test/access) shows who may access the whiteboards of a post. */
const strokes: Stroke[] = [
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

let post: string;

const library = await openLibrary();
const [mara, ines, viewer, root] = await Promise.all([
  library.join('mara'),
  library.join('ines'),
  library.join('viewer', 'viewer'),
  library.join('root', 'admin'),
]);
const picture = await upload(mara, plainFile());

beforeEach(async () => {
  await library.setPublicMode(true);
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

const draw = (caller: Visitor, body: { title?: string; strokes: Stroke[] } = { strokes }) =>
  caller.ok('createWhiteboard', { params: { id: post }, body });
const send = (body: unknown) => ines.send(`/posts/${post}/whiteboards`, { method: 'POST', body });
const boardsOf = (caller: Visitor, query: { limit?: number; cursor?: string } = {}) =>
  caller.ok('listWhiteboards', { params: { id: post }, query });

describe('POST /posts/{id}/whiteboards', () => {
  // BOARD-1
  test('returns the unchanged board and lists it', async () => {
    const board = await draw(ines, { title: 'Crop tighter', strokes });
    expect(board).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      post_id: post,
      author: { ref: ines.ref, username: 'ines', display_name: 'ines', avatar_url: null },
      title: 'Crop tighter',
      strokes,
      created_at: expect.stringMatching(/Z$/),
      updated_at: board.created_at,
    });
    expect(await boardsOf(mara)).toEqual({ items: [board], next_cursor: null });
  });

  // BOARD-1, BOARD-2
  test('does not require posts.comment or open comments, and is no comment', async () => {
    await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
    const before = await mara.ok('getPost', { params: { id: post } });
    const board = await draw(viewer);
    expect(board.title).toBe('');
    expect((await boardsOf(ines)).items).toEqual([board]);
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
    const title = '  <b>"é"</b> \u{1d11e} \u200d ';
    expect(await draw(ines, { title, strokes: [{ points: sent }] })).toMatchObject({
      title,
      strokes: [{ points }],
    });
    expect((await boardsOf(mara)).items).toMatchObject([{ title, strokes: [{ points }] }]);
  });

  const line = (count: number) => ({ points: Array.from({ length: count }, () => [0, 1]) });
  const stroke = (more: object) => ({ strokes: [{ points: [[0, 0]], ...more }] });
  const point = (...coordinates: unknown[]) => ({ strokes: [{ points: [coordinates] }] });

  const arrow: Stroke = {
    tool: 'arrow',
    points: [
      [0, 0],
      [0.5, 0.25],
    ],
  };
  const words: Stroke = { tool: 'text', points: [[0.1, 0.1]], text: 'Crop <here> \u{1d11e}' };

  // BOARD-6
  test('returns what each tool has drawn, with the pressure of a pen', async () => {
    const drawn: Stroke[] = [
      {
        tool: 'pen',
        points: [
          [0, 0, 0.12345],
          [1, 1, 1],
        ],
        color: '#e5484d',
        width: 0.004,
      },
      arrow,
      {
        tool: 'rect',
        points: [
          [0.5, 0.5],
          [0.2, 0.9],
        ],
        width: 0.002,
      },
      { ...words, width: 0.03 },
    ];
    await draw(ines, { strokes: drawn });
    expect((await boardsOf(mara)).items).toMatchObject([{ strokes: drawn }]);
  });

  // BOARD-3, BOARD-6
  test('takes boards at their bounds; refuses other points, colours and more than 10,000 points', async () => {
    const taken: Record<string, unknown> = {
      'no strokes': { strokes: [] },
      '10,000 points': { strokes: [line(5000), line(5000)] },
      '2,000 strokes': { strokes: Array.from({ length: 2000 }, () => line(1)) },
      'a text of 500 characters': stroke({ ...words, text: '\u{1d11e}'.repeat(500) }),
      'a title of 500 characters': { title: '\u{1d11e}'.repeat(500), strokes: [line(1)] },
      'a width of 0': stroke({ width: 0 }),
      'a width of 1': stroke({ width: 1 }),
      'a colour in capitals': stroke({ color: '#ABCDEF' }),
      'the edges of what a point may reach': point(-10, 10),
    };
    const refused: Record<string, unknown> = {
      '10,001 points': { strokes: [line(5000), line(5000), line(1)] },
      '2,001 strokes': { strokes: Array.from({ length: 2001 }, () => line(1)) },
      '10,000 strokes': { strokes: Array.from({ length: 10_000 }, () => line(1)) },
      'a pressure above 1': point(0, 0, 1.01),
      'a pressure below 0': point(0, 0, -0.01),
      'an unknown tool': stroke({ tool: 'eraser' }),
      'an arrow with one point': stroke({ tool: 'arrow' }),
      'an arrow with three points': stroke({
        ...arrow,
        points: [
          [0, 0],
          [1, 1],
          [0, 1],
        ],
      }),
      'a rectangle with a pressure': stroke({
        tool: 'rect',
        points: [
          [0, 0, 1],
          [1, 1, 1],
        ],
      }),
      'a text without words': stroke({ tool: 'text' }),
      'an empty text': stroke({ ...words, text: '' }),
      'a text of 501 characters': stroke({ ...words, text: 'a'.repeat(501) }),
      'a pen with words': stroke({ tool: 'pen', text: 'words' }),
      'a point of one number': point(0),
      'a point of four': point(0, 0, 0, 0),
      'a point with null, which NaN becomes': point(Number.NaN, 0),
      'a point with infinity': '{"strokes":[{"points":[[1e400,0]]}]}',
      'a point beyond 10': point(10.0001, 0),
      'a point below -10': point(0, -10.0001),
      'a colour by name': stroke({ color: 'red' }),
      'a colour of three digits': stroke({ color: '#fff' }),
      'a colour with more behind it': stroke({ color: '#ffffff;' }),
      'a colour with a line behind it': stroke({ color: '#ffffff\n' }),
    };
    const bodies = [...Object.entries(taken), ...Object.entries(refused)];
    for (const [name, body] of bodies)
      expect([name, (await send(body)).status]).toEqual([name, name in taken ? 201 : 400]);
    expect((await boardsOf(mara)).items).toHaveLength(Object.keys(taken).length);
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
});

describe('GET /posts/{id}/whiteboards', () => {
  // BOARD-5
  test('lists each once, newest first, ordered by id when times are equal', async () => {
    const row = { post_id: post, author_user_ref: ines.ref, strokes: JSON.stringify(strokes) };
    const expected: string[] = [];
    for (const created_at of [0, 1, 2].map((second) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)))) {
      const values = [1, 2, 3].map(() => ({ ...row, created_at: created_at.toISOString() }));
      const added = await library.deps.db.insertInto('whiteboards').values(values).returning('id').execute();
      const ids = added.map(({ id }) => id);
      expected.unshift(...ids.toSorted().reverse());
    }
    expect((await boardsOf(viewer)).items.map(({ id }) => id)).toEqual(expected);
    const pages = await pagesOf((from) => boardsOf(viewer, { limit: 3, ...from }));
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3]);
    expect(pages.flat().map(({ id }) => id)).toEqual(expected);
  });

  test('shows those of this post alone, also after the post was deleted and restored', async () => {
    const board = await draw(ines);
    const other = await publish(mara, [picture], { visibility: 'public' });
    expect((await viewer.ok('listWhiteboards', { params: { id: other.id } })).items).toEqual([]);
    await mara.ok('deletePost', { params: { id: post }, body: undefined });
    await mara.ok('restorePost', { params: { id: post } });
    expect((await boardsOf(viewer)).items).toEqual([board]);
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

describe('PATCH /whiteboards/{id}', () => {
  const change = (caller: Visitor, id: string, body: Record<string, unknown>) =>
    caller.send(`/whiteboards/${id}`, { method: 'PATCH', body });

  // BOARD-7, BOARD-9
  test('replaces what is given, which every reader sees', async () => {
    const board = await draw(ines, { title: 'Crop', strokes });
    const params = { id: board.id };
    const titled = await ines.ok('updateWhiteboard', { params, body: { title: 'Crop tighter' } });
    expect(titled).toEqual({ ...board, title: 'Crop tighter', updated_at: titled.updated_at });
    expect(Date.parse(titled.updated_at)).toBeGreaterThan(Date.parse(board.updated_at));
    const cleared = await ines.ok('updateWhiteboard', { params, body: { strokes: [], title: null } });
    expect(cleared).toMatchObject({ title: 'Crop tighter', strokes: [] });
    for (const caller of [viewer, library.anonymous()])
      expect(await caller.ok('getWhiteboard', { params })).toEqual(cleared);
    expect(await ines.ok('updateWhiteboard', { params, body: {} })).toEqual(cleared);
  });

  // BOARD-9
  test('refuses a change of a board that has changed since, and one of two at the same time', async () => {
    const { id, updated_at: since } = await draw(ines);
    const answers = await Promise.all(
      ['left', 'right'].map((title) => change(ines, id, { title, if_unchanged_since: since })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const stored = await ines.ok('getWhiteboard', { params: { id } });
    expect(answers.find(({ status }) => status === 409)?.text).toContain(stored.updated_at);
    expect((await change(ines, id, { strokes: [], if_unchanged_since: since })).status).toBe(409);
    expect(await ines.ok('getWhiteboard', { params: { id } })).toEqual(stored);
    expect((await change(ines, id, { strokes: [], if_unchanged_since: stored.updated_at })).status).toBe(200);
  });

  // BOARD-7, BOARD-8
  test('is for the author of the board only, and unknown to callers who may not read the post', async () => {
    const { id } = await draw(ines);
    for (const caller of [mara, viewer, root])
      expect((await change(caller, id, { title: 'mine' })).status).toBe(403);
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
    for (const caller of [ines, viewer]) {
      expect((await change(caller, id, { title: 'mine' })).status).toBe(404);
      expect((await caller.refused('getWhiteboard', { params: { id } })).status).toBe(404);
    }
    expect((await mara.ok('getWhiteboard', { params: { id } })).title).toBe('');
    expect((await change(ines, nowhere, { title: 'mine' })).status).toBe(404);
  });

  // BOARD-3, BOARD-6
  test('refuses what a new board may not have', async () => {
    const { id } = await draw(ines);
    const points = Array.from({ length: 5000 }, () => [0, 1]);
    const refused = [
      { strokes: [{ points }, { points }, { points: [[0, 0]] }] },
      { strokes: [{ points: [[0, 0, 2]] }] },
      { title: 'a'.repeat(501) },
      { if_unchanged_since: 'yesterday' },
    ];
    for (const body of refused) expect((await change(ines, id, body)).status).toBe(400);
    expect((await boardsOf(mara)).items).toMatchObject([{ strokes }]);
  });
});

// BOARD-10
test('readers who look at the post are told of a whiteboard that is made, changed and deleted', async () => {
  const stream = await listen(library.address, { cookie: viewer }, post);
  const news = (id: string) => (data: { id: string; updated_at?: string; deleted?: true }) => data.id === id;
  try {
    const { id, updated_at } = await draw(ines);
    expect(await stream.heard('whiteboard', news(id))).toEqual({ id, post_id: post, updated_at });
    const changed = await ines.ok('updateWhiteboard', { params: { id }, body: { title: 'Crop' } });
    await stream.heard(
      'whiteboard',
      (data: { updated_at?: string }) => data.updated_at === changed.updated_at,
    );
    await ines.ok('deleteWhiteboard', { params: { id } });
    await stream.heard('whiteboard', (data: { deleted?: true }) => data.deleted === true);
  } finally {
    stream.close();
  }
});

// BOARD-10, ANNOTATION-22
describe('a visitor of a public post without an account', () => {
  const guest = library.anonymous();
  const look = () => listen(library.address, { cookie: guest }, post);

  test('receives whiteboards, comments and annotations of files that they see, but not who is looking', async () => {
    const secret = await upload(mara, plainFile('secret'), { sensitivity: 'restricted' });
    post = (await publish(mara, [picture, secret], { visibility: 'public' })).id;
    const annotate = (asset_id: string, body: string) => {
      const anchor = { kind: 'point', x: 0.5, y: 0.5 } as const;
      return mara.ok('createAnnotation', { params: { id: post }, body: { asset_id, anchor, body } });
    };
    const [stream, reader] = [await look(), await listen(library.address, { cookie: viewer }, post)];
    try {
      const drawn = await draw(ines);
      await stream.heard('whiteboard', ({ id }: { id: string }) => id === drawn.id);
      const said = await ines.ok('createComment', { params: { id: post }, body: { body: 'said' } });
      const heard = await stream.heard('comment', ({ id }: { id: string }) => id === said.id);
      expect(heard).toMatchObject({ body: 'said', liked: false });
      const viewers = await reader.heard<{ viewers: { ref: number }[] }>('presence', () => true);
      expect(viewers.viewers.map(({ ref }) => ref)).toEqual([viewer.ref]);
      await annotate(secret.id, 'unseen');
      const seen = await annotate(picture.id, 'seen');
      await stream.heard('comment', ({ id }: { id: string }) => id === seen.id);
      await mara.ok('resolveComment', { params: { id: seen.id } });
      await stream.heard('resolved', ({ id }: { id: string }) => id === seen.id);
      for (const word of ['unseen', 'presence', 'notification']) expect(stream.text()).not.toContain(word);
    } finally {
      stream.close();
      reader.close();
    }
  });

  test('is told of nothing once the post is not public any more', async () => {
    const stream = await look();
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'org-only' } });
    await draw(ines);
    await stream.ended;
    expect(stream.text()).not.toContain('whiteboard');
    expect((await look()).status).toBe(404);
  });

  test('has no stream without a post or public mode, and at most twenty from one address', async () => {
    expect((await listen(library.address, { cookie: guest })).status).toBe(401);
    const streams = await Promise.all(Array.from({ length: 21 }, look));
    expect(streams.map(({ status }) => status).sort()).toEqual([...Array(20).fill(200), 429]);
    await library.setPublicMode(false);
    await draw(ines);
    await Promise.all(streams.map(({ ended }) => ended));
    expect((await look()).status).toBe(401);
  });
});

// BOARD-11
test('a whiteboard is exported as SVG and PNG, with letters as paths', async () => {
  const text: Stroke = { points: [[0.1, 0.1]], tool: 'text', text: '</svg><script>', color: '#e5484d' };
  const params = { id: post };
  const { id } = await ines.ok('createWhiteboard', { params, body: { strokes: [...strokes, text] } });
  const svg = await viewer.send(`/whiteboards/${id}/drawing.svg`);
  expect([svg.status, svg.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(svg.headers.get('content-disposition')).toBe('attachment; filename="whiteboard.svg"');
  expect(svg.text).toContain('#00ff7f');
  expect(svg.text).not.toMatch(/script|<text/);
  const headers = { cookie: `user=${viewer.cookie() ?? ''}` };
  const png = await fetch(`${library.address}${basePath}/whiteboards/${id}/drawing.png`, { headers });
  const picture = sharp(Buffer.from(await png.arrayBuffer()));
  expect(await picture.metadata()).toMatchObject({ format: 'png', width: 1600, height: 1200 });
  const { data, info } = await picture.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const colorAt = (x: number, y: number) => {
    const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return [...data.subarray(at, at + 3)];
  };
  expect([colorAt(0.98, 0.9), colorAt(0.25, 0.4375)]).toEqual([
    [255, 255, 255],
    [0, 255, 127],
  ]);
  await mara.ok('updatePost', { params, body: { visibility: 'private' } });
  for (const form of ['svg', 'png'])
    expect(await viewer.status('GET', `/whiteboards/${id}/drawing.${form}`)).toBe(404);
});

// BOARD-4
test('a whiteboard is deleted by its author, the post’s author and posts.admin only', async () => {
  for (const caller of [ines, mara, root]) {
    const { id } = await draw(ines);
    expect((await viewer.refused('deleteWhiteboard', { params: { id } })).status).toBe(403);
    await caller.ok('deleteWhiteboard', { params: { id } });
    expect((await caller.refused('deleteWhiteboard', { params: { id } })).status).toBe(404);
    expect((await boardsOf(mara)).items).toEqual([]);
  }
  expect((await ines.refused('deleteWhiteboard', { params: { id: nowhere } })).status).toBe(404);
});
