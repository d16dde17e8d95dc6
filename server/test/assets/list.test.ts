import type { Asset, AssetQuery } from '@vitrine/contract/assets';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { bearer, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

type Fields = {
  owner_user_ref?: number | null;
  title?: string;
  asset_type?: number;
  status?: 'draft' | 'active' | 'archived';
  sensitivity?: 'public' | 'team' | 'restricted';
  processing_status?: 'pending' | 'ready' | 'failed';
  mature?: boolean;
  team_id?: string | null;
  created_at?: string;
  deleted_at?: string;
  deleted_reason?: string;
};

let library: Library;
let root: Account;
let owner: Account;
let stranger: Account;
let keeper: Account;
let hash: string;
let studio: string;
const people = new Map<string, Visitor>();
const ids = new Map<string, string>();
const names = new Map<string, string>();

function idOf(name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`no asset ${name}`);
  return id;
}

function person(name: string): Visitor {
  const visitor = people.get(name);
  if (visitor === undefined) throw new Error(`nobody called ${name}`);
  return visitor;
}

async function add(fields: Fields, tags: readonly string[] = [], of = hash): Promise<string> {
  const row = await library.deps.db
    .insertInto('assets')
    .values({
      owner_user_ref: owner.ref,
      asset_type: 1,
      file_hash: of,
      file_name: 'a.jpg',
      processing_status: 'ready',
      ...fields,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const [position, value] of tags.entries()) {
    const tag = { asset_id: row.id, value, position, source: 'manual' as const };
    await library.deps.db.insertInto('asset_tags').values(tag).execute();
  }
  return row.id;
}

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  owner = await library.join('owner');
  stranger = await library.join('stranger');
  keeper = await library.join('keeper');
  const reader = await library.join('reader');
  const { db } = library.deps;
  studio = await addTeam(library, 'studio');
  await grant(library, keeper, 'assets.admin');
  await grant(library, reader, 'content.read.all');
  const first = await upload(owner, plainFile(), { tags: 'sea' });
  if (first.file_hash === null) throw new Error('no hash');
  hash = first.file_hash;
  await db.deleteFrom('assets').execute();
  for (const [name, visitor] of [
    ['stranger', stranger],
    ['content.read.all', reader],
    ['owner', owner],
    ['assets.admin', keeper],
    ['system.admin', root],
    ['anonymous', library.anonymous()],
  ] as const) {
    people.set(name, visitor);
  }
  const town: [string, Fields, string[]?][] = [
    ['open', {}, ['sea', 'blue']],
    ['document', { asset_type: 2 }, ['sea']],
    ['pending', { processing_status: 'pending' }, ['sea']],
    ['failed', { processing_status: 'failed' }, ['sea']],
    ['draft', { status: 'draft' }, ['sea']],
    ['archived', { status: 'archived' }],
    ['team', { sensitivity: 'team', team_id: studio }, ['sea']],
    ['restricted', { sensitivity: 'restricted', team_id: studio }, ['sea', 'secret']],
    ['mature', { mature: true }],
    ['unowned', { owner_user_ref: null, sensitivity: 'restricted' }],
    ["stranger's", { owner_user_ref: stranger.ref, sensitivity: 'restricted' }, ['sea']],
    ['deleted', { deleted_at: '2026-02-03T04:05:06Z', deleted_reason: 'twice there' }, ['sea']],
    ['deleted without a word', { deleted_at: '2026-02-03T04:05:06Z', sensitivity: 'restricted' }],
  ];
  for (const [at, [name, fields, tags]] of town.entries()) {
    const created_at = `2026-01-01T00:00:${String(at).padStart(2, '0')}Z`;
    const id = await add({ title: name, created_at, ...fields }, tags);
    ids.set(name, id);
    names.set(id, name);
  }
});

/** Returns the assets of all pages of a list in order. */
async function listed(visitor: Visitor, query: AssetQuery = {}): Promise<Asset[]> {
  const items: Asset[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: Asset[]; next_cursor: string | null } = await visitor.ok('listAssets', {
      query: { limit: 3, ...query, ...(cursor === null ? {} : { cursor }) },
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}

const nameOf = (asset: { id: string }) => names.get(asset.id) ?? asset.id;
const asText = (asset: Asset) => `${nameOf(asset)}${asset.restricted ? ' (withheld)' : ''}`;

const everybody = ['mature', 'document', 'open'];
const signedIn = ['pending', ...everybody];
const withheld = ['unowned', 'restricted', 'team'].map((name) => `${name} (withheld)`);
const live = ['open', 'document', 'pending', 'failed', 'draft', 'archived', 'team', 'restricted', 'mature'];

/** ASSET-1, ASSET-5: the lists of these callers. The access matrix covers the other kinds of callers. */
const lists: Record<string, readonly string[]> = {
  anonymous: everybody,
  stranger: [...signedIn, ...withheld, "stranger's"],
  'content.read.all': [...signedIn, 'unowned', 'restricted', 'team', "stranger's"],
  owner: [...live, 'unowned (withheld)', "stranger's (withheld)"],
  'assets.admin': [...live, 'unowned', "stranger's"],
  'system.admin': [...live, 'unowned', "stranger's"],
};

describe('GET /assets lists readable assets, with placeholders for withheld ones', () => {
  describe.each(Object.keys(lists))('%s', (name) => {
    beforeAll(() => library.setPublicMode(name === 'anonymous'));

    // ASSET-1, ASSET-4, ASSET-11
    test('returns exactly these assets', async () => {
      expect((await listed(person(name))).map(asText).sort()).toEqual([...(lists[name] ?? [])].sort());
    });

    // ASSET-1, ASSET-2, ASSET-5
    test('lists the same assets with the same properties as GET /assets/{id}', async () => {
      const visitor = person(name);
      const items = new Map((await listed(visitor)).map((asset) => [asset.id, asset]));
      for (const id of ids.values()) {
        const item = items.get(id);
        if (item === undefined)
          expect((await visitor.refused('getAsset', { params: { id } })).status).toBe(404);
        else expect(await visitor.ok('getAsset', { params: { id } })).toEqual(item);
      }
    });

    test.each<AssetQuery>([
      { tag: ['sea'] },
      { tag: ['secret'] },
      { tag: ['sea', 'blue'] },
      { tag: ['sea', 'secret'] },
      { asset_type: 2 },
      { asset_type: 1 },
      { status: 'active' },
      { status: 'draft' },
      { status: 'archived', asset_type: 1 },
      { sort: 'oldest', tag: ['sea'] },
    ])('a filter returns matching readable assets in full pages: %j', async (filter) => {
      const { tag = [], asset_type, status, sort = 'newest' } = filter;
      const fitting = (await listed(person(name), { sort })).filter(
        (asset) =>
          !asset.restricted &&
          tag.every((one) => asset.tags.includes(one)) &&
          (asset_type === undefined || asset.asset_type === asset_type) &&
          (status === undefined || asset.status === status),
      );
      expect(await listed(person(name), { ...filter, limit: 2 })).toEqual(fitting);
      const page = await person(name).ok('listAssets', { query: { ...filter, limit: 2 } });
      expect(page.items).toHaveLength(Math.min(2, fitting.length));
    });

    // ASSET-22
    test('the owner and team filters do not find withheld assets', async () => {
      const all = await listed(person(name));
      const shown = all.flatMap((asset) => (asset.restricted ? [] : [asset]));
      const ofOwner = shown.filter((asset) => asset.owner_user_ref === owner.ref);
      const ofTeam = shown.filter((asset) => asset.team_id === studio);
      expect(await listed(person(name), { owner_ref: owner.ref })).toEqual(ofOwner);
      expect(await listed(person(name), { team_id: studio })).toEqual(ofTeam);
    });
  });

  // ASSET-22
  test('filters find a withheld asset only for callers who may read its columns', async () => {
    const questions: AssetQuery[] = [
      { tag: ['secret'] },
      { team_id: studio },
      { owner_ref: owner.ref, status: 'draft' },
    ];
    for (const query of questions) {
      expect(await listed(stranger, query)).toEqual([]);
      expect((await listed(keeper, query)).length).toBeGreaterThan(0);
    }
  });

  // ASSET-5, HTTP-6, POST-21
  test('a placeholder has only `id`, `restricted` and the name of its owner, if any', async () => {
    const items = (await listed(stranger)).filter((asset) => asset.restricted);
    expect(items).toEqual(
      expect.arrayContaining([
        { id: idOf('restricted'), restricted: true, owner_display_name: 'owner' },
        { id: idOf('team'), restricted: true, owner_display_name: 'owner' },
        { id: idOf('unowned'), restricted: true },
      ]),
    );
  });

  // ASSET-12
  test('shows `sensitivity` only to the owner and administrators', async () => {
    const told = async (name: string) =>
      (await listed(person(name)))
        .filter((asset) => !asset.restricted && asset.sensitivity !== undefined)
        .map(nameOf)
        .sort();
    await library.setPublicMode(true);
    expect(await told('anonymous')).toEqual([]);
    expect(await told('stranger')).toEqual(["stranger's"]);
    expect(await told('content.read.all')).toEqual([]);
    expect(await told('owner')).toEqual([...live].sort());
    expect(await told('assets.admin')).toEqual([...live, 'unowned', "stranger's"].sort());
  });
});

describe('pagination and order', () => {
  let other: Library['deps']['db'];
  const walls: string[] = [];

  beforeAll(async () => {
    other = library.deps.db;
    // Five assets share each time, so that the id decides.
    for (let at = 0; at < 60; at += 1) {
      const created_at = `2026-03-01T00:00:${String(Math.floor(at / 5)).padStart(2, '0')}.500Z`;
      walls.push(await add({ asset_type: 5, created_at }));
    }
    walls.sort();
  });

  test('a page has 50 assets by default, and the last page has no cursor', async () => {
    const page = await owner.ok('listAssets', { query: { asset_type: 5 } });
    expect(page.items).toHaveLength(50);
    const rest = await owner.ok('listAssets', {
      query: { asset_type: 5, ...(page.next_cursor === null ? {} : { cursor: page.next_cursor }) },
    });
    expect(rest.items).toHaveLength(10);
    expect(rest.next_cursor).toBeNull();
    const exact = await owner.ok('listAssets', { query: { asset_type: 5, limit: 60 } });
    expect([exact.items.length, exact.next_cursor]).toEqual([60, null]);
  });

  test.each([1, 7, 59, 200])(
    'pages of %d contain each asset once, newest first by time and id',
    async (limit) => {
      const items = await listed(owner, { asset_type: 5, limit });
      expect(items.map(({ id }) => id).sort()).toEqual(walls);
      const rows = await other
        .selectFrom('assets')
        .select(['id', 'created_at'])
        .where('asset_type', '=', 5)
        .execute();
      const key = new Map(rows.map((row) => [row.id, `${row.created_at} ${row.id}`]));
      const keys = items.map(({ id }) => key.get(id) ?? '');
      expect(keys).toEqual([...keys].sort().reverse());
    },
  );

  test('`oldest` reverses the list; `newest` is the default', async () => {
    const newest = (await listed(owner)).map(nameOf);
    expect((await listed(owner, { sort: 'newest' })).map(nameOf)).toEqual(newest);
    expect((await listed(owner, { sort: 'oldest' })).map(nameOf)).toEqual([...newest].reverse());
  });

  test('pages contain each asset once while others are added and removed', async () => {
    const goers = walls.filter((_, at) => at % 3 === 0);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: Asset[]; next_cursor: string | null } = await owner.ok('listAssets', {
        query: { asset_type: 5, limit: 4, ...(cursor === null ? {} : { cursor }) },
      });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
      const [goer] = goers.splice(0, 1);
      if (goer !== undefined)
        await other.updateTable('assets').set({ status: 'draft' }).where('id', '=', goer).execute();
      await add({ asset_type: 5, created_at: '2026-03-02T00:00:00Z' });
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.sort()).toEqual(walls);
  });
});

describe('the query of GET /assets', () => {
  test.each([
    'limit=1&limit=2',
    'cursor=x',
    'cursor=',
    `cursor=${Buffer.from('2026-01-01T00:00:00Z no-uuid').toString('base64url')}`,
    'owner_ref=9223372036854775808',
    Array.from({ length: 11 }, (_, n) => `tag=t${n}`).join('&'),
  ])('returns 400 for %s', async (query) => {
    expect((await owner.send(`/assets?${query}`)).status).toBe(400);
  });

  test('ignores unknown parameters', async () => {
    const known = await owner.ok('listAssets');
    expect(JSON.parse((await owner.send('/assets?colour=red')).text)).toEqual(known);
  });

  test('matches tags exactly, including case and punctuation', async () => {
    const odd = ['50% %_', 'a,b', "l'été", 'Sea', '日本', '"q"', 'a&b=c'];
    const id = await add({ asset_type: 6 }, odd);
    for (const tag of odd) {
      expect((await listed(owner, { tag: [tag], asset_type: 6 })).map((asset) => asset.id)).toEqual([id]);
    }
    for (const tag of ['50', '%', 'sea', 'SEA', 'a']) {
      expect(await listed(owner, { tag: [tag], asset_type: 6 })).toEqual([]);
    }
  });

  test('returns an empty list for an unknown team, owner or type', async () => {
    for (const query of [{ team_id: crypto.randomUUID() }, { owner_ref: 4_711_000 }, { asset_type: 99 }]) {
      expect(await root.ok('listAssets', { query })).toEqual({ items: [], next_cursor: null });
    }
  });
});

// ASSET-23, HTTP-6
describe('include_deleted', () => {
  const deleted = ['deleted', 'deleted without a word'];

  // ASSET-23
  test('adds deleted assets for system.admin, with time and reason', async () => {
    const plain = await listed(root, { limit: 200 });
    const items = await listed(root, { include_deleted: true, limit: 200 });
    expect(items.filter((asset) => !deleted.includes(nameOf(asset)))).toEqual(plain);
    const trash = items.filter((asset) => deleted.includes(nameOf(asset)));
    expect(trash).toHaveLength(2);
    expect(trash.find((asset) => nameOf(asset) === 'deleted')).toMatchObject({
      restricted: false,
      title: 'deleted',
      tags: ['sea'],
      deleted_at: '2026-02-03T04:05:06Z',
      deleted_reason: 'twice there',
      // Assets in the trash are served to nobody, and visitors do not see them.
      preview_available: false,
      ladder_available: false,
      anonymously_visible: false,
    });
    expect(trash.find((asset) => nameOf(asset) !== 'deleted')).toMatchObject({ deleted_reason: null });
    for (const asset of plain) {
      expect(asset).not.toHaveProperty('deleted_at');
      expect(asset).not.toHaveProperty('deleted_reason');
    }
    for (const path of ['file', 'variants/col']) {
      expect((await root.send(`/assets/${idOf('deleted')}/${path}`)).status).toBe(404);
    }
    expect((await root.refused('getAsset', { params: { id: idOf('deleted') } })).status).toBe(404);
  });

  test('combines with filters', async () => {
    const found = await listed(root, { include_deleted: true, tag: ['sea'] });
    expect(found.map(nameOf)).toContain('deleted');
    expect(found).toEqual(
      (await listed(root, { include_deleted: true })).filter(
        (asset) => !asset.restricted && asset.tags.includes('sea'),
      ),
    );
  });

  test('works for tokens of system.admin with the scope read', async () => {
    const script = await bearer(library, root, ['read']);
    expect((await listed(script, { include_deleted: true, tag: ['sea'] })).map(nameOf)).toContain('deleted');
  });

  test.each(Object.keys(lists).filter((name) => name !== 'system.admin'))(
    'is ignored for %s',
    async (name) => {
      await library.setPublicMode(name === 'anonymous');
      const query: AssetQuery = { limit: 200 };
      expect(await listed(person(name), { ...query, include_deleted: true })).toEqual(
        await listed(person(name), query),
      );
    },
  );
});
