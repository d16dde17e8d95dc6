import { setTimeout as sleep } from 'node:timers/promises';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';

let library: Library;
let root: Account;
let mara: Account;
let other: Account;
let keeper: Account;
let hash: string;
let asset: ShownAsset;
/** An asset that every caller may read, for request bodies that need one. */
let ordinary: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  mara = await library.join('mara');
  other = await library.join('other');
  keeper = await library.join('keeper');
  await grant(library, keeper, 'assets.admin');
  const picture = await upload(mara, await jpeg(80, 60));
  await library.runJobs();
  if (picture.file_hash === null) throw new Error('no hash');
  hash = picture.file_hash;
  ordinary = await add('Ordinary');
});

beforeEach(async () => {
  asset = await add();
});

const add = (title = 'Ridge') =>
  mara.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public', title } });

const rowOf = (id: string) =>
  library.deps.db.selectFrom('assets').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const eventsOf = (id: string) =>
  library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref', 'impersonator_user_ref', 'target_kind', 'metadata'])
    .where('target_id', '=', id)
    .execute();

const remove = (id: string, body?: { reason?: string | null }, as: Visitor = mara) =>
  as.ok('deleteAsset', { params: { id }, body });
const restore = (id: string, as: Visitor = mara) => as.ok('restoreAsset', { params: { id } });

// ASSET-24
describe('DELETE /assets/{id}', () => {
  // ASSET-24
  test('moves the asset to the trash with actor, time and reason, and returns 204', async () => {
    const before = Date.now();
    const answer = await mara.send(`/assets/${asset.id}`, {
      method: 'DELETE',
      body: { reason: 'twice there' },
    });
    expect([answer.status, answer.text]).toEqual([204, '']);
    const row = await rowOf(asset.id);
    expect(row).toMatchObject({
      deleted_reason: 'twice there',
      deleted_by_user_ref: mara.ref,
      title: 'Ridge',
    });
    expect(Math.abs(Date.parse(row.deleted_at ?? '') - before)).toBeLessThan(10_000);
    expect(await eventsOf(asset.id)).toEqual([
      {
        event: 'asset.deleted',
        actor_user_ref: mara.ref,
        impersonator_user_ref: null,
        target_kind: 'asset',
        metadata: { reason: 'twice there' },
      },
    ]);
  });

  // ASSET-24
  test.each([
    ['no body at all', undefined, null],
    ['an empty object', {}, null],
    ['null', { reason: null }, null],
    ['an empty text', { reason: '' }, ''],
    ['500 characters', { reason: 'ß'.repeat(500) }, 'ß'.repeat(500)],
  ])('accepts %s as the reason', async (_, body, kept) => {
    expect((await mara.send(`/assets/${asset.id}`, { method: 'DELETE', body })).status).toBe(204);
    expect(await rowOf(asset.id)).toMatchObject({ deleted_reason: kept, deleted_by_user_ref: mara.ref });
  });

  // ASSET-24, TRASH-1
  test('makes the asset unavailable at every operation immediately, for every caller', async () => {
    const post = await publish(mara, [asset, await add('Stays')], { visibility: 'public' });
    await remove(asset.id);
    const { id } = asset;
    const missing = crypto.randomUUID();
    for (const visitor of [mara, other, keeper, root]) {
      const doors: [string, string, unknown?][] = [
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
      for (const [method, path, body] of doors) {
        const [gone, never] = await Promise.all(
          [id, missing].map(async (one) => {
            const text =
              body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace('"ID"', `"${one}"`));
            const answer = await visitor.send(path.replace('ID', one), { method, body: text });
            return { method, path, status: answer.status, text: answer.text.replaceAll(one, 'ID') };
          }),
        );
        expect(gone?.status).toBe(404);
        expect(gone).toEqual(never);
      }
      expect(await visitor.ok('listPostsByAsset', { params: { id } })).toEqual([]);
      const { items } = await visitor.ok('listAssets', { query: { limit: 200 } });
      expect(items.map((item) => item.id)).not.toContain(id);
    }
    expect((await other.ok('getPost', { params: { id: post.id } })).members).toHaveLength(1);
  });
});

describe('who may delete an asset', () => {
  // ASSET-13
  test('allows the owner, assets.admin everywhere or in its team, system.admin, and tokens that may write', async () => {
    const { db } = library.deps;
    const team = await db
      .insertInto('teams')
      .values({ slug: 't', name: 'T' })
      .returning('id')
      .executeTakeFirstOrThrow();
    const near = await library.join('near');
    await grant(library, near, 'assets.admin', team.id);
    const { token } = await mara.ok('createToken', { body: { name: 'script', scopes: ['assets.write'] } });
    const script = visit(library.address, { authorization: `Bearer ${token}` });
    for (const [visitor, ref] of [
      [mara, mara.ref],
      [keeper, keeper.ref],
      [root, root.ref],
      [near, near.ref],
      [script, mara.ref],
    ] as const) {
      const { id } = await add();
      await db.updateTable('assets').set({ team_id: team.id }).where('id', '=', id).execute();
      await remove(id, { reason: 'r' }, visitor);
      expect(await rowOf(id)).toMatchObject({ deleted_by_user_ref: ref });
    }
  });

  // ASSET-13
  test('refuses others with 401, 403 if they may read the asset, or else 404', async () => {
    const { token } = await mara.ok('createToken', {
      body: { name: 'script', scopes: ['read', 'posts.write'] },
    });
    const script = visit(library.address, { authorization: `Bearer ${token}` });
    const editor = await library.join('editor');
    await grant(library, editor, 'posts.admin');
    await grant(library, editor, 'content.read.all');
    const refusals = async () =>
      Promise.all(
        [other, editor, script, library.anonymous()].map(
          async (visitor) => (await visitor.send(`/assets/${asset.id}`, { method: 'DELETE' })).status,
        ),
      );
    expect(await refusals()).toEqual([403, 403, 403, 401]);
    await library.setPublicMode(true);
    expect(await refusals()).toEqual([403, 403, 403, 401]);
    await library.setPublicMode(false);
    await mara.ok('updateAsset', { params: { id: asset.id }, body: { sensitivity: 'restricted' } });
    expect(await refusals()).toEqual([403, 403, 403, 401]);
    await mara.ok('updateAsset', { params: { id: asset.id }, body: { status: 'draft' } });
    expect(await refusals()).toEqual([404, 404, 403, 401]);
    expect(await rowOf(asset.id)).toMatchObject({ deleted_at: null, deleted_by_user_ref: null });
    expect(await eventsOf(asset.id)).toEqual([]);
  });

  test('records both accounts in the audit log when an impersonator deletes', async () => {
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: mara.ref }, body: undefined });
    await remove(asset.id, {}, mask);
    expect(await rowOf(asset.id)).toMatchObject({ deleted_by_user_ref: mara.ref });
    expect(await eventsOf(asset.id)).toMatchObject([
      {
        actor_user_ref: mara.ref,
        impersonator_user_ref: root.ref,
        metadata: { reason: null, impersonated_by: { ref: root.ref, username: 'root' } },
      },
    ]);
    await restore(asset.id);
  });

  // TRASH-1
  test('returns 404 for a second delete; one of ten concurrent deletes succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        [mara, keeper, root][n % 3]?.send(`/assets/${asset.id}`, {
          method: 'DELETE',
          body: { reason: `${n}` },
        }),
      ),
    );
    expect(answers.map((answer) => answer?.status).sort()).toEqual([204, ...Array(9).fill(404)]);
    const winner = answers.findIndex((answer) => answer?.status === 204);
    expect(await rowOf(asset.id)).toMatchObject({ deleted_reason: `${winner}` });
    expect(await eventsOf(asset.id)).toHaveLength(1);
    expect((await mara.refused('deleteAsset', { params: { id: asset.id }, body: undefined })).status).toBe(
      404,
    );
    expect((await mara.send('/assets/no-uuid', { method: 'DELETE' })).status).toBe(400);
  });
});

describe('an avatar', () => {
  const wear = (account: Account, id: string) =>
    account.ok('updateUser', { params: { ref: account.ref }, body: { avatar_asset_id: id } });
  const avatarOf = async (account: Account) =>
    (await other.ok('getUser', { params: { ref: account.ref } })).avatar_url;

  // IDENTITY-7
  test('is removed when its asset is deleted, and does not return with the asset', async () => {
    for (const deleter of [mara, keeper]) {
      const picture = await add();
      await wear(mara, picture.id);
      expect(await avatarOf(mara)).toContain(picture.id);
      await remove(picture.id, {}, deleter);
      expect(await avatarOf(mara)).toBeNull();
      await restore(picture.id, deleter);
      expect(await avatarOf(mara)).toBeNull();
    }
  });

  test('remains when another asset of the same bytes is deleted', async () => {
    const [worn, twin] = [await add(), await add()];
    await wear(mara, worn.id);
    await remove(twin.id);
    expect(await avatarOf(mara)).toContain(worn.id);
  });

  test('is never a deleted asset, even if chosen and deleted concurrently', async () => {
    const picture = await add();
    const held: { chosen: Promise<unknown> } = { chosen: Promise.resolve() };
    await library.deps.db.transaction().execute(async (tx) => {
      await sql`select from users where ref = ${mara.ref} for update`.execute(tx);
      // The choice has been checked and waits to be written.
      held.chosen = mara.send(`/users/${mara.ref}`, {
        method: 'PATCH',
        body: { avatar_asset_id: picture.id },
      });
      await sleep(100);
      const removal = mara.send(`/assets/${picture.id}`, { method: 'DELETE' });
      await Promise.race([removal, sleep(300)]);
    });
    await held.chosen;
    await expect.poll(async () => (await rowOf(picture.id)).deleted_at).not.toBeNull();
    const user = await library.deps.db
      .selectFrom('users')
      .select('avatar_asset_id')
      .where('ref', '=', mara.ref)
      .executeTakeFirstOrThrow();
    expect(user.avatar_asset_id).not.toBe(picture.id);
  });
});

// POST-20
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

  const shown = async (visitor: Visitor) => {
    const single = await visitor.ok('getPost', { params: { id: post.id } });
    const feed = await visitor.ok('listPosts', { query: { limit: 200 } });
    expect(feed.items.find(({ id }) => id === post.id)?.members).toEqual(single.members);
    return {
      members: single.members.map((member) => [
        member.restricted ? 'withheld' : member.asset.title,
        member.sort_order,
      ]),
      cover: three.findIndex(({ id }) => id === single.cover_asset_id),
      focal: [single.cover_focal_x, single.cover_focal_y],
    };
  };

  // POST-20
  test('for every caller, including cover and focal point', async () => {
    await library.setPublicMode(true);
    const everyone = [mara, other, keeper, root, library.anonymous()];
    const whole = {
      members: [
        ['one', 10],
        ['two', 20],
        ['three', 30],
      ],
      cover: 1,
      focal: [0.25, 0.75],
    };
    for (const visitor of everyone) expect(await shown(visitor)).toEqual(whole);
    await remove(three[1]?.id ?? '');
    for (const visitor of everyone) {
      // The focal point belongs to the deleted picture.
      expect(await shown(visitor)).toEqual({
        members: [
          ['one', 10],
          ['three', 30],
        ],
        cover: 0,
        focal: [null, null],
      });
    }
    await restore(three[1]?.id ?? '');
    for (const visitor of everyone) expect(await shown(visitor)).toEqual(whole);
    await library.setPublicMode(false);
  });

  test('a post without live members is listed only for its author until one is restored', async () => {
    const inFeed = async (visitor: Visitor) =>
      (await visitor.ok('listPosts', { query: { limit: 200 } })).items.some(({ id }) => id === post.id);
    for (const { id } of three) await remove(id);
    for (const visitor of [mara, other, root]) {
      expect(await visitor.ok('getPost', { params: { id: post.id } })).toMatchObject({
        members: [],
        cover_asset_id: null,
        cover_focal_x: null,
        cover_focal_y: null,
        ai_provenance: null,
      });
    }
    expect([await inFeed(mara), await inFeed(other), await inFeed(root)]).toEqual([true, false, false]);
    await restore(three[2]?.id ?? '');
    expect([await inFeed(mara), await inFeed(other), await inFeed(root)]).toEqual([true, true, true]);
    expect(await shown(other)).toMatchObject({ members: [['three', 30]], cover: 2 });
  });

  test('a post created while its asset is being deleted has the member or is refused', async () => {
    for (let round = 0; round < 6; round += 1) {
      const picture = await add(`round ${round}`);
      const [made] = await Promise.all([
        other.send('/posts', { method: 'POST', body: { members: [{ asset_id: picture.id }] } }),
        remove(picture.id),
      ]);
      expect([201, 404]).toContain(made.status);
      if (made.status === 404) continue;
      const { id }: { id: string } = JSON.parse(made.text);
      expect((await other.ok('getPost', { params: { id } })).members).toEqual([]);
      await restore(picture.id);
      expect((await other.ok('getPost', { params: { id } })).members).toMatchObject([
        { asset_id: picture.id },
      ]);
    }
  });
});
