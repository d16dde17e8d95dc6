import { describe, expect, test } from 'vitest';
import { openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';
import { everyPost } from './people.ts';

const library = await openLibrary();
const [mara, other] = await library.joinAll('mara', 'other');
const one = await upload(mara, plainFile());
const two = await upload(mara, plainFile());

const member = ({ id }: { id: string }, sort_order?: number) =>
  sort_order === undefined ? { asset_id: id } : { asset_id: id, sort_order };

// POST-15
describe('POST /posts', () => {
  // POST-1
  test('has every field, and its defaults', async () => {
    const post = await publish(mara, [one, two]);
    expect(post).toMatchObject({
      author_user_ref: mara.ref,
      author: { ref: mara.ref, username: 'mara', display_name: 'mara', avatar_url: null },
      title: '',
      description: '',
      visibility: 'org-only',
      cover_asset_id: one.id,
      cover_thumbnail_asset_id: null,
      cover_focal_x: null,
      cover_focal_y: null,
      draft: false,
      comments_enabled: true,
      ai_provenance: null,
      like_count: 0,
      liked: false,
      comment_count: 0,
      tags: [],
    });
    expect(post).not.toHaveProperty('comments_preview');
    expect(post).not.toHaveProperty('team_id');
    expect(post.members.map(({ asset_id, sort_order }) => [asset_id, sort_order])).toEqual([
      [one.id, 0],
      [two.id, 1],
    ]);
    expect(await mara.ok('getPost', { params: { id: post.id } })).toEqual(post);
  });

  // POST-18, POST-35
  test('has the requested order of members, cover, tags and team', async () => {
    const body = {
      members: [member(one, 5), member(two, 2)],
      cover_asset_id: one.id,
      cover_focal_x: 0.25,
      cover_focal_y: 1,
      tags: ['a', 'b', 'a'],
      team_id: await addTeam(library, 'mine', [mara]),
    };
    const { members, ...post } = await mara.ok('createPost', { body });
    expect(members.map(({ asset_id }) => asset_id)).toEqual([two.id, one.id]);
    const { members: _, ...given } = body;
    expect(post).toMatchObject({ ...given, tags: ['a', 'b'] });
  });

  test('belongs to the account of the token, or to the impersonated account', async () => {
    const root = await library.join('root', 'admin');
    for (const who of [await bearer(library, mara, ['posts.write']), await actAs(library, root, mara)])
      expect(await publish(who, [one])).toMatchObject({ author_user_ref: mara.ref });
  });

  // POST-16
  test('is 400 for members, covers and focal points that contradict each other, and creates nothing', async () => {
    const bodies: Record<string, object> = {
      'a member twice': { members: [member(one), member(one)] },
      'a member twice in another case': { members: [member(one), { asset_id: one.id.toUpperCase() }] },
      'a cover that is no member': { cover_asset_id: two.id },
      'only the first coordinate': { cover_focal_x: 0.5 },
      'only the second coordinate': { cover_focal_y: 0.5 },
      'a coordinate beside null': { cover_focal_x: 0.5, cover_focal_y: null },
      'comments_enabled as null': { comments_enabled: null },
    };
    const before = await everyPost(mara);
    for (const [name, body] of Object.entries(bodies)) {
      const status = await mara.status('POST', '/posts', { members: [member(one)], ...body });
      expect([name, status]).toEqual([name, 400]);
    }
    expect(await everyPost(mara)).toEqual(before);
  });

  // POST-17, POST-35
  test('may use public assets of others; is 404 for an asset or team that the author may not use', async () => {
    const add = (fields: Record<string, string>) => upload(other, plainFile(), fields);
    const lent = await add({});
    await publish(mara, [lent]);
    const [draft, restricted] = [await add({ status: 'draft' }), await add({ sensitivity: 'restricted' })];
    for (const asset of [draft, restricted, { id: nowhere }]) {
      const refused = { status: 404, error: `asset ${asset.id} not found` };
      const members = [member(lent), member(asset)];
      expect(await mara.refused('createPost', { body: { members } })).toEqual(refused);
      const body = { members: [member(lent)], cover_thumbnail_asset_id: asset.id };
      expect(await mara.refused('createPost', { body })).toEqual(refused);
    }
    for (const team_id of [nowhere, await addTeam(library, 'theirs', [other])]) {
      const refused = await mara.refused('createPost', { body: { members: [member(one)], team_id } });
      expect(refused).toEqual({ status: 404, error: 'team not found' });
    }
  });

  // POST-15
  test('needs posts.create, and posts.publish unless it is a draft', async () => {
    const viewer = await library.join('viewer', 'viewer');
    const body = { members: [member(one)] };
    expect((await viewer.refused('createPost', { body })).status).toBe(403);
    await grant(library, viewer, 'posts.create');
    expect(await viewer.refused('createPost', { body })).toEqual({
      status: 403,
      error: 'missing capability posts.publish',
    });
    expect(await viewer.ok('createPost', { body: { ...body, draft: true } })).toMatchObject({ draft: true });
  });
});
