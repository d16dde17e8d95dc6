import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';

let harbour: Install;
let studio: Install;
let peers: { peerOfOne: string; peerOfOther: string };

beforeAll(async () => {
  harbour = await openInstall('Harbour');
  studio = await openInstall('Studio');
  peers = await pair(harbour, studio);
});

const titles = async (account: Install['root']) =>
  (await account.ok('listPosts')).items.map(({ title }) => title).toSorted();

describe('a shared post of a team', () => {
  let team: string;
  let post: string;

  beforeAll(async () => {
    const created = await harbour.root.ok('createTeam', {
      body: { name: 'Lighting', slug: 'lighting', description: 'Everything about light' },
    });
    team = created.id;
    const asset = await upload(harbour.root, await jpeg(64, 48), { team_id: team, sensitivity: 'public' });
    await harbour.runJobs();
    await harbour.root.ok('setTeamHero', { params: { id: team }, body: { asset_id: asset.id } });
    const body = { title: 'Lamp', team_id: team, members: [{ asset_id: asset.id }] };
    post = (await harbour.root.ok('createPost', { body })).id;
  });

  const share = (body: { person?: string }) =>
    harbour.root.ok('putPostPeer', { params: { id: post, peer_id: peers.peerOfOne }, body });

  // FED-64
  test('names the team there, without its picture, to those who see the post', async () => {
    const bob = await studio.join('bob');
    const eve = await studio.join('eve');
    await share({ person: 'bob' });
    await settle(harbour, studio);
    expect((await studio.root.ok('listFederationRejections')).items).toEqual([]);
    const [shown] = (await bob.ok('listPosts')).items;
    const id = shown?.team_id ?? '';
    const seen = await bob.ok('getTeam', { params: { id } });
    expect(seen).toMatchObject({
      name: 'Lighting',
      slug: 'lighting',
      description: 'Everything about light',
      origin_server_id: peers.peerOfOther,
      origin: { display_name: 'Harbour', instance_url: harbour.address, author: null },
      parents: [],
    });
    expect(seen).not.toHaveProperty('hero_asset_id');
    expect((await bob.ok('listTeams')).items.map(({ name }) => name)).toEqual(['Lighting']);
    expect((await eve.ok('listTeams')).items).toEqual([]);
    expect(await eve.refused('getTeam', { params: { id } })).toMatchObject({ status: 404 });
  });

  // FED-64
  test('belongs to a team that cannot be changed, joined or used here', async () => {
    const [shown] = (await studio.root.ok('listPosts')).items;
    const id = shown?.team_id ?? '';
    const own = await studio.root.ok('createTeam', { body: { name: 'Own' } });
    const bob = (await studio.root.ok('listUsers')).items.find(({ username }) => username === 'bob');
    const ref = bob?.ref ?? 0;
    const mine = await upload(studio.root, await jpeg(32, 24));
    expect([
      await studio.root.refused('updateTeam', { params: { id }, body: { name: 'Ours' } }),
      await studio.root.refused('addTeamMember', { params: { id, user_ref: ref } }),
      await studio.root.refused('deleteTeam', { params: { id } }),
    ]).toMatchObject([{ status: 403 }, { status: 403 }, { status: 403 }]);
    expect([
      await studio.root.refused('addTeamParent', { params: { id, parent_id: own.id } }),
      await studio.root.refused('grantCapability', {
        params: { ref },
        body: { capability: 'posts.admin', team_id: id },
      }),
      await studio.root.refused('createPost', {
        body: { title: 'Ours', team_id: id, members: [{ asset_id: mine.id }] },
      }),
    ]).toMatchObject([{ status: 404 }, { status: 404 }, { status: 404 }]);
  });

  // FED-64
  test('shows the new name when the team is renamed, and leaves no team when it is withdrawn', async () => {
    await harbour.root.ok('updateTeam', { params: { id: team }, body: { name: 'Light' } });
    await settle(harbour, studio);
    expect((await studio.root.ok('listTeams')).items.map(({ name }) => name)).toContain('Light');
    await harbour.root.ok('deletePostPeer', { params: { id: post, peer_id: peers.peerOfOne } });
    await settle(harbour, studio);
    const { rows } = await sql<{
      left: number;
    }>`select (select count(*) from teams where origin_server_id is not null)
      + (select count(*) from federated_objects) as left`.execute(studio.database.db);
    expect(rows).toEqual([{ left: 0 }]);
  });
});

// FED-65
test('a share with a remote team is for its members, as long as they are members', async () => {
  const [ann, cid, dan] = [await studio.join('ann'), await studio.join('cid'), await studio.join('dan')];
  const editors = await studio.root.ok('createTeam', { body: { name: 'Editors', slug: 'editors' } });
  const params = { id: editors.id, user_ref: ann.ref };
  await studio.root.ok('addTeamMember', { params });
  const asset = await upload(harbour.root, await jpeg(64, 48), { sensitivity: 'posts' });
  const body = { title: 'Rushes', members: [{ asset_id: asset.id }] };
  const post = await harbour.root.ok('createPost', { body });
  const target = { id: post.id, peer_id: peers.peerOfOne };
  expect(
    await harbour.root.refused('putPostPeer', { params: target, body: { team: 'nobody' } }),
  ).toMatchObject({ status: 422 });
  expect(
    await harbour.root.refused('putPostPeer', { params: target, body: { team: 'editors', person: 'cid' } }),
  ).toMatchObject({ status: 400 });
  const shared = await harbour.root.ok('putPostPeer', { params: target, body: { team: 'editors' } });
  expect(shared.team).toEqual({ address: `${studio.address}/workspaces/${editors.id}`, name: 'Editors' });
  await harbour.root.ok('putPostPeer', { params: target, body: { person: 'cid' } });
  await settle(harbour, studio);
  expect((await studio.root.ok('listFederationRejections')).items).toEqual([]);
  expect(await titles(ann)).toEqual(['Rushes']);
  expect(await titles(cid)).toEqual(['Rushes']);
  expect(await titles(dan)).toEqual([]);
  const [mirrored] = (await ann.ok('listPosts')).items;
  const picture = mirrored?.members[0]?.asset_id ?? '';
  expect((await dan.send(`/assets/${picture}`)).status).toBe(404);
  expect((await ann.send(`/assets/${picture}`)).status).toBe(200);

  await studio.root.ok('addTeamMember', { params: { id: editors.id, user_ref: dan.ref } });
  expect(await titles(dan)).toEqual(['Rushes']);
  await ann.ok('removeTeamMember', { params });
  expect(await titles(ann)).toEqual([]);

  await harbour.root.ok('deletePostPeer', { params: target, query: { team: shared.team?.address ?? '' } });
  await settle(harbour, studio);
  expect(await titles(dan)).toEqual([]);
  expect(await titles(cid)).toEqual(['Rushes']);
});
