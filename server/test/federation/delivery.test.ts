import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';

async function sharedPost(install: Install, peer: string, title: string) {
  const asset = await upload(install.root, await jpeg(64, 48), { sensitivity: 'posts' }, `${title}.jpg`);
  await install.runJobs();
  const post = await publish(install.root, [asset], { title });
  await install.root.ok('putPostPeer', {
    params: { id: post.id, peer_id: peer },
    body: { scope: 'comment' },
  });
  return { post, asset };
}

/** Makes everything due at once that waits for its next attempt. */
async function skipPauses({ database: { db } }: Install): Promise<void> {
  await sql`update federation_outbox set next_attempt_at = now()`.execute(db);
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
}

const titlesAt = async (install: Install) =>
  (await install.root.ok('listPosts')).items.map(({ title }) => title).toSorted();

// FED-12, FED-21
test('changes wait for a peer that refuses them, arrive in order, and are given up after three days', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  const { peerOfOne, peerOfOther } = await pair(harbour, studio);
  await studio.root.ok('disablePeer', { params: { id: peerOfOther } });
  const { post } = await sharedPost(harbour, peerOfOne, 'First');
  await harbour.root.ok('updatePost', { params: { id: post.id }, body: { title: 'Second' } });
  await settle(harbour, studio);
  expect(await titlesAt(studio)).toEqual([]);
  const waiting = await harbour.root.ok('getPeer', { params: { id: peerOfOne } });
  expect(waiting).toMatchObject({ queued_count: 3, failed_count: 0 });
  expect(waiting.last_error).toContain('peer_disabled');

  await studio.root.ok('acceptPeer', { params: { id: peerOfOther } });
  await skipPauses(harbour);
  await settle(harbour, studio);
  expect(await titlesAt(studio)).toEqual(['Second']);
  const { items } = await harbour.root.ok('listPeerQueue', { params: { id: peerOfOne } });
  expect(items.map(({ activity, status }) => `${activity} ${status}`)).toEqual([
    'update sent',
    'create sent',
    'share sent',
  ]);

  await studio.root.ok('disablePeer', { params: { id: peerOfOther } });
  await harbour.root.ok('updatePost', { params: { id: post.id }, body: { title: 'Third' } });
  await sql`update federation_outbox set created_at = created_at - interval '4 days' where status = 'queued'`.execute(
    harbour.database.db,
  );
  await settle(harbour, studio);
  expect(await harbour.root.ok('getPeer', { params: { id: peerOfOne } })).toMatchObject({
    queued_count: 0,
    failed_count: 1,
  });
  await studio.root.ok('acceptPeer', { params: { id: peerOfOther } });
  await harbour.root.ok('retryPeerQueue', { params: { id: peerOfOne } });
  await settle(harbour, studio);
  expect(await titlesAt(studio)).toEqual(['Third']);
});

// FED-14
test('unpairing purges what was received on both sides and keeps comments on own posts', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  const { peerOfOne, peerOfOther } = await pair(harbour, studio);
  const { post } = await sharedPost(harbour, peerOfOne, 'From the harbour');
  await sharedPost(studio, peerOfOther, 'From the studio');
  await settle(harbour, studio);
  const mirrored = (await studio.root.ok('listPosts')).items.find(({ origin }) => origin !== undefined);
  await studio.root.ok('createComment', { params: { id: mirrored?.id ?? '' }, body: { body: 'Stays' } });
  await settle(studio, harbour);
  expect(await titlesAt(harbour)).toEqual(['From the harbour', 'From the studio']);

  await studio.root.ok('removePeer', { params: { id: peerOfOther } });
  expect(await titlesAt(studio)).toEqual(['From the studio']);
  await settle(studio, harbour);
  expect(await titlesAt(harbour)).toEqual(['From the harbour']);
  const { items } = await harbour.root.ok('listComments', { params: { id: post.id } });
  expect(items).toMatchObject([{ body: 'Stays', remote_display_name: 'root' }]);
  expect(await harbour.root.ok('getPeer', { params: { id: peerOfOne } })).toMatchObject({
    state: 'disabled',
    accepted_there: false,
  });
});

// FED-33, FED-31
test('a share with one person is for that person, and ends on its day', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  const { peerOfOne } = await pair(harbour, studio);
  const [bob, eve] = [await studio.join('bob'), await studio.join('eve')];
  const asset = await upload(harbour.root, await jpeg(64, 48), { sensitivity: 'posts' });
  const post = await publish(harbour.root, [asset], { title: 'For Bob' });
  const params = { id: post.id, peer_id: peerOfOne };
  expect(await harbour.root.refused('putPostPeer', { params, body: { person: 'nobody' } })).toMatchObject({
    status: 422,
  });
  const expires_at = new Date(Date.now() + 3600_000).toISOString();
  await harbour.root.ok('putPostPeer', { params, body: { person: 'bob', expires_at } });
  await settle(harbour, studio);
  const titles = async (reader: typeof bob) => (await reader.ok('listPosts')).items.map(({ title }) => title);
  expect(await titles(bob)).toEqual(['For Bob']);
  expect(await titles(eve)).toEqual([]);

  await sql`update federation_grants set expires_at = now() - interval '1 second'`.execute(
    studio.database.db,
  );
  await sql`select graphile_worker.add_job('keep-federation', '{}')`.execute(studio.database.db);
  await studio.runJobs();
  expect(await titles(bob)).toEqual([]);
});

// FED-43
test('fetched originals are removed when they take more room than allowed, and fetched again', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio', { VITRINE_FEDERATION_CACHE_BYTES: '0' });
  const { peerOfOne } = await pair(harbour, studio);
  await sharedPost(harbour, peerOfOne, 'Quay');
  await settle(harbour, studio);
  const [post] = (await studio.root.ok('listPosts')).items;
  const address = `/assets/${post?.members[0]?.asset_id}/file`;
  const originals = async () => {
    const keys = [];
    for await (const { key } of studio.deps.storage.list('originals')) keys.push(key);
    return keys.length;
  };
  expect(await originals()).toBe(0);
  expect((await studio.root.send(address)).status).toBe(200);
  expect(await originals()).toBe(1);
  await sql`select graphile_worker.add_job('keep-federation', '{}')`.execute(studio.database.db);
  await studio.runJobs();
  expect(await originals()).toBe(0);
  expect((await studio.root.send(address)).status).toBe(200);
});
