import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

type Scope = 'owned_by_me' | 'deleted_by_me';
type Kind = 'post' | 'asset';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const file = await upload(mara, plainFile());
if (file.file_hash === null) throw new Error('no hash');
const hash = file.file_hash;

const tables = { post: sql.table('posts'), asset: sql.table('assets') };

async function addAsset(title: string): Promise<string> {
  return (await mara.ok('createAsset', { body: { file_hash: hash, title } })).id;
}

async function addPost(title: string): Promise<string> {
  return (await publish(mara, [{ id: await addAsset(`of ${title}`) }], { title })).id;
}

const add = { post: addPost, asset: addAsset };

async function remove(kind: Kind, id: string, as: Visitor, reason?: string): Promise<void> {
  const input = { params: { id }, body: reason === undefined ? undefined : { reason } };
  if (kind === 'post') await as.ok('deletePost', input);
  else await as.ok('deleteAsset', input);
}

/** Returns a whole list, read in pages of this size. */
async function listed(visitor: Visitor, scope: Scope, limit = 50) {
  const items: Awaited<ReturnType<typeof page>>['items'] = [];
  const page = (cursor: string | null) =>
    visitor.ok('listTrash', { query: { scope, limit, ...(cursor === null ? {} : { cursor }) } });
  let cursor: string | null = null;
  do {
    const found = await page(cursor);
    expect(found.items.length).toBeLessThanOrEqual(limit);
    if (found.next_cursor !== null) expect(found.items).toHaveLength(limit);
    items.push(...found.items);
    cursor = found.next_cursor;
  } while (cursor !== null);
  return items;
}

const idsOf = async (visitor: Visitor, scope: Scope) => (await listed(visitor, scope)).map(({ id }) => id);

// TRASH-5
describe('GET /account/trash', () => {
  test.each(['post', 'asset'] as const)(
    'shows what, when, why and by whom for a deleted %s',
    async (kind) => {
      const id = await add[kind]('Ridge');
      const bare = await add[kind]('');
      await remove(kind, id, mara, 'twice there');
      await remove(kind, bare, mara);
      const [second, first] = await listed(mara, 'owned_by_me');
      expect(first).toEqual({
        kind,
        id,
        title: 'Ridge',
        deleted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        deleted_reason: 'twice there',
        deleted_by_user_ref: mara.ref,
        restorable: true,
      });
      expect(second).toMatchObject({ id: bare, deleted_reason: null });
    },
  );

  // TRASH-5
  test('lists the caller’s items in `owned_by_me` and their deletions in `deleted_by_me`, and whether they may restore them', async () => {
    for (const kind of ['post', 'asset'] as const) {
      const mine = await add[kind]('deleted by its owner');
      const taken = await add[kind]('deleted by an administrator');
      const nobodys = await add[kind]('deleted by nobody known');
      await remove(kind, mine, mara);
      await remove(kind, taken, root);
      await remove(kind, nobodys, mara);
      await sql`update ${tables[kind]} set deleted_by_user_ref = null where id = ${nobodys}`.execute(
        library.deps.db,
      );
      const restorable = async (visitor: Visitor, scope: Scope) => {
        const items = await listed(visitor, scope);
        return [mine, taken, nobodys].map((id) => items.find((item) => item.id === id)?.restorable ?? null);
      };
      expect(await restorable(mara, 'owned_by_me')).toEqual([true, false, false]);
      expect(await restorable(mara, 'deleted_by_me')).toEqual([true, null, null]);
      expect(await restorable(root, 'owned_by_me')).toEqual([null, null, null]);
      expect(await restorable(root, 'deleted_by_me')).toEqual([null, true, null]);
    }
  });

  test('omits live and restored items', async () => {
    const [post, asset] = [await addPost('comes back'), await addAsset('comes back')];
    expect(await idsOf(mara, 'owned_by_me')).not.toContain(post);
    await remove('post', post, mara);
    await remove('asset', asset, mara);
    for (const scope of ['owned_by_me', 'deleted_by_me'] as const) {
      expect(await idsOf(mara, scope)).toEqual(expect.arrayContaining([post, asset]));
    }
    await mara.ok('restorePost', { params: { id: post } });
    await mara.ok('restoreAsset', { params: { id: asset } });
    for (const scope of ['owned_by_me', 'deleted_by_me'] as const) {
      const ids = await idsOf(mara, scope);
      expect(ids).not.toContain(post);
      expect(ids).not.toContain(asset);
    }
  });

  test('leaves the restore to the last account that deleted it', async () => {
    const id = await addPost('to and fro');
    await remove('post', id, mara);
    await mara.ok('restorePost', { params: { id } });
    await remove('post', id, root);
    expect(await idsOf(mara, 'deleted_by_me')).not.toContain(id);
    expect(await idsOf(root, 'deleted_by_me')).toContain(id);
  });
});

// TRASH-5
describe('pages of the trash contain posts and assets, latest first', () => {
  let things: { kind: Kind; id: string; at: string }[];
  const page = (cursor: string | null) =>
    mara.ok('listTrash', { query: { limit: 4, ...(cursor === null ? {} : { cursor }) } });

  beforeAll(async () => {
    const { db } = library.deps;
    await sql`update posts set deleted_at = null, deleted_by_user_ref = null`.execute(db);
    await sql`update assets set deleted_at = null, deleted_by_user_ref = null`.execute(db);
    things = [];
    for (let n = 0; n < 12; n += 1) {
      const kind = n % 2 === 0 ? 'post' : 'asset';
      const id = await add[kind](`${n}`);
      // Three entries of both kinds share each time.
      const at = `2026-04-01T00:00:${String(Math.floor(n / 3)).padStart(2, '0')}.25Z`;
      await sql`update ${tables[kind]} set deleted_at = ${at}, deleted_by_user_ref = ${mara.ref}
        where id = ${id}`.execute(db);
      things.push({ kind, id, at });
    }
    things.sort((a, b) => (`${a.at} ${a.id}` < `${b.at} ${b.id}` ? 1 : -1));
  });

  test('without duplicates', async () => {
    for (const limit of [2, 5, 12, 200]) {
      for (const scope of ['owned_by_me', 'deleted_by_me'] as const) {
        const items = await listed(mara, scope, limit);
        expect(items.map(({ kind, id, deleted_at }) => ({ kind, id, at: deleted_at }))).toEqual(things);
      }
    }
  });

  test('also during concurrent restores', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    const gone = things.filter((_, n) => n % 4 === 1).reverse();
    do {
      const found: Awaited<ReturnType<typeof page>> = await page(cursor);
      seen.push(...found.items.map(({ id }) => id));
      cursor = found.next_cursor;
      const [next] = gone.splice(0, 1);
      if (next !== undefined && !seen.includes(next.id)) {
        if (next.kind === 'post') await mara.ok('restorePost', { params: { id: next.id } });
        else await mara.ok('restoreAsset', { params: { id: next.id } });
      }
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(seen.length);
    const left = await idsOf(mara, 'owned_by_me');
    expect(left.length).toBeLessThan(things.length);
    expect(seen).toEqual(expect.arrayContaining(left));
  });
});
