import { type Reach, type Visibility, visibilities, visibilityNames } from '@vitrine/contract/visibilities';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { formOf, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

/** The access matrix covers who is given an asset by the posts that use it; here the posts change. */

let asset: { id: string };

const addFile = (title: string, fields: Record<string, string> = {}) =>
  upload(owner, plainFile(title), { sensitivity: 'posts', title, ...fields });

/** Returns whether the caller sees the asset, and checks that the search agrees. */
async function finds(who: Visitor, { id }: { id: string }, title = 'Driftwood'): Promise<boolean> {
  const single = (await who.status('GET', `/assets/${id}`)) === 200;
  const { total } = await who.ok('search', { query: { q: title, kind: 'asset' } });
  expect(total).toBe(single ? 1 : 0);
  return single;
}

const exposures = ['public', 'org-only', 'narrow', 'none'] as const;
type Exposure = (typeof exposures)[number];
/** The exposure of an asset by a post whose visibility has this reach. */
const exposureByReach: Record<Reach, Exposure> = {
  visitors: 'public',
  accounts: 'org-only',
  some: 'narrow',
  none: 'narrow',
};
const exposureBy = (visibility: Visibility) => exposureByReach[visibilities[visibility].reach];

/** Returns the assets whose stored exposure differs from the exposure by definition. */
async function wrongExposures(): Promise<unknown[]> {
  const ranks = visibilityNames.map(
    (visibility) =>
      sql`when ${sql.lit(visibility)} then ${sql.lit(exposures.indexOf(exposureBy(visibility)) + 1)}`,
  );
  const due = sql`coalesce(min(case p.visibility ${sql.join(ranks, sql` `)} end), 4)`;
  const { rows } = await sql`select a.id, a.exposure, ${due} as due from assets a
      left join (select post_id, asset_id from post_members
        union select id, cover_thumbnail_asset_id from posts where cover_thumbnail_asset_id is not null) m on m.asset_id = a.id
      left join posts p on p.id = m.post_id and p.deleted_at is null and not p.draft
        and (p.author_user_ref = a.owner_user_ref or p.team_id = a.team_id)
    group by a.id
    having array_position(array[${sql.join(exposures)}], a.exposure) <> ${due}`.execute(db);
  return rows;
}

const library = await openLibrary();
const { db } = library.deps;
const [owner, colleague] = await library.joinAll('owner', 'colleague');
const [follower, stranger] = await library.joinAll('follower', 'stranger');
const root = await library.join('root', 'admin');
await follower.ok('followUser', { params: { ref: owner.ref } });
await library.setPublicMode(true);

beforeEach(async () => {
  await sql`delete from posts`.execute(db);
  await sql`delete from assets`.execute(db);
  asset = await addFile('Driftwood');
});

describe('an asset of sensitivity posts', () => {
  // ADMIN-4, ASSET-16
  test('is the default of uploads, unless the library has another default', async () => {
    const sensitivity = async () =>
      (await owner.ok('createAsset', { body: formOf(plainFile()) })).sensitivity;
    const setDefault = (default_sensitivity: 'org' | 'posts') =>
      root.ok('updateSite', { body: { default_sensitivity } });
    expect(await sensitivity()).toBe('posts');
    expect((await setDefault('org')).default_sensitivity).toBe('org');
    expect(await sensitivity()).toBe('org');
    await setDefault('posts');
  });

  // ASSET-3, ASSET-28
  test('follows its post through publishing, visibility, shares, members, trash and restore', async () => {
    const other = await addFile('Pebble');
    const now = async () => [
      await finds(follower, asset),
      await finds(stranger, asset),
      await finds(library.anonymous(), asset),
    ];
    const all = [true, true, true];
    const some = [true, true, false];
    const none = [false, false, false];
    expect([await finds(owner, asset), await finds(root, asset), await now()]).toEqual([true, true, none]);
    const post = await publish(owner, [asset], { draft: true, visibility: 'public' });
    const params = { id: post.id };
    const update = async (body: object) => {
      await owner.ok('updatePost', { params, body });
      return now();
    };
    expect(await now()).toEqual(none);
    await owner.ok('publishPost', { params, body: undefined });
    expect(await now()).toEqual(all);
    expect(await update({ visibility: 'private' })).toEqual(none);
    expect(await update({ visibility: 'followers' })).toEqual([true, false, false]);
    expect(await update({ visibility: 'explicit-share' })).toEqual(none);
    const share = { params: { ...params, user_ref: stranger.ref } };
    await owner.ok('putShare', share);
    expect(await now()).toEqual([false, true, false]);
    await owner.ok('deleteShare', share);
    expect(await now()).toEqual(none);
    expect(await update({ visibility: 'org-only' })).toEqual(some);
    expect(await update({ members: [{ asset_id: other.id }] })).toEqual(none);
    expect(await finds(stranger, other, 'Pebble')).toBe(true);
    expect(await update({ cover_thumbnail_asset_id: asset.id })).toEqual(some);
    expect(await update({ clear_cover_thumbnail: true })).toEqual(none);
    expect(await update({ members: [{ asset_id: asset.id }] })).toEqual(some);
    await owner.ok('unpublishPost', { params });
    expect(await now()).toEqual(none);
    await owner.ok('publishPost', { params, body: undefined });
    await owner.ok('deletePost', { params, body: undefined });
    expect(await now()).toEqual(none);
    expect(await wrongExposures()).toEqual([]);
    await owner.ok('restorePost', { params });
    expect(await now()).toEqual(some);
    expect(await wrongExposures()).toEqual([]);
    // ASSET-4: with sensitivity org, posts pass nothing on.
    await owner.ok('updateAsset', { params: { id: asset.id }, body: { sensitivity: 'org' } });
    expect(await update({ visibility: 'public' })).toEqual(some);
    await sql`delete from posts where id = ${post.id}`.execute(db);
    expect(await wrongExposures()).toEqual([]);
  });

  // ASSET-28. The database classifies visibilities by itself, as the registry in the contract does.
  test('is exposed by a post of each visibility as far as the visibility reaches', async () => {
    for (const visibility of visibilityNames) {
      const post = await publish(owner, [asset], { visibility });
      const stored = () => db.selectFrom('assets').select('exposure').where('id', '=', asset.id).execute();
      expect([visibility, await stored()]).toEqual([visibility, [{ exposure: exposureBy(visibility) }]]);
      await owner.ok('deletePost', { params: { id: post.id }, body: undefined });
      expect([visibility, await stored()]).toEqual([visibility, [{ exposure: 'none' }]]);
    }
  });

  // ASSET-3
  test('is not exposed by a post of another account', async () => {
    await publish(owner, [asset], { visibility: 'followers' });
    const taken = await publish(follower, [asset], { visibility: 'public' });
    expect(await finds(stranger, asset)).toBe(false);
    const seen = await stranger.ok('getPost', { params: { id: taken.id } });
    expect(seen.members).toMatchObject([{ restricted: true }]);
  });

  // ASSET-3
  test('of a team is found by team members, and by readers of the team’s posts', async () => {
    const team = await addTeam(library, 'sculptors', [owner, colleague]);
    const ofTeam = await addFile('Statue', { team_id: team });
    const now = async () => [
      await finds(colleague, ofTeam, 'Statue'),
      await finds(stranger, ofTeam, 'Statue'),
    ];
    expect(await now()).toEqual([true, false]);
    await publish(colleague, [ofTeam], { visibility: 'org-only' });
    expect(await now()).toEqual([true, false]);
    await publish(colleague, [ofTeam], { visibility: 'org-only', team_id: team });
    expect(await now()).toEqual([true, true]);
  });
});

// ASSET-28
test('concurrent changes to the posts of an asset leave it the audience of the widest post', async () => {
  for (let round = 0; round < 2; round += 1) {
    const posts = await Promise.all(
      (['public', 'org-only', 'followers', 'private'] as const).map((visibility) =>
        publish(owner, [asset], { visibility, draft: true }),
      ),
    );
    await Promise.all(posts.map(({ id }) => owner.ok('publishPost', { params: { id }, body: undefined })));
    expect(await wrongExposures()).toEqual([]);
    await Promise.all([
      ...posts.slice(0, 2).map(({ id }) => owner.ok('deletePost', { params: { id }, body: undefined })),
      owner.ok('updatePost', { params: { id: posts[2]?.id ?? '' }, body: { visibility: 'org-only' } }),
    ]);
    expect(await wrongExposures()).toEqual([]);
    await sql`delete from posts`.execute(db);
  }
});
