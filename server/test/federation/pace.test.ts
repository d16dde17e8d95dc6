import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readInstall, type Install as Sender } from '../../src/federation/identity.ts';
import { getJson, OutboundError } from '../../src/federation/outbound.ts';
import { writeSetting } from '../../src/settings.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';
import { openRelay } from './processes.ts';

async function senderOf(install: Install): Promise<Sender> {
  const found = await readInstall(install.deps);
  if (found === null) throw new Error('the install has no address');
  return found;
}

/** The faults of requests made one after the other; null for those that were answered. */
async function askOften(from: Install, to: Install, times: number): Promise<(OutboundError | null)[]> {
  const sender = await senderOf(from);
  const outcomes: (OutboundError | null)[] = [];
  for (let i = 0; i < times; i += 1) {
    const error = await getJson(from.deps, `${to.address}/users/root`, sender).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error !== null && !(error instanceof OutboundError)) throw error;
    outcomes.push(error);
  }
  return outcomes;
}

async function sharedPost(install: Install, peer: string) {
  const asset = await upload(install.root, plainFile('quay'), { sensitivity: 'posts' }, 'quay.bin');
  const post = await publish(install.root, [asset], { title: 'Quay' });
  await install.root.ok('putPostPeer', {
    params: { id: post.id, peer_id: peer },
    body: { scope: 'comment' },
  });
  return post;
}

// FED-75, FED-76
test('a peer that makes too many requests gets Retry-After and honours it; other peers are not affected', async () => {
  const limit = 20;
  const harbour = await openInstall('Harbour', {
    VITRINE_RATE_LIMITS: 'on',
    VITRINE_PEER_LIMIT: String(limit),
  });
  const [studio, mill] = [await openInstall('Studio'), await openInstall('Mill')];
  const { peerOfOther } = await pair(harbour, studio);
  await pair(mill, harbour);
  const outcomes = await askOften(studio, harbour, 2 * limit);
  expect(outcomes.filter((error) => error === null).length).toBeLessThan(limit * 1.2);
  expect(outcomes.at(-1)).toMatchObject({ status: 429 });
  const told = Date.now() + (outcomes.at(-1)?.retryAfterMs ?? 0);
  const seconds = (outcomes.at(-1)?.retryAfterMs ?? 0) / 1000;
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(await askOften(mill, harbour, 1)).toEqual([null]);

  await sharedPost(studio, peerOfOther);
  await studio.runJobs();
  const { rows } = await sql<{ attempts: number; due: number }>`select attempts,
      extract(epoch from next_attempt_at)::float8 * 1000 as due
    from federation_outbox where status = 'queued' order by seq limit 1`.execute(studio.database.db);
  expect(rows[0]?.attempts).toBe(1);
  // Both responses state the end of the same window, in whole seconds.
  expect(Math.abs((rows[0]?.due ?? 0) - told)).toBeLessThan(3000);
  expect((await studio.root.ok('getPeer', { params: { id: peerOfOther } })).last_error).toContain('429');
});

// FED-77
test('sends pending changes to a peer in order, in batches of at most fifty', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  const requests: string[] = [];
  const relay = await openRelay(
    () => studio.address,
    async (step) => {
      if (step.startsWith('before POST')) requests.push(step.replace(/^before POST (?:\/federation\/)?/, ''));
    },
  );
  try {
    await writeSetting(studio.database.db, 'base_url', relay.address);
    const { peerOfOne } = await pair(harbour, { ...studio, address: relay.address });
    requests.length = 0;
    const post = await sharedPost(harbour, peerOfOne);
    for (let i = 1; i <= 60; i += 1) {
      await harbour.root.ok('updatePost', { params: { id: post.id }, body: { title: `Quay ${i}` } });
    }
    await settle(harbour, studio);
    expect(requests).toEqual(['inbox/batch', 'inbox/batch']);
    const [mirrored] = (await studio.root.ok('listPosts')).items;
    expect(mirrored).toMatchObject({ title: 'Quay 60' });
    const { rows } = await sql<{ type: string; count: number }>`select type, count(*) from federation_inbox
      group by type order by type collate "C"`.execute(studio.database.db);
    expect(rows).toEqual([
      { type: 'Create', count: 1 },
      { type: 'Update', count: 60 },
      { type: 'aa:Share', count: 1 },
    ]);
    expect((await studio.root.ok('listFederationRejections')).items).toEqual([]);

    // A peer that does not announce batches gets one change at a time.
    await sql`update federation_peers set capabilities = '{}'`.execute(harbour.database.db);
    requests.length = 0;
    await harbour.root.ok('updatePost', { params: { id: post.id }, body: { title: 'One' } });
    await harbour.root.ok('updatePost', { params: { id: post.id }, body: { title: 'Two' } });
    await settle(harbour, studio);
    expect(requests).toEqual(['inbox Update aa:Post', 'inbox Update aa:Post']);
  } finally {
    await relay.close();
  }
});
