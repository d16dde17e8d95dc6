import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { capabilities } from '@vitrine/contract/capabilities';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg, png } from '../support/pictures.ts';
import { postmasterOf, type ServiceProcess, startProcess } from '../support/process.ts';

const admin = { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: 'a long password' };
let directory: string;
let service: ServiceProcess;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-kill-acts-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory, admin);
}, 60_000);

afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.exited;
  await rm(directory, { recursive: true, force: true });
});

async function arriveAs(username: string, password: string): Promise<Visitor> {
  const visitor = visit(service.address);
  await visitor.ok('login', { body: { username, password } });
  return visitor;
}

/** Performs the acts one after the other until the service is gone. */
async function untilGone(acts: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const act of acts) {
    try {
      await act();
    } catch {
      return;
    }
  }
}

// UPLOAD-12
test('kill -9 of all processes loses no acknowledged change, and leaves none incomplete', async () => {
  const root = await arriveAs('root', admin.VITRINE_ADMIN_PASSWORD);
  const password = 'another password';
  const asker = await root.ok('createUser', { body: { username: 'asker', password, role: 'viewer' } });
  const visitor = await arriveAs('asker', password);
  const asset = await upload(root, await jpeg(60, 40), { sensitivity: 'restricted' });
  const collection = await root.ok('createCollection', { body: { name: 'All' } });
  const posts: string[] = [];
  for (let i = 0; i < 40; i += 1) posts.push((await publish(root, [asset])).id);
  const asks: string[] = [];
  for (const capability of [
    'content.access.request',
    ...capabilities.filter((one) => one !== 'system.admin'),
  ]) {
    const { id } = await visitor.ok('requestAccess', { params: { id: asset.id }, body: { capability } });
    asks.push(id);
  }
  const logos = await Promise.all(Array.from({ length: 30 }, (_, i) => png(40 + i, 40)));

  const decided = new Set<string>();
  const collected = new Set<string>();
  let lastLogo = '';
  const lanes = [
    untilGone(
      asks.map((id) => async () => {
        await root.ok('decideRequest', { params: { id }, body: { decision: 'granted' } });
        decided.add(id);
      }),
    ),
    untilGone(
      posts.map((post_id) => async () => {
        await root.ok('addToCollection', { params: { id: collection.id, post_id } });
        collected.add(post_id);
      }),
    ),
    untilGone(
      logos.map((bytes) => async () => {
        const answer = await root.ok('uploadLogo', { body: new Blob([bytes], { type: 'image/png' }) });
        lastLogo = answer.logo_history?.[0]?.hash ?? '';
      }),
    ),
  ];
  while (decided.size < 5 || collected.size < 5) await sleep(1);
  const postmaster = await postmasterOf(directory);
  service.child.kill('SIGKILL');
  process.kill(postmaster, 'SIGKILL');
  await service.exited;
  await Promise.all(lanes);
  expect([decided.size < asks.length, collected.size < posts.length]).toEqual([true, true]);

  service = await startProcess(directory, admin);
  const again = await arriveAs('root', admin.VITRINE_ADMIN_PASSWORD);
  const requests = (await again.ok('listAllRequests', { query: { limit: 200 } })).items;
  const granted = requests.filter(({ state }) => state === 'granted').map(({ id }) => id);
  // At most one decision was made without its response arriving.
  expect([...decided].filter((id) => !granted.includes(id))).toEqual([]);
  expect(granted.length - decided.size).toBeLessThanOrEqual(1);
  const { grants } = await again.ok('getUserCapabilities', { params: { ref: asker.ref } });
  const codes = requests.filter(({ state }) => state === 'granted').map((one) => one.requested_capability);
  expect(grants.map((one) => one.capability).sort()).toEqual(codes.sort());

  const kept = await again.ok('listCollectionPosts', {
    params: { id: collection.id },
    query: { limit: 200 },
  });
  const ids = kept.items.map(({ id }) => id);
  expect(ids).toEqual(posts.slice(0, ids.length));
  expect([...collected].filter((id) => !ids.includes(id))).toEqual([]);

  const { logo_history: history = [], logo_url: url } = await again.ok('getAdminAppearance');
  expect(history.map(({ available }) => available)).toEqual(history.map(() => true));
  if (lastLogo !== '') expect(history.map(({ hash }) => hash).slice(0, 2)).toContain(lastLogo);
  expect(url?.split('v=')[1]).toBe(history.find(({ active }) => active)?.hash);
}, 100_000);
