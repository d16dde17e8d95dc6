import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { getJson, OutboundError } from '../../src/exchange/federation/outbound.ts';
import {
  type Install,
  identityOf,
  openInstall,
  pair,
  postOf,
  rejectionsAt,
  settle,
  sharePost,
} from './installs.ts';
import { openGate } from './processes.ts';

const LIMIT = 20;
const requests: string[] = [];

const limited = { VITRINE_RATE_LIMITS: 'on', VITRINE_PEER_LIMIT: String(LIMIT) };
const harbour = await openInstall('Harbour', limited);
const [studio, mill] = [await openInstall('Studio'), await openInstall('Mill')];
/** What happens while the mill receives a request. */
let whileReceived: () => Promise<unknown> = async () => {};
const gate = await openGate(mill, async (step) => {
  if (!step.startsWith('before POST')) return;
  requests.push(step.replace(/^before POST (?:\/federation\/)?/, ''));
  await whileReceived();
});
afterAll(() => gate?.close());

/** The faults of requests made one after the other; null for those that were answered. */
async function askOften(
  from: Install,
  to: Install,
  times: number,
  path = 'users/root',
): Promise<(OutboundError | null)[]> {
  const sender = await identityOf(from);
  const outcomes: (OutboundError | null)[] = [];
  for (let i = 0; i < times; i += 1) {
    const error = await getJson(from.deps, `${to.address}/${path}`, sender).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error !== null && !(error instanceof OutboundError)) throw error;
    outcomes.push(error);
  }
  return outcomes;
}

// FED-75, FED-76
test('a peer that makes too many requests gets Retry-After and honours it; other peers are not affected', async () => {
  const { peerOfOther } = await pair(harbour, studio);
  await pair(mill, harbour);
  const outcomes = await askOften(studio, harbour, 2 * LIMIT);
  expect(outcomes.filter((error) => error === null).length).toBeLessThan(LIMIT * 1.2);
  expect(outcomes.at(-1)).toMatchObject({ status: 429 });
  expect(await askOften(studio, harbour, 1, 'federation/teams/crew')).toMatchObject([{ status: 429 }]);
  const retryAfterMs = outcomes.at(-1)?.retryAfterMs ?? 0;
  const told = Date.now() + retryAfterMs;
  expect(retryAfterMs).toBeGreaterThanOrEqual(1000);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  expect(await askOften(mill, harbour, 1)).toEqual([null]);

  await sharePost(studio.root, peerOfOther, 'Quay');
  await studio.runJobs();
  const { rows } = await sql<{ attempts: number; due: number }>`select attempts,
      extract(epoch from next_attempt_at)::float8 * 1000 as due
    from federation_outbox where status = 'queued' order by seq limit 1`.execute(studio.database.db);
  expect(rows[0]?.attempts).toBe(1);
  // Both responses state the end of the same window, in whole seconds, some time before they are read.
  expect(Math.abs((rows[0]?.due ?? 0) - told)).toBeLessThan(6000);
  expect((await studio.root.ok('getPeer', { params: { id: peerOfOther } })).last_error).toContain('429');
});

// FED-77
test('sends pending changes to a peer in order, in batches of at most fifty', async () => {
  const { peerOfOne } = await pair(studio, { ...mill, address: gate.address });
  requests.length = 0;
  const { id } = await sharePost(studio.root, peerOfOne, 'Quay');
  const rename = (title: string) => studio.root.ok('updatePost', { params: { id }, body: { title } });
  for (let i = 1; i <= 50; i += 1) await rename(`Quay ${i}`);
  await settle(studio, mill);
  expect(requests).toEqual(['inbox/batch', 'inbox/batch']);
  await postOf(mill.root, 'Quay 50');
  const { rows } = await sql`select type, count(*) from federation_inbox
    group by type order by type collate "C"`.execute(mill.database.db);
  expect(rows).toEqual([
    { type: 'Create', count: 1 },
    { type: 'Update', count: 50 },
    { type: 'aa:Share', count: 1 },
  ]);
  expect(await rejectionsAt(mill)).toEqual([]);

  // A peer that does not announce batches gets one change at a time.
  await sql`update federation_peers set capabilities = '{}'`.execute(studio.database.db);
  requests.length = 0;
  await rename('One');
  await rename('Two');
  await settle(studio, mill);
  expect(requests).toEqual(['inbox Update aa:Post', 'inbox Update aa:Post']);

  // FED-12: also one that is disabled during a delivery
  requests.length = 0;
  whileReceived = () => studio.root.ok('disablePeer', { params: { id: peerOfOne } });
  await rename('Sent');
  await rename('Not sent');
  await settle(studio, mill);
  expect(requests).toEqual(['inbox Update aa:Post']);
});
