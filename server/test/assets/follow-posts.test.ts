import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addTeam, arrive, grant } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

let library: Library;
let owner: Account;
let colleague: Account;
let follower: Account;
let stranger: Account;
let root: Account;
let asset: { id: string };

const addFile = async (title: string, fields: Record<string, string> = {}) =>
  upload(owner, await jpeg(60, 40), { sensitivity: 'posts', title, ...fields });

/** Returns whether the caller sees the asset, and checks that list, search, suggestions and bytes agree. */
async function finds(who: Visitor, { id }: { id: string }, title = 'Driftwood'): Promise<boolean> {
  const single = (await who.send(`/assets/${id}`)).status === 200;
  const listed = (await who.ok('listAssets', { query: { limit: 200 } })).items.some((item) => item.id === id);
  const found = await who.ok('search', { query: { q: title, kind: 'asset' } });
  const bytes = (await who.send(`/assets/${id}/file`)).status === 200;
  const suggested = (await who.send(`/search/suggest?q=${title.slice(0, 6)}`)).text.includes(title);
  const seen = [listed, found.items.length > 0, found.total > 0, bytes, suggested];
  expect(seen).toEqual(seen.map(() => single));
  return single;
}

/** Returns the assets whose stored exposure differs from the exposure by definition. */
async function wrongExposures(): Promise<unknown[]> {
  const { rows } = await sql`
    select a.id, a.exposure, coalesce(min(case p.visibility when 'public' then 1 when 'org-only' then 2 else 3 end), 4) as due
    from assets a
      left join (select post_id, asset_id from post_members
        union select id, cover_thumbnail_asset_id from posts where cover_thumbnail_asset_id is not null) m on m.asset_id = a.id
      left join posts p on p.id = m.post_id and p.deleted_at is null and not p.draft
        and (p.author_user_ref = a.owner_user_ref or p.team_id = a.team_id)
    group by a.id
    having array_position(array['public', 'org-only', 'narrow', 'none'], a.exposure)
      <> coalesce(min(case p.visibility when 'public' then 1 when 'org-only' then 2 else 3 end), 4)`.execute(
    library.deps.db,
  );
  return rows;
}

beforeAll(async () => {
  library = await openLibrary();
  owner = await arrive(library, 'owner');
  colleague = await arrive(library, 'colleague');
  follower = await arrive(library, 'follower');
  stranger = await arrive(library, 'stranger');
  root = await arrive(library, 'root', 'admin');
  await follower.ok('followUser', { params: { ref: owner.ref } });
  await library.setPublicMode(true);
});

beforeEach(async () => {
  await sql`delete from posts`.execute(library.deps.db);
  await sql`delete from assets`.execute(library.deps.db);
  asset = await addFile('Driftwood');
  await library.runJobs();
});

// ASSET-3
describe('an asset of sensitivity posts', () => {
  // ASSET-3
  test('is found only by its owner and administrators until it is posted', async () => {
    expect(await finds(owner, asset)).toBe(true);
    expect(await finds(root, asset)).toBe(true);
    for (const who of [colleague, follower, stranger, library.anonymous()]) {
      expect(await finds(who, asset)).toBe(false);
    }
  });

  // ADMIN-4, ASSET-16
  test('is the default of uploads, unless the library has another default', async () => {
    const form = async () => {
      const body = new FormData();
      body.append('file', new Blob([await jpeg(20, 20)]), 'plain.jpg');
      return body;
    };
    expect(await owner.ok('createAsset', { body: await form() })).toMatchObject({ sensitivity: 'posts' });
    const site = await root.ok('updateSite', { body: { default_sensitivity: 'org' } });
    expect(site.default_sensitivity).toBe('org');
    expect(await owner.ok('createAsset', { body: await form() })).toMatchObject({ sensitivity: 'org' });
    await root.ok('updateSite', { body: { default_sensitivity: 'posts' } });
    const refused = await root.send('/admin/system/site', {
      method: 'PATCH',
      body: { default_sensitivity: 'team' },
    });
    expect(refused.status).toBe(400);
  });

  test.each([
    ['public', [true, true, true]],
    ['org-only', [true, true, false]],
    ['followers', [true, false, false]],
    ['private', [false, false, false]],
  ] as const)('in a post of visibility %s is found by the readers of that post', async (visibility, due) => {
    await publish(owner, [asset], { visibility });
    const seen = [];
    for (const who of [follower, stranger, library.anonymous()]) seen.push(await finds(who, asset));
    expect(seen).toEqual(due);
  });

  test('is found by accounts with a share of its post, until the share is revoked', async () => {
    const post = await publish(owner, [asset], { visibility: 'explicit-share' });
    expect(await finds(stranger, asset)).toBe(false);
    await owner.ok('putShare', { params: { id: post.id, user_ref: stranger.ref } });
    expect([await finds(stranger, asset), await finds(follower, asset)]).toEqual([true, false]);
    await owner.ok('deleteShare', { params: { id: post.id, user_ref: stranger.ref } });
    expect(await finds(stranger, asset)).toBe(false);
  });

  // ASSET-3, ASSET-28
  test('follows its post through publishing, visibility, members, trash and restore', async () => {
    const other = await addFile('Pebble');
    await library.runJobs();
    const post = await publish(owner, [asset], { draft: true });
    const params = { id: post.id };
    const now = () => finds(stranger, asset);
    expect(await now()).toBe(false);
    await owner.ok('publishPost', { params });
    expect(await now()).toBe(true);
    await owner.ok('updatePost', { params, body: { visibility: 'private' } });
    expect(await now()).toBe(false);
    await owner.ok('updatePost', { params, body: { visibility: 'org-only' } });
    expect(await now()).toBe(true);
    await owner.ok('updatePost', { params, body: { members: [{ asset_id: other.id }] } });
    expect([await now(), await finds(stranger, other, 'Pebble')]).toEqual([false, true]);
    await owner.ok('updatePost', { params, body: { cover_thumbnail_asset_id: asset.id } });
    expect(await now()).toBe(true);
    await owner.ok('updatePost', { params, body: { clear_cover_thumbnail: true } });
    expect(await now()).toBe(false);
    await owner.ok('updatePost', { params, body: { members: [{ asset_id: asset.id }] } });
    await owner.ok('unpublishPost', { params });
    expect(await now()).toBe(false);
    await owner.ok('publishPost', { params });
    await owner.ok('deletePost', { params, body: undefined });
    expect(await now()).toBe(false);
    await owner.ok('restorePost', { params });
    expect(await now()).toBe(true);
    await sql`delete from posts where id = ${post.id}`.execute(library.deps.db);
    expect(await now()).toBe(false);
    expect(await wrongExposures()).toEqual([]);
  });

  // ASSET-3
  test('is not exposed by a post of another account', async () => {
    await publish(owner, [asset], { visibility: 'followers' });
    const taken = await publish(follower, [asset], { visibility: 'public' });
    for (const who of [stranger, library.anonymous()]) {
      expect(await finds(who, asset)).toBe(false);
      const seen = await who.ok('getPost', { params: { id: taken.id } });
      expect(seen.members).toMatchObject([{ restricted: true }]);
    }
  });

  // ASSET-3
  test('of a team is found by team members, and by readers of the team’s posts', async () => {
    const team = await addTeam(library, 'sculptors', [owner, colleague]);
    const ofTeam = await addFile('Driftwood', { team_id: team });
    await sql`delete from assets where id = ${asset.id}`.execute(library.deps.db);
    await library.runJobs();
    expect([await finds(colleague, ofTeam), await finds(stranger, ofTeam)]).toEqual([true, false]);
    await publish(colleague, [ofTeam], { visibility: 'org-only' });
    expect(await finds(stranger, ofTeam)).toBe(false);
    await publish(colleague, [ofTeam], { visibility: 'org-only', team_id: team });
    expect(await finds(stranger, ofTeam)).toBe(true);
  });

  test('makes its tags visible to the same callers', async () => {
    const tagged = await addFile('Knot', { tags: 'knotwork' });
    await library.runJobs();
    const known = async (who: Visitor) => (await who.send('/tags/knotwork')).status === 200;
    expect([await known(stranger), await known(library.anonymous())]).toEqual([false, false]);
    const post = await publish(owner, [tagged], { visibility: 'org-only' });
    expect([await known(stranger), await known(library.anonymous())]).toEqual([true, false]);
    await owner.ok('updatePost', { params: { id: post.id }, body: { visibility: 'public' } });
    expect(await known(library.anonymous())).toBe(true);
  });
});

// ASSET-4
test('an asset of sensitivity org is served to signed-in callers only', async () => {
  await owner.ok('updateAsset', { params: { id: asset.id }, body: { sensitivity: 'org' } });
  await publish(owner, [asset], { visibility: 'public' });
  expect([await finds(stranger, asset), await finds(library.anonymous(), asset)]).toEqual([true, false]);
});

test('posts.admin finds the assets of every published post', async () => {
  const editor = await arrive(library, `editor${Date.now()}`);
  await grant(library, editor, 'posts.admin');
  expect(await finds(editor, asset)).toBe(false);
  await publish(owner, [asset], { visibility: 'private' });
  expect(await finds(editor, asset)).toBe(true);
});

// ASSET-28
test('concurrent changes to the posts of an asset leave it the audience of the widest post', async () => {
  for (let round = 0; round < 5; round += 1) {
    const posts = await Promise.all(
      (['public', 'org-only', 'followers', 'private'] as const).map((visibility) =>
        publish(owner, [asset], { visibility, draft: true }),
      ),
    );
    await Promise.all(posts.map(({ id }) => owner.ok('publishPost', { params: { id } })));
    expect(await wrongExposures()).toEqual([]);
    await Promise.all([
      ...posts.slice(0, 2).map(({ id }) => owner.ok('deletePost', { params: { id }, body: undefined })),
      owner.ok('updatePost', { params: { id: posts[2]?.id ?? '' }, body: { visibility: 'org-only' } }),
    ]);
    expect(await wrongExposures()).toEqual([]);
    await sql`delete from posts`.execute(library.deps.db);
  }
});
