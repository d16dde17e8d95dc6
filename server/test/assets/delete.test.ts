import { setTimeout as sleep } from 'node:timers/promises';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { jpeg } from '../support/pictures.ts';

/** The access matrix covers who may delete and restore an asset. */

let asset: ShownAsset;

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [mara, other] = await library.joinAll('mara', 'other');
const hash = (await upload(mara, await jpeg(80, 60))).file_hash ?? '';
await library.runJobs();

beforeEach(async () => {
  asset = await add();
});

const add = (title = 'Ridge') =>
  mara.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public', title } });
const rowOf = (id: string) =>
  library.deps.db.selectFrom('assets').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const remove = (id: string, as: Visitor = mara) => as.ok('deleteAsset', { params: { id }, body: undefined });
const restore = (id: string, as: Visitor = mara) => as.ok('restoreAsset', { params: { id } });

describe('DELETE /assets/{id}', () => {
  // ASSET-13, ASSET-24
  test('moves the asset to the trash with actor, time and reason, and returns 204', async () => {
    for (const [body, reason] of [
      [{ reason: 'twice there' }, 'twice there'],
      [{ reason: 'ß'.repeat(500) }, 'ß'.repeat(500)],
      [{ reason: '' }, ''],
      [{ reason: null }, null],
      [{}, null],
      [undefined, null],
    ] as const) {
      const { id } = await add();
      const before = Date.now();
      const answer = await mara.send(`/assets/${id}`, { method: 'DELETE', body });
      expect([answer.status, answer.text]).toEqual([204, '']);
      const row = await rowOf(id);
      expect(row).toMatchObject({ deleted_reason: reason, deleted_by_user_ref: mara.ref, title: 'Ridge' });
      expect(Math.abs(Date.parse(row.deleted_at ?? '') - before)).toBeLessThan(60_000);
      expect(await auditEvents(library, { target_id: id })).toMatchObject([
        { event: 'asset.deleted', actor_user_ref: mara.ref, target_kind: 'asset', metadata: { reason } },
      ]);
    }
  });

  // ASSET-24, TRASH-1
  test('makes the asset like one that never existed at every operation, for every caller', async () => {
    const ordinary = await add('Ordinary');
    await remove(asset.id);
    const never = crypto.randomUUID();
    const doors: [string, string, object?][] = [
      ['GET', '/assets/ID'],
      ['GET', '/assets/ID/file'],
      ['GET', '/assets/ID/variants/col'],
      ['GET', '/assets/ID/posts'],
      ['PATCH', '/assets/ID', { title: 'x' }],
      ['DELETE', '/assets/ID', {}],
      ['POST', '/assets/ID/reprocess'],
      ['POST', '/assets/ID/request-access', {}],
      ['POST', '/posts', { members: [{ asset_id: 'ID' }] }],
      ['POST', '/posts', { members: [{ asset_id: ordinary.id }], cover_thumbnail_asset_id: 'ID' }],
    ];
    for (const visitor of [mara, other, root]) {
      for (const [method, path, body] of doors) {
        const [gone, missing] = await Promise.all(
          [asset.id, never].map(async (id) => {
            const text = body === undefined ? {} : { body: JSON.stringify(body).replace('"ID"', `"${id}"`) };
            const answer = await visitor.send(path.replace('ID', id), { method, ...text });
            return [method, path, answer.status, answer.text.replaceAll(id, 'ID')];
          }),
        );
        expect(gone).toEqual([method, path, 404, missing?.[3]]);
      }
      expect(await visitor.ok('listPostsByAsset', { params: { id: asset.id } })).toEqual([]);
      const { items } = await visitor.ok('listAssets', { query: { limit: 200 } });
      expect(items.map((item) => item.id)).not.toContain(asset.id);
    }
  });

  // TRASH-1
  test('succeeds for one of ten concurrent requests, and returns 404 to the others', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? mara : root).status('DELETE', `/assets/${asset.id}`, { reason: `${n}` }),
      ),
    );
    const winner = statuses.indexOf(204);
    expect(statuses).toEqual(statuses.map((_, n) => (n === winner ? 204 : 404)));
    expect(await rowOf(asset.id)).toMatchObject({ deleted_reason: `${winner}` });
    expect(await auditEvents(library, { target_id: asset.id })).toHaveLength(1);
  });
});

describe('an avatar', () => {
  const wear = () =>
    mara.ok('updateUser', { params: { ref: mara.ref }, body: { avatar_asset_id: asset.id } });
  const avatar = async () => (await other.ok('getUser', { params: { ref: mara.ref } })).avatar_url;

  // IDENTITY-7
  test('is removed when its asset is deleted, and does not return with the asset', async () => {
    await wear();
    const twin = await add();
    await remove(twin.id);
    expect(await avatar()).toContain(asset.id);
    await remove(asset.id, root);
    expect(await avatar()).toBeNull();
    await restore(asset.id, root);
    expect(await avatar()).toBeNull();
  });

  test('is never a deleted asset, even if chosen and deleted concurrently', async () => {
    const held: { chosen: Promise<unknown> } = { chosen: Promise.resolve() };
    await library.deps.db.transaction().execute(async (tx) => {
      await sql`select from users where ref = ${mara.ref} for update`.execute(tx);
      // The choice has been checked and waits to be written.
      held.chosen = mara.status('PATCH', `/users/${mara.ref}`, { avatar_asset_id: asset.id });
      expect(await comeToWait(library.deps.db)).toBe(true);
      await Promise.race([mara.status('DELETE', `/assets/${asset.id}`), sleep(300)]);
    });
    await held.chosen;
    await expect.poll(async () => (await rowOf(asset.id)).deleted_at).not.toBeNull();
    expect((await avatar()) ?? '').not.toContain(asset.id);
  });
});

describe('posts omit a deleted member, and show it at its old position after a restore', () => {
  let three: ShownAsset[];
  let post: Post;

  beforeEach(async () => {
    three = [await add('one'), await add('two'), await add('three')];
    post = await mara.ok('createPost', {
      body: {
        visibility: 'public',
        members: three.map(({ id }, at) => ({ asset_id: id, sort_order: (at + 1) * 10 })),
        cover_asset_id: three[1]?.id ?? null,
        cover_focal_x: 0.25,
        cover_focal_y: 0.75,
      },
    });
  });

  const inFeed = async (visitor: Visitor) =>
    (await visitor.ok('listPosts', { query: { limit: 200 } })).items.find(({ id }) => id === post.id);
  const shown = async (visitor: Visitor) => {
    const single = await visitor.ok('getPost', { params: { id: post.id } });
    expect((await inFeed(visitor))?.members).toEqual(single.members);
    return [
      single.members.map((member) => `${member.sort_order} ${!member.restricted && member.asset.title}`),
      three.find(({ id }) => id === single.cover_asset_id)?.title,
      single.cover_focal_x,
      single.cover_focal_y,
    ];
  };

  // POST-20
  test('for every caller, including cover and focal point', async () => {
    const whole = [['10 one', '20 two', '30 three'], 'two', 0.25, 0.75];
    for (const visitor of [mara, other]) expect(await shown(visitor)).toEqual(whole);
    await remove(three[1]?.id ?? '');
    // The focal point belongs to the deleted picture.
    const left = [['10 one', '30 three'], 'one', null, null];
    for (const visitor of [mara, other, root]) expect(await shown(visitor)).toEqual(left);
    await restore(three[1]?.id ?? '');
    for (const visitor of [mara, other]) expect(await shown(visitor)).toEqual(whole);
  });

  test('a post without live members is listed only for its author until one is restored', async () => {
    for (const { id } of three) await remove(id);
    for (const visitor of [mara, other])
      expect(await visitor.ok('getPost', { params: { id: post.id } })).toMatchObject({
        members: [],
        cover_asset_id: null,
        cover_focal_x: null,
        cover_focal_y: null,
        ai_provenance: null,
      });
    const listed = () =>
      Promise.all([mara, other, root].map(async (who) => (await inFeed(who)) !== undefined));
    expect(await listed()).toEqual([true, false, false]);
    await restore(three[2]?.id ?? '');
    expect(await listed()).toEqual([true, true, true]);
    expect(await shown(other)).toEqual([['30 three'], 'three', null, null]);
  });

  test('a post created while its asset is being deleted has the member or is refused', async () => {
    for (let round = 0; round < 4; round += 1) {
      const picture = await add(`round ${round}`);
      const [made] = await Promise.all([
        other.send('/posts', { method: 'POST', body: { members: [{ asset_id: picture.id }] } }),
        remove(picture.id),
      ]);
      expect([201, 404]).toContain(made.status);
      if (made.status === 404) continue;
      const { id }: { id: string } = JSON.parse(made.text);
      const members = async () => (await other.ok('getPost', { params: { id } })).members;
      expect(await members()).toEqual([]);
      await restore(picture.id);
      expect(await members()).toMatchObject([{ asset_id: picture.id }]);
    }
  });
});
