import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { collect } from '../collections/shelves.ts';
import { mp3 } from '../media/tagged-files.ts';
import { type Visitor, visit } from '../support/client.ts';
import { password, publish, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';
import {
  countObjects,
  type Install,
  keepFederation,
  memberOf,
  openPair,
  postOf,
  rejectionsAt,
  rowsOf,
  settle,
  sharePost,
  titlesOf,
} from './installs.ts';

const { harbour, studio, peerOfOne, peerOfOther } = await openPair();
const [alice, bob] = [await harbour.join('alice'), await studio.join('bob')];

const target = (id: string) => ({ id, peer_id: peerOfOne });

/** Returns the only number of a row. */
const count = async (install: Install, query: RawBuilder<{ count: number }>) =>
  (await rowsOf(install, query))[0]?.count ?? Number.NaN;

describe('a post shared with a peer', () => {
  // FED-10, FED-11
  test('needs a pairing that both administrators have accepted', async () => {
    for (const [at, of] of [
      [harbour, studio],
      [studio, harbour],
    ] as const) {
      const [peer] = (await at.root.ok('listPeers')).items;
      const { fingerprint } = await of.root.ok('getFederation');
      const accepted = { state: 'connected', accepted_here: true, accepted_there: true };
      expect(peer).toMatchObject({ ...accepted, fingerprint, instance_url: of.address });
    }
  });

  // FED-20, TRANSFER-1
  test('has its new author there when the content of its author is transferred', async () => {
    const [former, heir] = [await harbour.join('former'), await harbour.join('heir')];
    const shared = await sharePost(former, peerOfOne, 'Handed over');
    await settle(harbour, studio);
    const authorThere = async () => {
      const { origin, members } = await postOf(bob, 'Handed over');
      const [member] = members;
      return [origin?.author, member?.restricted === false ? member.asset.origin?.author : null];
    };
    expect(await authorThere()).toEqual(['former', 'former']);
    await harbour.root.ok('transferUser', { params: { ref: former.ref }, body: { to: heir.ref } });
    await settle(harbour, studio);
    expect(await authorThere()).toEqual(['heir', 'heir']);
    // Also if the new author has shared it with the peer.
    const { root } = harbour;
    await heir.ok('deletePostPeer', { params: target(shared.id) });
    await root.ok('putPostPeer', { params: target(shared.id), body: { scope: 'view' } });
    await settle(harbour, studio);
    await root.ok('transferUser', { params: { ref: heir.ref }, body: { to: root.ref } });
    await settle(harbour, studio);
    expect(await authorThere()).toEqual(['root', 'root']);
    await root.ok('deletePostPeer', { params: target(shared.id) });
    await settle(harbour, studio);
  });

  // FED-20, FED-33
  test('leaves nothing there when its author’s account is deleted right after ending the share', async () => {
    const leaver = await harbour.join('leaver');
    const title = 'Last light';
    const post = await publish(leaver, [await upload(leaver, plainFile())], { title });
    const params = target(post.id);
    await leaver.ok('putPostPeer', { params, body: { scope: 'view' } });
    await settle(harbour, studio);
    expect(await titlesOf(studio.root)).toContain(title);
    await leaver.ok('deletePostPeer', { params });
    await harbour.root.ok('deleteUser', { params: { ref: leaver.ref } });
    await settle(harbour, studio);
    expect(await titlesOf(studio.root)).not.toContain(title);
  });

  // FED-20, FED-30, FED-31, FED-32, FED-33, FED-34, FED-40, FED-41, FED-42
  test('appears there with its pictures, takes comments and likes from both sides, and leaves nothing when it is revoked', async () => {
    const title = 'Morning at the quay';
    const asset = await upload(alice, await jpeg(640, 480), { title: 'Quay', sensitivity: 'posts' });
    await harbour.runJobs();
    const post = await publish(alice, [asset], { title, tags: ['harbour'] });
    const params = target(post.id);
    const share = await alice.ok('putPostPeer', { params, body: { scope: 'comment' } });
    expect(share).toMatchObject({ person: null, scope: 'comment', delivered: false });
    expect(await titlesOf(studio.root)).toEqual([]);
    await settle(harbour, studio);

    const mirrored = await postOf(bob, title);
    const origin = { peer_id: peerOfOther, display_name: 'Harbour', instance_url: harbour.address };
    expect(mirrored).toMatchObject({
      tags: ['harbour'],
      visibility: 'org-only',
      comments_enabled: true,
      origin: { ...origin, author: 'alice' },
      members: [{ asset: { title: 'Quay', processing_status: 'ready', preview_available: true } }],
    });
    expect(mirrored).not.toHaveProperty('author');
    const { id } = mirrored;
    for (const file of ['variants/col', 'file'])
      expect(await bob.status('GET', `/assets/${mirrored.members[0]?.asset_id}/${file}`)).toBe(200);

    const mine = await bob.ok('createComment', { params: { id }, body: { body: 'Lovely light' } });
    await bob.ok('likePost', { params: { id } });
    await settle(studio, harbour);
    const counts = { comment_count: 1, like_count: 1 };
    expect(await alice.ok('getPost', { params: { id: post.id } })).toMatchObject(counts);
    const [arrived] = (await alice.ok('listComments', { params: { id: post.id } })).items;
    expect(arrived).toMatchObject({ body: 'Lovely light', remote_display_name: 'bob' });
    expect(arrived).not.toHaveProperty('author');
    const answer = { body: 'Thank you', parent_id: arrived?.id ?? null };
    await alice.ok('createComment', { params: { id: post.id }, body: answer });
    await settle(harbour, studio);
    const [thread] = (await bob.ok('listComments', { params: { id } })).items;
    const replies = [{ body: 'Thank you', remote_display_name: 'alice' }];
    expect(thread).toMatchObject({ id: mine.id, replies });
    expect([await rejectionsAt(harbour), await rejectionsAt(studio)]).toEqual([[], []]);

    await alice.ok('deletePostPeer', { params });
    await settle(harbour, studio);
    const left = sql<{ count: number }>`select (select count(*) from posts) + (select count(*) from assets)
      + (select count(*) from files) + (select count(*) from comments) + (select count(*) from federated_objects)
      + (select count(*) from federation_grants) as count`;
    expect([await count(studio, left), await countObjects(studio, '')]).toEqual([0, 0]);
  });

  // FED-34
  test('is distinguished from local posts in lists and searches', async () => {
    const title = 'Made at the harbour';
    const { id } = await sharePost(alice, peerOfOne, title);
    await settle(harbour, studio);
    const mirrored = await postOf(bob, title);
    const own = await publish(bob, [await upload(bob, plainFile('own'))], { title: 'Made in the studio' });
    const found = { here: [own.id], peers: [mirrored.id], [peerOfOther]: [mirrored.id], [own.id]: [] };
    for (const [origin, ids] of Object.entries(found)) {
      expect((await bob.ok('listPosts', { query: { origin } })).items.map((one) => one.id)).toEqual(ids);
      const hits = await bob.ok('search', { query: { kind: 'post', origin } });
      expect(hits.items.flatMap((hit) => (hit.kind === 'post' ? hit.post.id : []))).toEqual(ids);
      expect((await bob.ok('listAssets', { query: { origin } })).items).toHaveLength(ids.length);
      expect((await bob.ok('search', { query: { kind: 'asset', origin } })).items).toHaveLength(ids.length);
    }
    expect((await bob.ok('search', { query: { kind: 'user', origin: 'here' } })).items).toEqual([]);
    await alice.ok('deletePostPeer', { params: target(id) });
    await bob.ok('deletePost', { params: { id: own.id }, body: undefined });
  });

  // FED-71
  test('gets the previews that are made after it was shared, and keeps them when their sizes change here', async () => {
    const title = 'Not rendered yet';
    const asset = await upload(alice, await jpeg(640, 480, { seed: 9 }), { sensitivity: 'posts' });
    const post = await publish(alice, [asset], { title });
    const { db } = harbour.database;
    await sql`update graphile_worker._private_jobs set run_at = now() + interval '1 hour'`.execute(db);
    await alice.ok('putPostPeer', { params: target(post.id), body: {} });
    await settle(harbour, studio);
    const waiting = { preview_available: false, pixel_width: null };
    expect(await postOf(bob, title)).toMatchObject({ members: [{ asset: waiting }] });
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
    await settle(harbour, studio);
    const made = { processing_status: 'ready', preview_available: true, pixel_width: 640 };
    expect(await postOf(bob, title)).toMatchObject({ members: [{ asset: made }] });

    const renditions = sql`select f.hash, f.renditions, array_agg(a.processing_status) as states
      from files f join assets a on a.file_hash = f.hash where f.origin_peer_id is not null
      group by f.hash order by f.hash`;
    const before = await rowsOf(studio, renditions);
    expect(before).not.toEqual([]);
    const { variants } = await studio.root.ok('getPreviewSettings');
    const changed = variants.map((variant) => ({ ...variant, quality: variant.quality - 1 }));
    await studio.root.ok('setPreviewSettings', { body: { variants: changed } });
    await settle(studio);
    expect((await studio.root.ok('getPreviewSettings')).rendering.waiting).toBe(0);
    // Nor is it searched for metadata: only the studio's own file is.
    await studio.root.ok('startBackfill', { body: {} });
    await settle(studio);
    expect(await studio.root.ok('getExtraction')).toMatchObject({ state: 'finished', total: 1, failed: 0 });
    expect(await rowsOf(studio, renditions)).toEqual(before);
    await alice.ok('deletePostPeer', { params: target(post.id) });
    await settle(harbour, studio);
  });
});

// FED-30
test('a post and a file from the future are dated by their arrival', async () => {
  const title = 'From next year';
  const { id } = await sharePost(alice, peerOfOne, title);
  const { db } = harbour.database;
  const later = sql`now() + interval '1 year'`;
  await sql`update posts set posted_at = ${later}, published_at = ${later} where id = ${id}`.execute(db);
  await sql`update assets set created_at = ${later} where title = ${title}`.execute(db);
  await settle(harbour, studio);
  const dates = sql<{ past: boolean }>`select p.posted_at <= now() and a.created_at <= now() as past
    from posts p join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id where p.title = ${title}`;
  expect(await rowsOf(studio, dates)).toEqual([{ past: true }]);
  await alice.ok('deletePostPeer', { params: target(id) });
  await settle(harbour, studio);
});

// MEDIA-6
test('a file whose processing failed is not given to a peer', async () => {
  const asset = await upload(alice, plainFile('damaged'), { title: 'Damaged', sensitivity: 'org' });
  await alice.ok('putAssetPeer', { params: target(asset.id), body: {} });
  await settle(harbour, studio);
  const titles = async () =>
    (await bob.ok('listAssets')).items.map((one) => (one.restricted ? null : one.title));
  expect(await titles()).toContain('Damaged');
  const { db } = harbour.database;
  await sql`update assets set processing_status = 'failed' where id = ${asset.id}`.execute(db);
  await alice.ok('updateAsset', { params: { id: asset.id }, body: { title: 'Damaged again' } });
  await settle(harbour, studio);
  expect((await titles()).join()).not.toContain('Damaged');
  await alice.ok('deleteAssetPeer', { params: target(asset.id) });
  await settle(harbour, studio);
});

// FED-64
describe('a shared post of a team', () => {
  const lighting = { name: 'Lighting', slug: 'lighting', description: 'Everything about light' };
  let team: string;
  let post: string;

  beforeAll(async () => {
    team = (await harbour.root.ok('createTeam', { body: lighting })).id;
    const picture = await upload(harbour.root, await jpeg(64, 48), { team_id: team });
    await harbour.runJobs();
    await harbour.root.ok('setTeamHero', { params: { id: team }, body: { asset_id: picture.id } });
    post = (await publish(harbour.root, [picture], { title: 'Lamp', team_id: team })).id;
    await harbour.root.ok('putPostPeer', { params: target(post), body: { person: 'bob' } });
    await settle(harbour, studio);
  });

  const mirrorOf = async () => (await postOf(bob, 'Lamp')).team_id ?? '';
  const teamsOf = async (account: Visitor) => (await account.ok('listTeams')).items.map(({ name }) => name);

  test('names the team there, without its picture, to those who see the post', async () => {
    const id = await mirrorOf();
    const seen = await bob.ok('getTeam', { params: { id } });
    expect(seen).toMatchObject({
      ...lighting,
      origin_server_id: peerOfOther,
      origin: { display_name: 'Harbour', instance_url: harbour.address, author: null },
      parents: [],
    });
    expect(seen).not.toHaveProperty('hero_asset_id');
    expect(await teamsOf(bob)).toEqual(['Lighting']);
    const eve = await studio.join('eve');
    expect(await teamsOf(eve)).toEqual([]);
    expect(await eve.status('GET', `/teams/${id}`)).toBe(404);
  });

  test('belongs to a team that cannot be changed, joined or used here', async () => {
    const id = await mirrorOf();
    const own = await addTeam(studio, 'own');
    const mine = await upload(studio.root, plainFile('mine'));
    const { ref } = bob;
    for (const [method, path, body, status] of [
      ['PATCH', `/teams/${id}`, { name: 'Ours' }, 403],
      ['PUT', `/teams/${id}/members/${ref}`, undefined, 403],
      ['DELETE', `/teams/${id}`, undefined, 403],
      ['PUT', `/teams/${id}/parents/${own}`, undefined, 404],
      ['POST', `/admin/users/${ref}/grants`, { capability: 'posts.admin', team_id: id }, 404],
      ['POST', '/posts', { title: 'Ours', team_id: id, members: [{ asset_id: mine.id }] }, 404],
    ] as const)
      expect([path, await studio.root.status(method, path, body)]).toEqual([path, status]);
  });

  test('shows the new name when the team is renamed, and leaves no team when it is withdrawn', async () => {
    await harbour.root.ok('updateTeam', { params: { id: team }, body: { name: 'Light' } });
    await settle(harbour, studio);
    expect(await teamsOf(bob)).toContain('Light');
    await harbour.root.ok('deletePostPeer', { params: target(post) });
    await settle(harbour, studio);
    const left = sql<{ count: number }>`select (select count(*) from teams where origin_server_id is not null)
      + (select count(*) from federated_objects) as count`;
    expect(await count(studio, left)).toBe(0);
  });
});

/** Invites a person to a team. */
async function invite({ root }: Install, team: string) {
  const { url } = await root.ok('createInvitation', { body: { team_ids: [team] } });
  return { token: url.split('/').at(-1) ?? '' };
}

// FED-65
test('a share with a remote team is for its members, as long as they are members', async () => {
  const [ann, cid, dan] = [await studio.join('ann'), await studio.join('cid'), await studio.join('dan')];
  const editors = await addTeam(studio, 'editors', [ann]);
  const asset = await upload(alice, plainFile('rushes'), { sensitivity: 'posts' });
  const params = target((await publish(alice, [asset], { title: 'Rushes' })).id);
  const refused = [
    await alice.refused('putPostPeer', { params, body: { team: 'nobody' } }),
    await alice.refused('putPostPeer', { params, body: { team: 'editors', person: 'cid' } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([422, 400]);
  const { team } = await alice.ok('putPostPeer', { params, body: { team: 'Editors' } });
  expect(team).toEqual({ address: `${studio.address}/workspaces/${editors}`, name: 'editors' });
  await alice.ok('putPostPeer', { params, body: { person: 'cid' } });
  await settle(harbour, studio);
  const readers = async () =>
    (await Promise.all([ann, cid, dan].map(titlesOf))).map((titles) => titles.length);
  expect(await readers()).toEqual([1, 1, 0]);
  const picture = `/assets/${await memberOf(ann, 'Rushes')}`;
  expect([await ann.status('GET', picture), await dan.status('GET', picture)]).toEqual([200, 404]);

  await studio.root.ok('addTeamMember', { params: { id: editors, user_ref: dan.ref } });
  await ann.ok('removeTeamMember', { params: { id: editors, user_ref: ann.ref } });
  expect(await readers()).toEqual([0, 1, 1]);
  const { token } = await invite(studio, editors);
  const invited = visit(studio.address);
  await invited.ok('acceptInvitation', { params: { token }, body: { username: 'eli', password } });
  expect(await titlesOf(invited)).toEqual(['Rushes']);
  await alice.ok('deletePostPeer', { params, query: { team: team?.address ?? '' } });
  await settle(harbour, studio);
  expect(await readers()).toEqual([0, 1, 0]);
  expect(await rejectionsAt(studio)).toEqual([]);
});

// FED-66
test('subtitles go along with a shared recording, follow its changes, come from the peer only, and go with it', async () => {
  const srt = (text: string) => `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`;
  const put = async (account: Visitor, id: string, lang: string, text: string) => {
    const body = new FormData();
    body.append('label', lang);
    body.append('file', new Blob([srt(text)]), 'subtitles.srt');
    await account.ok('putSubtitles', { params: { id, lang }, body });
  };
  const textAt = async (account: Visitor, id: string, lang: string) => {
    const { status, text } = await account.send(`/assets/${id}/subtitles/${lang}`);
    return { status, text };
  };
  const stored = async (install: Install, id: string) => {
    const columns = install.database.db.selectFrom('subtitles').select(['file_hash', 'size_bytes']);
    return columns.where('asset_id', '=', id).executeTakeFirst();
  };
  const recording = await upload(alice, Uint8Array.from(mp3(40, {})), { sensitivity: 'posts' });
  await put(alice, recording.id, 'en', 'The light is lovely.');
  const params = target((await publish(alice, [recording], { title: 'Take' })).id);
  await alice.ok('putPostPeer', { params, body: {} });
  await settle(harbour, studio);
  const mirror = await memberOf(bob, 'Take');
  const tracks = async () => {
    const asset = await bob.ok('getAsset', { params: { id: mirror } });
    return asset.restricted ? [] : asset.subtitle_tracks;
  };
  expect(await tracks()).toMatchObject([{ lang: 'en', label: 'en', source_format: 'srt', confidence: 1 }]);
  const there = await textAt(bob, mirror, 'en');
  expect(there).toEqual(await textAt(alice, recording.id, 'en'));
  expect(there.text).toContain('The light is lovely.');
  const hash = createHash('sha256').update(there.text).digest('hex');
  expect((await stored(harbour, recording.id))?.file_hash).toBe(hash);

  await put(alice, recording.id, 'de', 'Das Licht ist schön.');
  await alice.ok('deleteSubtitles', { params: { id: recording.id, lang: 'en' } });
  await settle(harbour, studio);
  expect((await tracks()).map(({ lang }) => lang)).toEqual(['de']);
  expect((await textAt(bob, mirror, 'de')).text).toContain('Das Licht');
  expect((await textAt(bob, mirror, 'en')).status).toBe(404);

  // The peer names the hash of a private file of the receiver, which it does not have.
  const own = await upload(studio.root, Uint8Array.from(mp3(50, {})), { sensitivity: 'restricted' });
  await put(studio.root, own.id, 'en', 'Nobody else may read this.');
  const known = await stored(studio, own.id);
  await sql`update subtitles set file_hash = ${known?.file_hash}, size_bytes = ${known?.size_bytes}
    where asset_id = ${recording.id}`.execute(harbour.database.db);
  await alice.ok('updateAsset', { params: { id: recording.id }, body: { title: 'Take 2' } });
  await settle(harbour, studio).catch(() => undefined);
  expect((await textAt(bob, mirror, 'de')).text).not.toContain('Nobody else');

  await alice.ok('deletePostPeer', { params });
  const { db } = studio.database;
  await sql`delete from graphile_worker._private_jobs where task_id = (
    select id from graphile_worker._private_tasks where identifier = 'fetch-subtitles')`.execute(db);
  await settle(harbour, studio);
  const left = sql<{ count: number }>`select (select count(*) from subtitles s
      join assets a on a.id = s.asset_id where a.origin_peer_id is not null)
    + (select count(*) from federated_subtitles) as count`;
  expect([await count(studio, left), await countObjects(studio, 'subtitles')]).toEqual([0, 1]);
});

describe('a shared collection', () => {
  // FED-99
  test('lists posts that become visible later, and those that are restored', async () => {
    const names = ['Draft', 'Kept private', 'Visible'];
    const [draft, hidden, visible] = await Promise.all(
      names.map(async (title) => {
        const asset = await upload(alice, plainFile(title), { sensitivity: 'posts' });
        const made = await publish(alice, [asset], { title });
        return made.id;
      }),
    );
    if (draft === undefined || hidden === undefined || visible === undefined) throw new Error('no posts');
    await alice.ok('unpublishPost', { params: { id: draft } });
    await alice.ok('updatePost', { params: { id: hidden }, body: { visibility: 'private' } });
    const posts = [draft, hidden, visible].map((id) => ({ id }));
    const { id } = await collect(alice, 'Later', posts);
    await alice.ok('putCollectionPeer', { params: target(id), body: {} });
    await settle(harbour, studio);
    const mirror = (await bob.ok('listCollections')).items.find(({ name }) => name === 'Later');
    const listed = async () =>
      (await bob.ok('listCollectionPosts', { params: { id: mirror?.id ?? '' } })).items.map(
        ({ title }) => title,
      );
    expect(await listed()).toEqual(['Visible']);

    await alice.ok('publishPost', { params: { id: draft }, body: undefined });
    await settle(harbour, studio);
    expect(await listed()).toEqual(['Draft', 'Visible']);
    await alice.ok('updatePost', { params: { id: hidden }, body: { visibility: 'org-only' } });
    await settle(harbour, studio);
    expect(await listed()).toEqual(names);

    await alice.ok('deletePost', { params: { id: visible }, body: undefined });
    await settle(harbour, studio);
    expect(await listed()).toEqual(names.slice(0, 2));
    await alice.ok('restorePost', { params: { id: visible } });
    await settle(harbour, studio);
    expect(await listed()).toEqual(names);
    await alice.ok('deleteCollectionPeer', { params: target(id) });
    await settle(harbour, studio);
  });

  let id: string;
  const shelved = async () => {
    await settle(harbour, studio);
    return (await titlesOf(bob)).filter((title) => title === 'Shelved');
  };

  beforeAll(async () => {
    const asset = await upload(alice, plainFile('shelved'), { sensitivity: 'posts', title: 'Shelved' });
    const post = await publish(alice, [asset], { title: 'Shelved' });
    ({ id } = await collect(alice, 'Shelf', [post]));
    await alice.ok('putCollectionPeer', { params: { id, peer_id: peerOfOne }, body: {} });
    expect(await shelved()).toEqual(['Shelved']);
  });

  // FED-1
  test('covers its own posts only, whatever the visibility of others', async () => {
    const asset = await upload(alice, plainFile('elsewhere'), { sensitivity: 'public' });
    const elsewhere = await publish(alice, [asset], { title: 'Elsewhere', visibility: 'public' });
    const inAnother = await publish(alice, [asset], { title: 'In another' });
    await collect(alice, 'Not shared', [inAnother]);
    for (const { id } of [elsewhere, inAnother])
      await alice.ok('updatePost', { params: { id }, body: { description: 'changed' } });
    // The peer would refuse them, but must not even be notified.
    const told = sql<{ count: number }>`select count(*) from federation_outbox
      where object_id in (${elsewhere.id}, ${inAnother.id})`;
    expect(await count(harbour, told)).toBe(0);
  });

  // FED-1, FED-33
  test('withdraws its posts when it is deleted, and sends them again when it is restored', async () => {
    await alice.ok('deleteCollection', { params: { id }, body: undefined });
    expect(await shelved()).toEqual([]);
    await harbour.root.ok('restoreCollection', { params: { id } });
    expect(await shelved()).toEqual(['Shelved']);
  });

  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  const expire = async () => {
    const { db } = harbour.database;
    await sql`update collections set expires_at = now() - interval '1 second' where id = ${id}`.execute(db);
    await keepFederation(harbour);
  };

  // FED-1, FED-33
  test('has its posts there until it expires, and again when its expiry is extended', async () => {
    await alice.ok('updateCollection', { params: { id }, body: { expires_at: inAnHour() } });
    expect(await shelved()).toEqual(['Shelved']);
    await expire();
    expect(await shelved()).toEqual([]);
    await alice.ok('updateCollection', { params: { id }, body: { name: 'Still expired' } });
    expect(await shelved()).toEqual([]);
    await alice.ok('updateCollection', { params: { id }, body: { expires_at: inAnHour() } });
    expect(await shelved()).toEqual(['Shelved']);
  });

  // FED-20, FED-33
  test('is withdrawn only once', async () => {
    const changes = sql<{ count: number }>`select count(*) from federation_outbox where object_id = ${id}`;
    const before = await count(harbour, changes);
    await expire();
    await keepFederation(harbour);
    expect(await count(harbour, changes)).toBe(before + 1);
  });

  // FED-1
  test('tells the peer nothing of its posts when it returns after its share has ended', async () => {
    await alice.ok('deleteCollectionPeer', { params: { id, peer_id: peerOfOne } });
    await settle(harbour, studio);
    const posts = sql<{ count: number }>`select count(*) from federation_outbox where kind = 'post'`;
    const before = await count(harbour, posts);
    await alice.ok('updateCollection', { params: { id }, body: { expires_at: inAnHour() } });
    expect(await count(harbour, posts)).toBe(before);
  });
});
