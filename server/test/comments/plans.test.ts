// @module-tag one-process

import { sql } from 'kysely';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { timeCursor } from '../../src/platform/http/cursor.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { type Statement, watchStatements } from '../support/statements.ts';

/**
 * A post with 50,000 comments costs as much as one with three: the plans of the server's statements read an index in
 * order and stop at the end of the page. They never sort a whole thread and never read the whole table.
 */
const ROOTS = 20_000;
const REPLIES = 30_000;

const library = await openLibrary();
const [mara, ines] = await library.joinAll('mara', 'ines');
const picture = await upload(mara, plainFile());
const post = (await publish(mara, [picture], { visibility: 'public' })).id;
const others = await Promise.all(Array.from({ length: 10 }, () => publish(mara, [picture])));
const { db } = library.deps;
// Counts once below: 100,000 updates of one row in one statement take minutes.
await sql`alter table comments disable trigger user`.execute(db);
await sql`insert into comments (post_id, author_user_ref, body, created_at)
    select ${post}, ${mara.ref}, 'number ' || n, timestamptz '2026-01-01 00:00:00+00' + n * interval '1 second'
    from generate_series(1, ${ROOTS}::int) n`.execute(db);
const { rows } = await sql<{ id: string }>`
    select id from comments where post_id = ${post} order by created_at desc limit 1`.execute(db);
/** The newest root; all replies belong to it. */
const hub = rows[0]?.id ?? '';
await sql`insert into comments (post_id, parent_id, author_user_ref, body, created_at)
    select ${post}, ${hub}, ${ines.ref}, 'reply ' || n, timestamptz '2026-02-01 00:00:00+00' + n * interval '1 second'
    from generate_series(1, ${REPLIES}::int) n`.execute(db);
await sql`insert into comments (post_id, author_user_ref, body)
    select id, ${ines.ref}, 'x'
    from unnest(${others.map(({ id }) => id)}::uuid[]) id, generate_series(1, 1000)`.execute(db);
await sql`alter table comments enable trigger user`.execute(db);
await sql`update comments set reply_count = ${REPLIES} where id = ${hub}`.execute(db);
await sql`update posts p
    set comment_count = (select count(*) from comments c where c.post_id = p.id)`.execute(db);
await sql`vacuum analyze comments`.execute(db);
await sql`analyze posts, users`.execute(db);

/** Returns the statements about comments that the server runs during `act`. */
async function statementsDuring(act: () => Promise<unknown>): Promise<Statement[]> {
  const [, statements] = await watchStatements(library, act);
  return statements.filter(({ text }) => /\bcomments\b/.test(text));
}

/** One access to the table of comments in a plan. */
interface Scan {
  node: string;
  /** Empty when the table itself is read. */
  index: string;
  /** The nodes between the scan and the nearest limit above it, or all nodes above it if there is none. */
  above: string[];
  limited: boolean;
}

interface PlanNode {
  type: string;
  table: string;
  index: string;
  inner: unknown[];
}

function planNode(plan: object): PlanNode {
  const at = new Map<string, unknown>(Object.entries(plan));
  const text = (key: string) => String(at.get(key) ?? '');
  const inner = at.get('Plans') ?? at.get('Plan') ?? [];
  return {
    type: text('Node Type'),
    table: text('Relation Name'),
    index: text('Index Name'),
    inner: Array.isArray(inner) ? inner : [inner],
  };
}

/** Returns the indexes of a bitmap scan; they are in nodes below the one that names the table. */
function bitmapsIn(inner: readonly unknown[]): string {
  const nodes = inner.flatMap((one) => (typeof one === 'object' && one !== null ? [planNode(one)] : []));
  return nodes
    .map((node) => (node.index === '' ? bitmapsIn(node.inner) : node.index))
    .filter((name) => name !== '')
    .join(' and ');
}

function scansIn(plan: unknown, above: string[] = [], limited = false): Scan[] {
  if (typeof plan !== 'object' || plan === null) return [];
  const { type, table, index, inner } = planNode(plan);
  const here = { node: type, index: index === '' ? bitmapsIn(inner) : index, above, limited };
  const below = inner.flatMap((one) =>
    type === 'Limit' ? scansIn(one, [], true) : scansIn(one, [...above, type], limited),
  );
  return table === 'comments' && type !== 'ModifyTable' ? [here, ...below] : below;
}

function literal(client: pg.PoolClient, value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return client.escapeLiteral(`{${value.join(',')}}`);
  return client.escapeLiteral(String(value));
}

/** Returns how PostgreSQL reads comments for a prepared statement that has run several times, as on the server. */
async function scansOf({ text, values }: Statement): Promise<Scan[]> {
  const client = await library.database.pool.connect();
  try {
    await client.query('begin');
    await client.query(`prepare watched as ${text}`);
    const given = values.map((value) => literal(client, value)).join(', ');
    const call = `watched${given === '' ? '' : `(${given})`}`;
    // From the sixth execution on, PostgreSQL may use a generic plan, as it does on the server.
    for (let i = 0; /^\s*select/i.test(text) && i < 6; i += 1) await client.query(`execute ${call}`);
    const { rows } = await client.query(`explain (format json) execute ${call}`);
    return scansIn(rows[0]?.['QUERY PLAN']?.[0]);
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
    client.release(true);
  }
}

async function scansDuring(act: () => Promise<unknown>): Promise<Scan[]> {
  const scans: Scan[] = [];
  for (const statement of await statementsDuring(act)) scans.push(...(await scansOf(statement)));
  return scans;
}

const indexesOf = (scans: Scan[]) => [...new Set(scans.map(({ index }) => index))].sort();

/** Checks that each scan reads an index in order up to a limit, and that no node in between needs all rows. */
function expectOrdered(scans: Scan[], indexes: string[]): void {
  expect(indexesOf(scans)).toEqual(indexes);
  for (const scan of scans) {
    expect(scan.node).toMatch(/^Index (Only )?Scan$/);
    if (scan.index === 'comments_pkey') continue;
    expect(scan.limited).toBe(true);
    const waiting = scan.above.filter((node) => /Sort|Hash$|Aggregate|Materialize|Gather/.test(node));
    expect(waiting).toEqual([]);
  }
}

test('a page of the thread is read in the order of its index, roots and replies', async () => {
  const act = async () => {
    const { items } = await ines.ok('listComments', { params: { id: post } });
    expect(items[0]).toMatchObject({ id: hub, reply_count: REPLIES });
    expect([items.length, items[0]?.replies.length]).toEqual([50, 20]);
  };
  expectOrdered(await scansDuring(act), ['comments_parent', 'comments_roots']);
});

test('a later page begins at its cursor', async () => {
  const { items } = await ines.ok('listComments', { params: { id: post }, query: { limit: 1 } });
  expect(items).toHaveLength(1);
  const cursor = timeCursor.after({ at: '2026-01-01T05:00:00Z', id: hub });
  const act = async () => {
    const page = await ines.ok('listComments', { params: { id: post }, query: { cursor } });
    // 05:00:00 is the 18,000th second; the ids decide which of the two comments comes first.
    expect(page.items[0]?.body).toMatch(/^number (18000|17999)$/);
  };
  expectOrdered(await scansDuring(act), ['comments_parent', 'comments_roots']);
});

test('a page of 30,000 replies is read in the order of its index, too', async () => {
  const act = async () => {
    const { items } = await ines.ok('listReplies', { params: { id: hub } });
    expect(items[0]?.body).toBe(`reply ${REPLIES}`);
  };
  expectOrdered(await scansDuring(act), ['comments_parent', 'comments_pkey']);
});

test.each([
  ['one post', () => ines.ok('getPost', { params: { id: post } })],
  ['the feed', () => ines.ok('listPosts')],
])('the preview of %s reads three', async (_, read) => {
  const act = async () => {
    const answer = await read();
    const shown = 'items' in answer ? answer.items.find(({ id }) => id === post) : answer;
    expect(shown?.comments_preview?.map(({ body }) => body)).toEqual(
      [0, 1, 2].map((back) => `number ${ROOTS - back}`),
    );
  };
  const scans = await scansDuring(act);
  // The post is read with the counts of its annotations, of which it has none.
  expectOrdered(
    scans.filter(({ index }) => index !== 'comments_annotated'),
    ['comments_plain_roots'],
  );
});

// ANNOTATION-6, ANNOTATION-7
test('5,000 annotations of a film are read in the order of an index, and counted from another', async () => {
  await sql`alter table comments disable trigger user`.execute(db);
  await sql`with made as (
      insert into comments (post_id, author_user_ref, annotated_asset_id, body, created_at)
      select ${post}, ${mara.ref}, ${picture.id}, 'mark ' || n, timestamptz '2026-03-01 00:00:00+00' + n * interval '1 second'
      from generate_series(1, 5000) n returning id)
    insert into annotations (comment_id, version, anchor) select id, 1, '{"kind":"time","start":1}' from made`.execute(
    db,
  );
  await sql`alter table comments enable trigger user`.execute(db);
  await sql`vacuum analyze comments`.execute(db);
  const listing = (query: { asset_id?: string }) => async () => {
    const { items } = await ines.ok('listComments', { params: { id: post }, query });
    expect([items.length, items[0]?.body]).toEqual([50, 'mark 5000']);
  };
  // Replies are looked up for roots that have some.
  expectOrdered(await scansDuring(listing({})), ['comments_parent', 'comments_roots']);
  expectOrdered(await scansDuring(listing({ asset_id: picture.id })), [
    'comments_annotated',
    'comments_parent',
  ]);
  const scans = await scansDuring(async () => {
    const shown = await ines.ok('getPost', { params: { id: post } });
    expect(shown.annotation_counts).toEqual([{ asset_id: picture.id, open: 5000, resolved: 0 }]);
    expect(shown.comments_preview?.[0]?.body).toBe(`number ${ROOTS}`);
  });
  // The newest comments of the preview are behind all annotations.
  expect(indexesOf(scans)).toEqual(['comments_annotated', 'comments_plain_roots']);
  await db.deleteFrom('comments').where('annotated_asset_id', 'is not', null).execute();
});

test('writing, editing, liking and deleting a comment and replying find their rows by index', async () => {
  const scans = await scansDuring(async () => {
    const params = { id: post };
    const comment = await ines.ok('createComment', { params, body: { body: 'x' } });
    const reply = await ines.ok('createComment', { params, body: { body: 'x', parent_id: comment.id } });
    await ines.ok('updateComment', { params: { id: reply.id }, body: { body: 'y' } });
    await ines.ok('likeComment', { params: { id: reply.id } });
    await ines.ok('deleteComment', { params: { id: comment.id } });
  });
  expect(scans.length).toBeGreaterThan(5);
  for (const { index } of scans) expect(index).toMatch(/^comments_\w+( and comments_\w+)*$/);
});

/** The statement that PostgreSQL runs for each deleted row when a foreign key has `on delete cascade`. */
test.each(['parent_id', 'post_id', 'comment_id'])(
  'removing rows for good finds what goes along by %s through an index',
  async (column) => {
    const table = column === 'comment_id' ? 'comment_likes' : 'comments';
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain delete from ${sql.table(table)}
        where ${sql.ref(column)} = '00000000-0000-4000-8000-00000000dead'`.execute(library.deps.db);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan/);
    expect(plan).toMatch(/Index/);
  },
);
