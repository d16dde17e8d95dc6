import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';

describe('a post shared with a peer', () => {
  let harbour: Install;
  let studio: Install;
  let peers: { peerOfOne: string; peerOfOther: string };

  beforeAll(async () => {
    harbour = await openInstall('Harbour');
    studio = await openInstall('Studio');
    peers = await pair(harbour, studio);
  });

  // FED-10, FED-11
  test('needs a pairing that both administrators have accepted', async () => {
    const [ours] = (await harbour.root.ok('listPeers')).items;
    const [theirs] = (await studio.root.ok('listPeers')).items;
    expect(ours).toMatchObject({
      state: 'connected',
      display_name: 'Studio',
      accepted_here: true,
      accepted_there: true,
    });
    expect(theirs).toMatchObject({ state: 'connected', display_name: 'Harbour' });
    expect(ours?.fingerprint).toBe((await studio.root.ok('getFederation')).fingerprint);
    expect(theirs?.fingerprint).toBe((await harbour.root.ok('getFederation')).fingerprint);
    expect((await studio.root.ok('listPosts')).items).toEqual([]);
  });

  // FED-20, FED-30, FED-31, FED-32, FED-33, FED-34, FED-40, FED-41, FED-42
  test('appears there with its pictures, takes comments and likes from both sides, and leaves nothing when it is revoked', async () => {
    const alice = await harbour.join('alice');
    const bob = await studio.join('bob');
    const bytes = await jpeg(640, 480);
    const asset = await upload(alice, bytes, { title: 'Quay', sensitivity: 'posts' }, 'quay.jpg');
    await harbour.runJobs();
    const post = await publish(alice, [asset], { title: 'Morning at the quay', tags: ['harbour'] });
    expect((await studio.root.ok('listPosts')).items).toEqual([]);

    const share = await alice.ok('putPostPeer', {
      params: { id: post.id, peer_id: peers.peerOfOne },
      body: { scope: 'comment' },
    });
    expect(share).toMatchObject({ person: null, scope: 'comment', delivered: false });
    await settle(harbour, studio);
    expect((await studio.root.ok('listFederationRejections')).items).toEqual([]);

    const [mirrored] = (await bob.ok('listPosts')).items;
    expect(mirrored).toMatchObject({
      title: 'Morning at the quay',
      tags: ['harbour'],
      visibility: 'org-only',
      comments_enabled: true,
      origin: {
        peer_id: peers.peerOfOther,
        display_name: 'Harbour',
        instance_url: harbour.address,
        author: 'alice',
      },
    });
    expect(mirrored).not.toHaveProperty('author');
    const member = mirrored?.members[0];
    const picture = member?.restricted === false ? member.asset : undefined;
    expect(picture).toMatchObject({ title: 'Quay', processing_status: 'ready', preview_available: true });
    const id = picture?.id ?? '';
    expect((await bob.send(`/assets/${id}/variants/col`)).status).toBe(200);
    const original = await bob.send(`/assets/${id}/file`);
    expect(original.status).toBe(200);

    const mine = await bob.ok('createComment', {
      params: { id: mirrored?.id ?? '' },
      body: { body: 'Lovely light' },
    });
    await bob.ok('likePost', { params: { id: mirrored?.id ?? '' } });
    await settle(studio, harbour);
    expect((await harbour.root.ok('listFederationRejections')).items).toEqual([]);
    const there = await alice.ok('getPost', { params: { id: post.id } });
    expect(there).toMatchObject({ comment_count: 1, like_count: 1 });
    const [arrived] = (await alice.ok('listComments', { params: { id: post.id } })).items;
    expect(arrived).toMatchObject({ body: 'Lovely light', remote_display_name: 'bob' });
    expect(arrived).not.toHaveProperty('author');

    await alice.ok('createComment', {
      params: { id: post.id },
      body: { body: 'Thank you', parent_id: arrived?.id ?? null },
    });
    await settle(harbour, studio);
    const [thread] = (await bob.ok('listComments', { params: { id: mirrored?.id ?? '' } })).items;
    expect(thread).toMatchObject({
      id: mine.id,
      replies: [{ body: 'Thank you', remote_display_name: 'alice' }],
    });

    await alice.ok('deletePostPeer', { params: { id: post.id, peer_id: peers.peerOfOne } });
    await settle(harbour, studio);
    expect((await bob.ok('listPosts')).items).toEqual([]);
    const { rows } = await sql<{
      left: number;
    }>`select (select count(*) from posts) + (select count(*) from assets)
      + (select count(*) from files) + (select count(*) from comments) + (select count(*) from federated_objects)
      + (select count(*) from federation_grants) as left`.execute(studio.database.db);
    expect(rows).toEqual([{ left: 0 }]);
    const objects = [];
    for await (const object of studio.deps.storage.list('')) objects.push(object.key);
    expect(objects).toEqual([]);
  });

  // FED-34
  test('is distinguished from local posts in lists and searches', async () => {
    const dora = await harbour.join('dora');
    const carl = await studio.join('carl');
    const asset = await upload(dora, await jpeg(90, 60), {}, 'theirs.jpg');
    const post = await publish(dora, [asset], { title: 'Made at the harbour' });
    await dora.ok('putPostPeer', { params: { id: post.id, peer_id: peers.peerOfOne }, body: {} });
    await settle(harbour, studio);
    const [mirrored] = (await carl.ok('listPosts')).items;
    const own = await publish(carl, [await upload(carl, await jpeg(80, 60), {}, 'own.jpg')], {
      title: 'Made in the studio',
    });
    const found = {
      here: [own.id],
      peers: [mirrored?.id],
      [peers.peerOfOther]: [mirrored?.id],
      [own.id]: [],
    };
    for (const [origin, ids] of Object.entries(found)) {
      expect((await carl.ok('listPosts', { query: { origin } })).items.map((one) => one.id)).toEqual(ids);
      const hits = await carl.ok('search', { query: { kind: 'post', origin } });
      expect(hits.items.flatMap((hit) => (hit.kind === 'post' ? hit.post.id : []))).toEqual(ids);
      expect((await carl.ok('listAssets', { query: { origin } })).items).toHaveLength(ids.length);
      expect((await carl.ok('search', { query: { kind: 'asset', origin } })).items).toHaveLength(ids.length);
    }
    expect((await carl.ok('search', { query: { kind: 'user', origin: 'here' } })).items).toEqual([]);
  });

  // FED-71
  test('gets the previews that are made after it was shared', async () => {
    const asset = await upload(harbour.root, await jpeg(640, 480, { seed: 9 }), { sensitivity: 'posts' });
    const post = await publish(harbour.root, [asset], { title: 'Not rendered yet' });
    await sql`update graphile_worker._private_jobs set run_at = now() + interval '1 hour'`.execute(
      harbour.database.db,
    );
    await harbour.root.ok('putPostPeer', { params: { id: post.id, peer_id: peers.peerOfOne }, body: {} });
    await settle(harbour, studio);
    const shown = async () => {
      const { items } = await studio.root.ok('listPosts');
      const [member] = items.find(({ title }) => title === 'Not rendered yet')?.members ?? [];
      return member?.restricted === false ? member.asset : undefined;
    };
    expect(await shown()).toMatchObject({ preview_available: false, pixel_width: null });
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(harbour.database.db);
    await settle(harbour, studio);
    expect(await shown()).toMatchObject({
      processing_status: 'ready',
      preview_available: true,
      pixel_width: 640,
    });
  });

  // FED-71
  test('keeps the previews of its origin when the sizes of previews change here, and is not searched for metadata', async () => {
    const renditions = async () => {
      const { rows } = await sql`select f.hash, f.renditions, array_agg(a.processing_status) as states
        from files f join assets a on a.file_hash = f.hash where f.origin_peer_id is not null
        group by f.hash order by f.hash`.execute(studio.database.db);
      return rows;
    };
    const before = await renditions();
    expect(before).not.toEqual([]);
    const { variants } = await studio.root.ok('getPreviewSettings');
    const changed = variants.map((variant) => ({ ...variant, quality: variant.quality - 1 }));
    await studio.root.ok('setPreviewSettings', { body: { variants: changed } });
    await settle(harbour, studio);
    const { rendering } = await studio.root.ok('getPreviewSettings');
    expect(rendering.waiting).toBe(0);
    await studio.root.ok('startBackfill', { body: {} });
    await settle(harbour, studio);
    expect(await studio.root.ok('getExtraction')).toMatchObject({ state: 'finished', total: 1, failed: 0 });
    expect(await renditions()).toEqual(before);
  });
});
