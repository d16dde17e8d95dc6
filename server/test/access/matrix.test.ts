import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import {
  alwaysGiven,
  type CallerKind,
  callers,
  draftReaders,
  givenToAnonymous,
  givenToSignedIn,
  outside,
  processings,
  readers,
  sensitivities,
  servedMature,
  shownTo,
  statuses,
  visibilities,
} from './matrix.ts';

const WIP = '00000000-0000-4000-8000-000000000201';
const PUBLISHED = '00000000-0000-4000-8000-000000000202';

interface PostCell {
  id: string;
  asset: string;
  visibility: (typeof visibilities)[number];
  draft: boolean;
  deleted: boolean;
}

interface AssetCell {
  id: string;
  post: string;
  status: (typeof statuses)[number];
  processing: (typeof processings)[number];
  sensitivity: (typeof sensitivities)[number];
  mature: boolean;
  deleted: boolean;
}

let library: Library;
let author: Account;
const people = new Map<CallerKind, Visitor>();
const posts: PostCell[] = [];
const assets: AssetCell[] = [];

async function grant(account: Account, capability: string): Promise<void> {
  await library.deps.db
    .insertInto('user_capability_grants')
    .values({ user_ref: account.ref, capability })
    .execute();
}

async function settle(): Promise<{ hash: string; team: string }> {
  const db = library.deps.db;
  author = await library.join('author');
  const follower = await library.join('follower');
  const member = await library.join('member');
  const opted = await library.join('opted');
  const postsAdmin = await library.join('postsadmin');
  const assetsAdmin = await library.join('assetsadmin');
  const reader = await library.join('reader');
  await grant(postsAdmin, 'posts.admin');
  await grant(assetsAdmin, 'assets.admin');
  await grant(reader, 'content.read.all');
  await db
    .insertInto('user_follows')
    .values({ follower_user_ref: follower.ref, followed_user_ref: author.ref })
    .execute();
  const team = await db
    .insertInto('teams')
    .values({ slug: 't', name: 'T' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.insertInto('team_members').values({ team_id: team.id, user_ref: member.ref }).execute();
  await db
    .updateTable('users')
    .set({ preferences: JSON.stringify({ mature_content: { show: true } }) })
    .where('ref', '=', opted.ref)
    .execute();
  const known: [CallerKind, Visitor][] = [
    ['anonymous, public mode off', library.anonymous()],
    ['anonymous, public mode on', library.anonymous()],
    ['stranger', await library.join('stranger')],
    ['follower', follower],
    ['sharee', await library.join('sharee')],
    ['team member', member],
    ['mature opted in', opted],
    ['author', author],
    ['posts.admin', postsAdmin],
    ['assets.admin', assetsAdmin],
    ['content.read.all', reader],
    ['system.admin', await library.join('root', 'admin')],
  ];
  for (const [kind, visitor] of known) people.set(kind, visitor);
  const picture = await upload(author, await jpeg(900, 600));
  await library.runJobs();
  if (picture.file_hash === null) throw new Error('the upload has no hash');
  return { hash: picture.file_hash, team: team.id };
}

async function addAsset(hash: string, cell: Omit<AssetCell, 'id' | 'post'>, team: string): Promise<string> {
  const row = await library.deps.db
    .insertInto('assets')
    .values({
      owner_user_ref: author.ref,
      title: 'a title nobody else may read',
      asset_type: 1,
      file_hash: hash,
      file_name: 'a.jpg',
      team_id: team,
      status: cell.status,
      processing_status: cell.processing,
      sensitivity: cell.sensitivity,
      mature: cell.mature,
      deleted_at: cell.deleted ? '2026-01-01T00:00:00Z' : null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

async function addPost(asset: string, cell: Omit<PostCell, 'id' | 'asset'>): Promise<string> {
  const db = library.deps.db;
  const row = await db
    .insertInto('posts')
    .values({
      author_user_ref: author.ref,
      visibility: cell.visibility,
      state_id: cell.draft ? WIP : PUBLISHED,
      deleted_at: cell.deleted ? '2026-01-01T00:00:00Z' : null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.insertInto('post_members').values({ post_id: row.id, asset_id: asset, sort_order: 0 }).execute();
  await sql`insert into post_shares (post_id, user_ref)
    select ${row.id}, ref from users where username = 'sharee'`.execute(db);
  return row.id;
}

beforeAll(async () => {
  library = await openLibrary();
  const { hash, team } = await settle();
  const open = {
    status: 'active',
    processing: 'ready',
    sensitivity: 'public',
    mature: false,
    deleted: false,
  } as const;
  for (const visibility of visibilities) {
    for (const draft of [false, true]) {
      for (const deleted of [false, true]) {
        const asset = await addAsset(hash, open, team);
        const cell = { visibility, draft, deleted };
        posts.push({ ...cell, asset, id: await addPost(asset, cell) });
      }
    }
  }
  for (const status of statuses) {
    for (const processing of processings) {
      for (const sensitivity of sensitivities) {
        for (const mature of [false, true]) {
          for (const deleted of [false, true]) {
            const cell = { status, processing, sensitivity, mature, deleted };
            const id = await addAsset(hash, cell, team);
            assets.push({
              ...cell,
              id,
              post: await addPost(id, { visibility: 'public', draft: false, deleted: false }),
            });
          }
        }
      }
    }
  }
});

const isLetIn = (caller: CallerKind) => !outside.includes(caller);

function mayRead(caller: CallerKind, cell: PostCell): boolean {
  if (!isLetIn(caller) || cell.deleted) return false;
  return (cell.draft ? draftReaders : readers[cell.visibility]).includes(caller);
}

type AssetAnswer = 'missing' | 'withheld' | 'shown';

function expected(caller: CallerKind, cell: AssetCell): { answer: AssetAnswer; served: boolean } {
  const state = `${cell.status} ${cell.processing}`;
  const given =
    !cell.deleted &&
    (alwaysGiven.includes(caller) ||
      (caller === 'anonymous, public mode on'
        ? `${state} ${cell.sensitivity}` === givenToAnonymous
        : isLetIn(caller) && givenToSignedIn[state] === true));
  if (!given) return { answer: 'missing', served: false };
  if (!shownTo[cell.sensitivity].includes(caller)) return { answer: 'withheld', served: false };
  return { answer: 'shown', served: !cell.mature || servedMature.includes(caller) };
}

/** Every post a caller's feed has, over all its pages. */
async function listed(visitor: Visitor, query: { draft?: boolean }): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: { id: string }[]; next_cursor: string | null } = await visitor.ok('listPosts', {
      query: { ...query, limit: 37, ...(cursor === null ? {} : { cursor }) },
    });
    ids.push(...page.items.map((item) => item.id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

function differences<T>(cells: readonly T[], differs: (cell: T) => boolean): T[] {
  return cells.filter(differs);
}

describe.each(callers)('access matrix: %s', (caller) => {
  let visitor: Visitor;

  beforeAll(async () => {
    visitor = people.get(caller) ?? library.anonymous();
    await library.setPublicMode(caller === 'anonymous, public mode on');
  });

  test('reads exactly the posts the matrix says', async () => {
    const seen = new Map<string, number>();
    for (const cell of posts) seen.set(cell.id, (await visitor.send(`/posts/${cell.id}`)).status);
    const refusal = isLetIn(caller) ? 404 : 401;
    expect(
      differences(posts, (cell) => seen.get(cell.id) !== (mayRead(caller, cell) ? 200 : refusal)),
    ).toEqual([]);
  });

  test('lists exactly the published posts it reads, and drafts only when asked for', async () => {
    if (!isLetIn(caller)) {
      expect((await visitor.refused('listPosts')).status).toBe(401);
      return;
    }
    const feed = new Set(await listed(visitor, {}));
    expect(
      differences(posts, (cell) => feed.has(cell.id) !== (mayRead(caller, cell) && !cell.draft)),
    ).toEqual([]);
    const drafts = new Set(await listed(visitor, { draft: true }));
    expect(
      differences(posts, (cell) => drafts.has(cell.id) !== (mayRead(caller, cell) && cell.draft)),
    ).toEqual([]);
  });

  test('finds by asset exactly the published posts it reads', async () => {
    if (!isLetIn(caller)) return;
    const wrong: PostCell[] = [];
    for (const cell of posts) {
      const found = await visitor.ok('listPostsByAsset', { params: { id: cell.asset } });
      const shouldFind = mayRead(caller, cell) && !cell.draft;
      if (found.some((post) => post.id === cell.id) !== shouldFind || found.length > 1) wrong.push(cell);
    }
    expect(wrong).toEqual([]);
  });

  test('is given, shown and served exactly the assets the matrix says', async () => {
    const wrong: unknown[] = [];
    for (const cell of assets) {
      const single = await visitor.send(`/assets/${cell.id}`);
      const file = await visitor.send(`/assets/${cell.id}/file`);
      const small = await visitor.send(`/assets/${cell.id}/variants/col`);
      const body: {
        restricted?: boolean;
        preview_available?: boolean;
        ladder_available?: boolean;
        thumbhash?: unknown;
      } = JSON.parse(single.text);
      const answer = single.status !== 200 ? 'missing' : body.restricted === true ? 'withheld' : 'shown';
      const want = expected(caller, cell);
      const flags = [body.preview_available === true, body.ladder_available === true];
      // The blur that stands for a mature picture belongs to the columns, not to the bytes.
      const blurred = typeof body.thumbhash === 'string';
      const bytes = [file.status === 200, small.status === 200];
      const agrees =
        answer === want.answer &&
        blurred === (answer === 'shown') &&
        [...flags, ...bytes].every((one) => one === want.served);
      if (!agrees) wrong.push({ cell, want, answer, blurred, flags, bytes });
      if (answer === 'withheld') {
        const allowed = ['id', 'owner_display_name', 'restricted'];
        expect(Object.keys(body).sort()).toEqual(allowed);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('sees members as the field rule says: in full, as placeholders, or not at all when deleted', async () => {
    if (!isLetIn(caller)) return;
    const wrong: unknown[] = [];
    const feed = new Set(await listed(visitor, {}));
    for (const cell of assets) {
      const post = await visitor.ok('getPost', { params: { id: cell.post } });
      const [member] = post.members;
      const { answer } = expected(caller, cell);
      const want = cell.deleted ? 'left out' : answer === 'shown' ? 'shown' : 'placeholder';
      const got = member === undefined ? 'left out' : member.restricted ? 'placeholder' : 'shown';
      const inFeed = answer === 'shown' || caller === 'author';
      if (got !== want || feed.has(cell.post) !== inFeed) wrong.push({ cell, want, got, inFeed });
      if (member?.restricted === true) {
        const allowed = ['asset_id', 'sort_order', 'restricted', 'owner_display_name'];
        expect(Object.keys(member).filter((key) => !allowed.includes(key))).toEqual([]);
      }
    }
    expect(wrong).toEqual([]);
  });
});
