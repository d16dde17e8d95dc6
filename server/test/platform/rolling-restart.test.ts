import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen } from '../notifications/streams.ts';
import { cloneTemplate } from '../support/clone.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { type HaProxy, haproxy, startHaProxy } from '../support/haproxy.ts';
import { publish, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { freePort } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** The number of restarts; `RESTARTS=50 npx vitest run <this file>` tries more. */
const RESTARTS = Number(process.env.RESTARTS ?? 2);

/** Ten times what the checks take on a quiet machine. */
const DRAIN_SECONDS = '4';

const processes = new Map<number, ServiceProcess>();

const clone = await cloneTemplate();
const dataDir = await temporaryDirectory();

afterAll(async () => {
  for (const { child, exited } of processes.values()) {
    child.kill('SIGKILL');
    await exited;
  }
  await clone.drop();
});

async function start(port: number, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startProcess(dataDir, {
    ...rootSettings,
    DATABASE_URL: clone.url,
    VITRINE_PORT: String(port),
    ...env,
  });
  processes.set(port, service);
  return service;
}

/** Starts the process like a service manager: again if it ended because the database was too slow to respond. */
async function keepStarting(port: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const failed = await start(port, { VITRINE_DRAIN_SECONDS: DRAIN_SECONDS }).catch(String);
    if (typeof failed !== 'string') return;
    if (tries === 5 || !failed.includes('DatabaseUnavailable')) throw new Error(failed);
  }
}

// RUN-5
test('SIGTERM fails /readyz while the process keeps serving; a second one ends it', async () => {
  const { address, child, exited } = await start(0, { VITRINE_DRAIN_SECONDS: '600' });
  const ready = async () => (await fetch(`${address}/readyz`)).status;
  expect(await ready()).toBe(200);
  child.kill('SIGTERM');
  await expect.poll(ready).toBe(503);
  await signInAt(address);
  // The process treats signals that quickly follow the first one as the same request.
  const repeat = setInterval(() => child.kill('SIGTERM'), 100);
  expect(await exited).toBe(1);
  clearInterval(repeat);
});

// POST-24
test('ends a process whose worker, which starts after the service listens, cannot start', async () => {
  const own = await cloneTemplate();
  const client = new pg.Client(own.settings);
  await client.connect();
  // The migrations of the queue are recorded, so that they do not run again.
  await client.query('drop table graphile_worker._private_jobs cascade');
  await client.end();
  const { exited, output } = await start(0, { DATABASE_URL: own.url });
  expect(await exited).toBe(1);
  expect(output()).toMatch(/listening on .*graphile_worker/s);
  await own.drop();
});

const title =
  haproxy === null
    ? 'behind HAProxy (skipped: Debian’s package haproxy is not installed)'
    : 'behind HAProxy, under load';

// RUN-6
describe.skipIf(haproxy === null)(title, () => {
  let proxy: HaProxy;
  const ports: number[] = [];

  beforeAll(async () => {
    ports.push(await freePort(), await freePort());
    for (const port of ports) await keepStarting(port);
    proxy = await startHaProxy(ports);
    for (const server of ports.keys()) await proxy.untilUp(server);
  });

  afterAll(() => proxy.stop());

  // RUN-6
  test('fails no request while processes restart one after the other', async () => {
    const visitor = await signInAt(proxy.address);
    const asset = await upload(visitor, plainText('of every post'));
    const failures: string[] = [];
    let answered = 0;
    let over = false;

    async function load(act: (n: number) => Promise<unknown>): Promise<void> {
      for (let n = 0; !over; n += 1) {
        await act(n).then(
          () => {
            answered += 1;
          },
          (error: unknown) => failures.push(`${act}: ${inspect(error)}`),
        );
      }
    }
    /** Keeps one stream open, and reconnects when its process stops, like a browser. */
    async function follow(): Promise<void> {
      const stream = await listen(proxy.address, { cookie: visitor });
      await stream.next(30_000);
      await Promise.race([stream.ended, until(() => over)]);
      stream.close();
      if (!over && !stream.text().includes('event: closing\n')) throw new Error(stream.text());
    }
    const lanes = [
      load(() => visitor.ok('listPosts')),
      load(() => visitor.ok('search', { query: { q: 'post' } })),
      load(() => visitor.ok('getAsset', { params: { id: asset.id } })),
      load((n) => publish(visitor, [asset], { title: `Post ${n}` })),
      load((n) => upload(visitor, plainText(`upload ${n}`))),
      load(follow),
    ];

    for (let n = 0; n < RESTARTS; n += 1) {
      const server = n % ports.length;
      const port = ports[server] ?? 0;
      const { child, exited } = processes.get(port) ?? {};
      child?.kill('SIGTERM');
      expect(await exited).toBe(0);
      await keepStarting(port);
      await proxy.untilUp(server);
    }
    over = true;
    await Promise.all(lanes);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(50);
    if (RESTARTS > 2) console.log(`${answered} requests in ${RESTARTS} restarts`);
  }, 3_600_000);
});

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 50));
}
