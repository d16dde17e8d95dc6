import type { ShownAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { purge } from '../../src/trash/jobs/purge.ts';
import { actAs, arrive, bearer, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, idsIn } from './shelves.ts';

let library: Library;
let mara: Account;
let ann: Account;
let root: Account;
let second: Account;
let asset: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ann] = await Promise.all([arrive(library, 'mara'), arrive(library, 'ann')]);
  [root, second] = await Promise.all([arrive(library, 'root', 'admin'), arrive(library, 'second', 'admin')]);
  asset = await upload(mara, plainFile());
});

const remove = (who: Visitor, id: string, reason?: string) =>
  who.ok('deleteCollection', { params: { id }, body: reason === undefined ? undefined : { reason } });
const restore = (who: Visitor, id: string) =>
  who.send(`/admin/collections/${id}/restore`, { method: 'POST' });
const appeal = (who: Visitor, id: string) =>
  who.send(`/account/trash/collection/${id}/request-restore`, { method: 'POST' });
const trash = async (who: Visitor, scope: 'owned_by_me' | 'deleted_by_me') =>
  (await who.ok('listTrash', { query: { scope, limit: 200 } })).items;

async function taken(by: Account): Promise<string> {
  const { id } = await collect(mara, 'taken away');
  await remove(by, id);
  return id;
}

describe('DELETE /collections/{id}', () => {
  // COLLECTION-16
  test('puts it into the trash with who and why, and its posts stay where they are', async () => {
    const post = await publish(mara, [asset]);
    const { id } = await collect(mara, 'Ridges', [post]);
    await remove(mara, id, 'twice there');
    expect((await mara.refused('getCollection', { params: { id } })).status).toBe(404);
    expect((await mara.refused('deleteCollection', { params: { id }, body: undefined })).status).toBe(404);
    expect((await mara.ok('getPost', { params: { id: post.id } })).id).toBe(post.id);
    expect(await trash(mara, 'owned_by_me')).toEqual([
      {
        kind: 'collection',
        id,
        title: 'Ridges',
        deleted_at: expect.any(String),
        deleted_reason: 'twice there',
        deleted_by_user_ref: mara.ref,
        restorable: true,
      },
    ]);
    const { rows } = await sql`select event, metadata from audit_events where target_id = ${id}`.execute(
      library.deps.db,
    );
    expect(rows).toEqual([{ event: 'collection.deleted', metadata: { reason: 'twice there' } }]);
    expect((await restore(mara, id)).status).toBe(204);
    expect(await idsIn(mara, id)).toEqual([post.id]);
  });

  test('with a reason of 501 characters is 400', async () => {
    const { id } = await collect(mara, 'stays');
    const body = { reason: 'x'.repeat(501) };
    expect((await mara.send(`/collections/${id}`, { method: 'DELETE', body })).status).toBe(400);
    await mara.ok('getCollection', { params: { id } });
  });
});

// TRASH-2
describe('POST /admin/collections/{id}/restore', () => {
  // COLLECTION-16, TRASH-2
  test('is allowed to the account that deleted it and to system.admin', async () => {
    const editor = await arrive(library, 'editor');
    await grant(library, editor, 'posts.admin');
    const own = await taken(mara);
    for (const who of [ann, editor]) expect((await restore(who, own)).status).toBe(403);
    expect((await restore(library.anonymous(), own)).status).toBe(401);
    expect((await restore(await bearer(library, mara, ['read']), own)).status).toBe(403);
    expect((await restore(await bearer(library, mara, ['posts.write']), own)).status).toBe(204);
    const byRoot = await taken(root);
    expect((await restore(mara, byRoot)).status).toBe(403);
    expect((await restore(second, byRoot)).status).toBe(204);
    for (const id of [byRoot, nowhere]) expect((await restore(root, id)).status).toBe(404);
    expect((await restore(root, 'x')).status).toBe(400);
  });

  test('by an impersonating administrator is audited with the administrator’s name', async () => {
    const id = await taken(mara);
    expect((await restore(await actAs(library, root, mara), id)).status).toBe(204);
    const { rows } = await sql<{ event: string; by: number }>`
      select event, impersonator_user_ref as by from audit_events
      where target_id = ${id} order by occurred_at`.execute(library.deps.db);
    expect(rows.at(-1)).toEqual({ event: 'admin.collection.restored', by: root.ref });
  });
});

describe('the trash lists collections', () => {
  test('to their owner and to the account that deleted them, and states who may restore', async () => {
    const id = await taken(root);
    const seen = async (who: Account, scope: 'owned_by_me' | 'deleted_by_me') =>
      (await trash(who, scope)).find((item) => item.id === id)?.restorable ?? null;
    expect(await seen(mara, 'owned_by_me')).toBe(false);
    expect(await seen(mara, 'deleted_by_me')).toBe(null);
    expect(await seen(root, 'deleted_by_me')).toBe(true);
    expect([await seen(ann, 'owned_by_me'), await seen(ann, 'deleted_by_me')]).toEqual([null, null]);
  });

  test('together with posts and assets, latest first, in pages', async () => {
    const kim = await arrive(library, 'kim');
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const picture = await upload(kim, plainFile(`${n}`));
      const post = await publish(kim, [picture]);
      const { id } = await collect(kim, `${n}`);
      await kim.ok('deletePost', { params: { id: post.id }, body: undefined });
      await remove(kim, id);
      await kim.ok('deleteAsset', { params: { id: picture.id }, body: undefined });
      made.unshift(picture.id, id, post.id);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string }[]; next_cursor: string | null } = await kim.ok('listTrash', {
        query: { limit: 2, ...(cursor === null ? {} : { cursor }) },
      });
      seen.push(...page.items.map((item) => item.id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(made);
  });
});

// REQUEST-7
describe('an appeal against the delete of a collection', () => {
  // COLLECTION-16, TRASH-6
  test('is 201, or 200 when repeated; 404 for items of others or live items; 409 for items that the caller may restore', async () => {
    const id = await taken(root);
    const first = await appeal(mara, id);
    const again = await appeal(mara, id);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(JSON.parse(first.text)).toMatchObject({
      target_kind: 'collection',
      target_id: id,
      requested_capability: 'content.restore.request',
      state: 'pending',
    });
    expect((await appeal(ann, id)).status).toBe(404);
    expect((await appeal(mara, (await collect(mara, 'live')).id)).status).toBe(404);
    expect((await appeal(mara, await taken(mara))).status).toBe(409);
  });

  // REQUEST-7
  test('is decided by the account that deleted the item, not by holders of share.grant; granting restores the item', async () => {
    const deputy = await arrive(library, 'deputy', 'admin');
    const sharer = await arrive(library, 'sharer');
    await grant(library, sharer, 'share.grant');
    const id = await taken(deputy);
    await sql`update users set role_id = (select id from roles where code = 'member') where ref = ${deputy.ref}`.execute(
      library.deps.db,
    );
    const request: { id: string } = JSON.parse((await appeal(mara, id)).text);
    const queue = await deputy.ok('listIncomingRequests');
    expect(queue.items).toMatchObject([{ id: request.id, decidable_by_caller: true }]);
    const body = { decision: 'granted' as const };
    expect((await sharer.refused('decideRequest', { params: { id: request.id }, body })).status).toBe(403);
    expect((await ann.refused('decideRequest', { params: { id: request.id }, body })).status).toBe(403);
    await deputy.ok('decideRequest', { params: { id: request.id }, body });
    expect((await mara.ok('getCollection', { params: { id } })).id).toBe(id);
    const grants = await library.deps.db
      .selectFrom('user_capability_grants')
      .select('capability')
      .where('user_ref', '=', mara.ref)
      .execute();
    expect(grants).toEqual([]);
  });
});

describe('items deleted longer ago than the retention', () => {
  test('is purged with its places and shares, but not its posts', async () => {
    const post = await publish(mara, [asset]);
    const [old, young] = [await collect(mara, 'old', [post]), await collect(mara, 'young', [post])];
    await mara.ok('putCollectionShare', { params: { id: old.id, user_ref: ann.ref } });
    for (const [{ id }, days] of [
      [old, 31],
      [young, 29],
    ] as const) {
      await remove(mara, id);
      await sql`update collections set deleted_at = now() - make_interval(days => ${days}) where id = ${id}`.execute(
        library.deps.db,
      );
    }
    expect(await purge(library.deps.db)).toEqual({ posts: 0, assets: 0, collections: 1 });
    expect((await restore(mara, old.id)).status).toBe(404);
    expect((await restore(mara, young.id)).status).toBe(204);
    expect(await idsIn(mara, young.id)).toEqual([post.id]);
  });

  test('a post that is purged leaves its collections', async () => {
    const [gone, stays] = [await publish(mara, [asset]), await publish(mara, [asset])];
    const { id } = await collect(mara, 'with a purged one', [gone, stays]);
    await mara.ok('deletePost', { params: { id: gone.id }, body: undefined });
    await sql`update posts set deleted_at = now() - interval '31 days' where id = ${gone.id}`.execute(
      library.deps.db,
    );
    expect(await purge(library.deps.db)).toMatchObject({ posts: 1 });
    expect(await idsIn(mara, id)).toEqual([stays.id]);
    expect(
      await library.deps.db
        .selectFrom('collection_posts')
        .select('post_id')
        .where('post_id', '=', gone.id)
        .execute(),
    ).toEqual([]);
  });
});
