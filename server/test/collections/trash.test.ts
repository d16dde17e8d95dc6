import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { purge } from '../../src/content/trash/jobs/purge.ts';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { actAs } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, idsIn } from './shelves.ts';

/** The access matrix (server/test/access/surfaces/trash.ts) shows who lists, restores and appeals. */

const library = await openLibrary();
const { db } = library.deps;
const [mara, root] = await Promise.all([library.join('mara'), library.join('root', 'admin')]);
const asset = await upload(mara, plainFile());

const remove = (who: Visitor, id: string, reason?: string) =>
  who.ok('deleteCollection', { params: { id }, body: reason === undefined ? undefined : { reason } });
const restore = (who: Visitor, id: string) => who.status('POST', `/admin/collections/${id}/restore`);

// COLLECTION-16
test('a deleted collection is in the trash with who and why; its posts stay, and are in it after the restore', async () => {
  const post = await publish(mara, [asset]);
  const { id } = await collect(mara, 'Ridges', [post]);
  await remove(mara, id, 'twice there');
  expect((await mara.refused('getCollection', { params: { id } })).status).toBe(404);
  expect((await mara.refused('deleteCollection', { params: { id }, body: undefined })).status).toBe(404);
  expect((await mara.ok('getPost', { params: { id: post.id } })).id).toBe(post.id);
  expect((await mara.ok('listTrash', { query: { scope: 'owned_by_me' } })).items).toEqual([
    {
      kind: 'collection',
      id,
      title: 'Ridges',
      deleted_at: expect.any(String),
      deleted_reason: 'twice there',
      deleted_by_user_ref: mara.ref,
      owner: { ref: mara.ref, username: 'mara', display_name: 'mara', avatar_url: null },
      restorable: true,
    },
  ]);
  expect(await restore(await actAs(library, root, mara), id)).toBe(204);
  expect(await idsIn(mara, id)).toEqual([post.id]);
  expect(await auditEvents(library, { target_id: id })).toMatchObject([
    { event: 'collection.deleted', metadata: { reason: 'twice there' } },
    { event: 'admin.collection.restored', impersonator_user_ref: root.ref },
  ]);
});

// COLLECTION-16, REQUEST-7, TRASH-6
test('an appeal is decided by the account that deleted the collection; granting restores it', async () => {
  const deputy = await library.join('deputy', 'admin');
  const { id } = await collect(mara, 'taken away');
  await remove(deputy, id);
  const member = sql`(select id from roles where code = 'member')`;
  await sql`update users set role_id = ${member} where ref = ${deputy.ref}`.execute(db);
  const params = { kind: 'collection', id } as const;
  const request = await mara.ok('requestRestore', { params, body: undefined });
  expect(request).toMatchObject({
    target_kind: 'collection',
    target_id: id,
    requested_capability: 'content.restore.request',
    state: 'pending',
  });
  const queue = await deputy.ok('listIncomingRequests');
  expect(queue.items).toMatchObject([{ id: request.id, decidable_by_caller: true }]);
  await deputy.ok('decideRequest', { params: { id: request.id }, body: { decision: 'granted' } });
  expect((await mara.ok('getCollection', { params: { id } })).id).toBe(id);
});

describe('after the retention', () => {
  test('a collection is purged with its places and shares, but not its posts', async () => {
    const post = await publish(mara, [asset]);
    const [old, young] = [await collect(mara, 'old', [post]), await collect(mara, 'young', [post])];
    await mara.ok('putCollectionShare', { params: { id: old.id, user_ref: root.ref } });
    for (const [{ id }, days] of [
      [old, 31],
      [young, 29],
    ] as const) {
      await remove(mara, id);
      await sql`update collections
        set deleted_at = now() - make_interval(days => ${days}) where id = ${id}`.execute(db);
    }
    expect(await purge(db)).toEqual({ posts: 0, assets: 0, collections: 1 });
    expect([await restore(mara, old.id), await restore(mara, young.id)]).toEqual([404, 204]);
    expect(await idsIn(mara, young.id)).toEqual([post.id]);
  });

  test('a purged post leaves its collections', async () => {
    const [gone, stays] = [await publish(mara, [asset]), await publish(mara, [asset])];
    const { id } = await collect(mara, 'with a purged one', [gone, stays]);
    await mara.ok('deletePost', { params: { id: gone.id }, body: undefined });
    await sql`update posts set deleted_at = now() - interval '31 days' where id = ${gone.id}`.execute(db);
    expect(await purge(db)).toMatchObject({ posts: 1 });
    expect(await idsIn(mara, id)).toEqual([stays.id]);
    const { rows } = await sql`select from collection_posts where post_id = ${gone.id}`.execute(db);
    expect(rows).toEqual([]);
  });
});
