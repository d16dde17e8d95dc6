import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { plainFile } from '../support/pictures.ts';

type Scope = 'owned_by_me' | 'deleted_by_me' | 'everyone';
type Kind = 'post' | 'asset';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const hash = (await upload(mara, plainFile())).file_hash ?? '';

const tables = { post: sql.table('posts'), asset: sql.table('assets') };

const addAsset = async (title: string) =>
  (await mara.ok('createAsset', { body: { file_hash: hash, title } })).id;
const addPost = async (title: string) =>
  (await publish(mara, [{ id: await addAsset(`of ${title}`) }], { title })).id;
const add = { post: addPost, asset: addAsset };

const remove = (kind: Kind, id: string, as: Visitor, reason: string | null = null) =>
  as.ok(kind === 'post' ? 'deletePost' : 'deleteAsset', { params: { id }, body: { reason } });
const restore = (kind: Kind, id: string) =>
  mara.ok(kind === 'post' ? 'restorePost' : 'restoreAsset', { params: { id } });

/** Returns a whole list, read in pages of this size. */
async function listed(visitor: Visitor, scope: Scope, limit = 50) {
  const read = (query: object) => visitor.ok('listTrash', { query: { scope, limit, ...query } });
  const pages = await pagesOf(read);
  for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
  expect(pages.at(-1)?.length).toBeLessThanOrEqual(limit);
  return pages.flat();
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
        owner: expect.objectContaining({ ref: mara.ref, username: 'mara' }),
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
      await sql`update ${tables[kind]} set deleted_by_user_ref = null where id = ${nobodys}`.execute(db);
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

  test('lists everyone’s items in `everyone` for administrators alone', async () => {
    const ofMara = await addPost('of Mara');
    const ofRoot = (
      await root.ok('createAsset', {
        body: { file_hash: (await upload(root, plainFile('r'))).file_hash ?? '' },
      })
    ).id;
    await remove('post', ofMara, mara);
    await remove('asset', ofRoot, root);
    const items = await listed(root, 'everyone', 200);
    expect(items.slice(0, 2)).toMatchObject([
      { id: ofRoot, owner: { ref: root.ref }, restorable: true },
      { id: ofMara, owner: { ref: mara.ref }, restorable: true },
    ]);
    const refused = await mara.refused('listTrash', { query: { scope: 'everyone' } });
    expect(refused.status).toBe(403);
  });

  test('omits live and restored items', async () => {
    const [post, asset] = [await addPost('comes back'), await addAsset('comes back')];
    expect(await idsOf(mara, 'owned_by_me')).not.toContain(post);
    await remove('post', post, mara);
    await remove('asset', asset, mara);
    for (const scope of ['owned_by_me', 'deleted_by_me'] as const)
      expect(await idsOf(mara, scope)).toEqual(expect.arrayContaining([post, asset]));
    await restore('post', post);
    await restore('asset', asset);
    for (const scope of ['owned_by_me', 'deleted_by_me'] as const) {
      const ids = await idsOf(mara, scope);
      for (const id of [post, asset]) expect(ids).not.toContain(id);
    }
  });

  test('leaves the restore to the last account that deleted it', async () => {
    const id = await addPost('to and fro');
    await remove('post', id, mara);
    await restore('post', id);
    await remove('post', id, root);
    expect(await idsOf(mara, 'deleted_by_me')).not.toContain(id);
    expect(await idsOf(root, 'deleted_by_me')).toContain(id);
  });
});

// TRASH-5
describe('pages of the trash contain posts and assets, latest first', () => {
  let things: { kind: Kind; id: string; at: string }[];

  beforeAll(async () => {
    await sql`update posts set deleted_at = null, deleted_by_user_ref = null`.execute(db);
    await sql`update assets set deleted_at = null, deleted_by_user_ref = null`.execute(db);
    things = [];
    for (let n = 0; n < 12; n += 1) {
      const kind = n % 2 === 0 ? 'post' : 'asset';
      const id = await add[kind](`${n}`);
      // Three entries of both kinds share each time.
      const at = `2026-04-01T00:00:${String(Math.floor(n / 3)).padStart(2, '0')}.250Z`;
      await sql`update ${tables[kind]} set deleted_at = ${at}, deleted_by_user_ref = ${mara.ref}
        where id = ${id}`.execute(db);
      things.push({ kind, id, at });
    }
    things.sort((a, b) => (`${a.at} ${a.id}` < `${b.at} ${b.id}` ? 1 : -1));
  });

  test('without duplicates', async () => {
    for (const limit of [2, 5, 12, 200])
      for (const scope of ['owned_by_me', 'deleted_by_me'] as const) {
        const items = await listed(mara, scope, limit);
        expect(items.map(({ kind, id, deleted_at }) => ({ kind, id, at: deleted_at }))).toEqual(things);
      }
  });

  test('also during concurrent restores', async () => {
    const seen: string[] = [];
    const gone = things.filter((_, n) => n % 4 === 1).reverse();
    await pagesOf(async (from) => {
      const page = await mara.ok('listTrash', { query: { limit: 4, ...from } });
      seen.push(...page.items.map(({ id }) => id));
      const next = gone.shift();
      if (next !== undefined && !seen.includes(next.id)) await restore(next.kind, next.id);
      return page;
    });
    expect(new Set(seen).size).toBe(seen.length);
    const left = await idsOf(mara, 'owned_by_me');
    expect(left.length).toBeLessThan(things.length);
    expect(seen).toEqual(expect.arrayContaining(left));
  });
});
