import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { startWorking } from '../../src/boot/main.ts';
import { readConfig } from '../../src/core/config.ts';
import { enqueue } from '../../src/core/job-table.ts';
import type { Visitor } from '../support/client.ts';
import { cloneTemplate } from '../support/clone.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { bin, isAlive, type ServiceProcess, startProcess } from '../support/process.ts';
import { base } from './clusters.ts';

const env = { ...rootSettings, VITRINE_PROCESSES: '2', VITRINE_METRICS_TOKEN: 'a-token-for-prometheus' };
/**
 * The database of the tests that are not about the embedded one, whose cluster costs as much as two processes; each test
 * has its own data directory.
 */
const clone = await cloneTemplate();
const database = {
  DATABASE_URL: clone.url,
  VITRINE_SECRET_KEY: 'a-key-for-all-processes-of-these-tests',
};
afterAll(() => clone.drop());

let dataDir: string;
const started: ServiceProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(base, 'vitrine-processes-'));
  await chmod(dataDir, 0o755);
});

afterEach(async () => {
  for (const { child, exited } of started.splice(0)) {
    child.kill('SIGKILL');
    await exited;
  }
  await rm(dataDir, { recursive: true, force: true });
});

async function start(more: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startProcess(dataDir, { ...env, ...more });
  started.push(service);
  return service;
}

/** Returns the ids of the serving processes: children that run the same command. */
async function servingPids({ child }: ServiceProcess): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const isServing = async (pid: number) => {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''),
      readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    ]);
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return parent === child.pid && command.split('\0').includes(bin);
  };
  const serving = await Promise.all(pids.map(isServing));
  return pids.filter((_, at) => serving[at]);
}

/** Returns the status of a request on a new connection, so that any of the processes may respond. */
async function statusOf(who: Visitor): Promise<number> {
  const { status } = await who.send('/auth/me', { headers: { connection: 'close' } });
  return status;
}

/** Returns the processing state of an asset of the caller. */
async function stateOf(who: Visitor, id: string): Promise<string | null> {
  const asset = await who.ok('getAsset', { params: { id } });
  return asset.restricted ? null : asset.processing_status;
}

// RUN-20
test('several processes of VITRINE_PROCESSES share sessions and files, and replace one that was killed', async () => {
  const service = await start(database);
  const root = await signInAt(service.address);
  const pids = await servingPids(service);
  expect(pids).toHaveLength(2);
  const asset = await upload(root, await jpeg(40, 30));
  await expect.poll(() => stateOf(root, asset.id)).toBe('ready');

  const again = await signInAt(service.address);
  // Each process reports all of them.
  const headers = { authorization: `Bearer ${env.VITRINE_METRICS_TOKEN}`, connection: 'close' };
  for (let n = 0; n < 3; n += 1) {
    const scraped = await (await fetch(`${service.address}/metrics`, { headers })).text();
    const logins = [...scraped.matchAll(/_count{operation="login".*} (\d+)/g)].map(([, count]) =>
      Number(count),
    );
    expect(logins.reduce((sum, count) => sum + count)).toBe(2);
    const reporting = new Set(
      [...scraped.matchAll(/^process_resident_memory_bytes{process="(\d+)"}/gm)].map(([, pid]) => pid),
    );
    expect(reporting).toEqual(new Set([service.child.pid, ...pids].map(String)));
  }

  // New connections reach either process.
  await root.ok('logout');
  for (let n = 0; n < 8; n += 1) expect(await statusOf(root)).toBe(401);

  process.kill(pids[0] ?? 0, 'SIGKILL');
  await expect.poll(() => servingPids(service)).not.toContain(pids[0]);
  await expect.poll(async () => (await servingPids(service)).length).toBe(2);
  for (let n = 0; n < 8; n += 1) expect(await statusOf(again)).toBe(200);

  const last = await servingPids(service);
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  expect(last.filter(isAlive)).toEqual([]);
});

// RUN-21
test('jobs run where VITRINE_JOBS assigns them, and no process outlives the one that was started', async () => {
  const serving = await start({ ...database, VITRINE_JOBS: 'none' });
  const root = await signInAt(serving.address);
  const { id } = await upload(root, await jpeg(40, 30));
  const config = readConfig(
    { ...database, VITRINE_DATA: dataDir, VITRINE_LOG_LEVEL: 'silent', VITRINE_JOBS: 'render' },
    dataDir,
  );
  const worker = await startWorking(config, { join: true, port: null });
  await expect.poll(() => stateOf(root, id)).toBe('ready');
  await worker.stop();
  const client = new pg.Client(clone.settings);
  await client.connect();
  const { rows } = await client.query('select task_identifier as kind from graphile_worker.jobs');
  await client.end();
  const waiting = rows.map(({ kind }) => kind);
  expect(waiting).toContain('extract');
  expect(waiting).not.toContain('render');

  const pids = await servingPids(serving);
  serving.child.kill('SIGKILL');
  await serving.exited;
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

// RUN-29
test('a worker serves its health and metrics on VITRINE_WORKER_PORT, and nothing else', async () => {
  const { VITRINE_METRICS_TOKEN } = env;
  const settings = {
    ...database,
    VITRINE_DATA: dataDir,
    VITRINE_METRICS_TOKEN,
    VITRINE_WORKER_PORT: '0',
  };
  const config = readConfig({ ...settings, VITRINE_LOG_LEVEL: 'silent' }, dataDir);
  const { url, deps, stop } = await startWorking(config, { join: true, port: config.workerPort });
  try {
    const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });
    expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await get('/readyz')).json()).toEqual({
      status: 'ready',
      checks: { database: 'ok', storage: 'ok' },
      telemetry: { metrics: 'on', traces: 'off' },
    });
    expect((await get('/metrics')).status).toBe(401);
    await enqueue(deps.db, 'count-storage', {}, { key: 'count-again' });
    const scrape = async () =>
      (await get('/metrics', { authorization: `Bearer ${VITRINE_METRICS_TOKEN}` })).text();
    await expect
      .poll(scrape)
      .toMatch(
        /^vitrine_job_duration_seconds_count{kind="count-storage",outcome="done",process="\d+"} [1-9]/m,
      );
    const text = await scrape();
    for (const name of ['statement_duration_seconds_count', 'jobs'])
      expect(text).toContain(`vitrine_${name}`);
    for (const path of ['/', '/api/v1/posts', '/setup']) expect((await get(path)).status).toBe(404);
  } finally {
    await stop();
  }
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test('the start reports an occupied port in one line', async () => {
  const occupant = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => occupant.once('listening', resolve));
  const address = occupant.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const failed = await start({ ...database, VITRINE_PORT: String(port) }).catch(String);
  occupant.close();
  expect(failed).toBe(`Error: ended with 1: port ${port} is in use; set VITRINE_PORT to another`);
});

// RUN-41
test('processes and workers with another secret key than the library do not start, and say what to set', async () => {
  const configOf = (env: Record<string, string>) =>
    readConfig({ ...env, VITRINE_DATA: dataDir, VITRINE_LOG_LEVEL: 'silent' }, dataDir);
  // The library has its key from the first process.
  await (await startWorking(configOf(database), { join: true, port: null })).stop();
  const elsewhere = { ...database, VITRINE_SECRET_KEY: 'another-key-of-at-least-32-characters' };
  const line = /VITRINE_SECRET_KEY is not the key of this library; copy secret\.key from another process/;
  for (const processes of ['1', '2']) {
    const failed = await startProcess(dataDir, { ...elsewhere, VITRINE_PROCESSES: processes }).catch(String);
    expect(failed).toMatch(/ended with 1: [^\n]*$/);
    expect(failed).toMatch(line);
  }
  await expect(startWorking(configOf(elsewhere), { join: true, port: null })).rejects.toThrow(line);
});

// RUN-41
test('a start that is refused for its key leaves no PostgreSQL behind, and the next one has the key of the file', async () => {
  const first = await start({ VITRINE_PROCESSES: '1' });
  first.child.kill('SIGTERM');
  await first.exited;
  const other = { ...env, VITRINE_SECRET_KEY: 'another-key-of-at-least-32-characters' };
  await expect(startProcess(dataDir, other)).rejects.toThrow(/is not the key of this library/);
  await expect.poll(() => readdir(join(dataDir, 'postgres'))).not.toContain('postmaster.pid');
  const again = await start();
  await signInAt(again.address);
});
