import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slowSvg } from '../media/hostile-files.ts';
import { type Visitor, visit } from '../support/client.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { isAlive, postmasterOf, type ServiceProcess, startProcess } from '../support/process.ts';

const admin = { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: 'a long password' };

/** One library for all tests: creating a PostgreSQL cluster costs more than most of them. */
let directory: string;
let running: ServiceProcess | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-kill-'));
  await chmod(directory, 0o755);
});
afterAll(async () => {
  running?.child.kill('SIGTERM');
  await running?.exited;
  await rm(directory, { recursive: true, force: true });
});

/** Signs in to the library's service, and starts the service if an earlier test has ended it. */
async function enter(): Promise<{ service: ServiceProcess; visitor: Visitor }> {
  const { child } = running ?? {};
  if (running === undefined || child?.exitCode !== null || child.signalCode !== null)
    running = await startProcess(directory, admin);
  const visitor = visit(running.address);
  await visitor.ok('login', { body: { username: 'root', password: admin.VITRINE_ADMIN_PASSWORD } });
  return { service: running, visitor };
}

interface Acknowledged {
  assets: Map<string, string>;
  posts: Set<string>;
}

/** Uploads and posts continuously until the service is gone; records the acknowledged writes. */
async function work(visitor: Visitor, seed: number, acknowledged: Acknowledged): Promise<void> {
  for (let i = 0; ; i += 1) {
    const bytes = await jpeg(300, 200, { seed: seed + i });
    try {
      const asset = await upload(visitor, bytes);
      acknowledged.assets.set(asset.id, createHash('sha256').update(bytes).digest('hex'));
      acknowledged.posts.add((await publish(visitor, [asset])).id);
    } catch {
      return;
    }
  }
}

async function killEverything({ child, exited }: ServiceProcess): Promise<void> {
  const postmaster = await postmasterOf(directory);
  child.kill('SIGKILL');
  process.kill(postmaster, 'SIGKILL');
  await exited;
}

async function untilNothingPends(visitor: Visitor, ids: Iterable<string>): Promise<string[]> {
  const left = new Set(ids);
  for (let tries = 0; tries < 150 && left.size > 0; tries += 1) {
    for (const id of left) {
      const asset = await visitor.ok('getAsset', { params: { id } });
      if (!asset.restricted && asset.processing_status === 'ready' && asset.ladder_available) left.delete(id);
    }
    if (left.size > 0) await sleep(200);
  }
  return [...left];
}

describe('kill -9 of everything in the middle of uploads', () => {
  // UPLOAD-12
  test('loses no acknowledged asset or post, and completes renditions', async () => {
    const acknowledged: Acknowledged = { assets: new Map(), posts: new Set() };
    const first = await enter();
    const lanes = [1, 2, 3].map((lane) => work(first.visitor, lane * 1000, acknowledged));
    while (acknowledged.assets.size < 12) await sleep(20);
    await killEverything(first.service);
    await Promise.all(lanes);
    const { service, visitor } = await enter();
    expect(acknowledged.posts.size).toBeGreaterThanOrEqual(9);
    for (const id of acknowledged.posts) await visitor.ok('getPost', { params: { id } });
    expect(await untilNothingPends(visitor, acknowledged.assets.keys())).toEqual([]);
    for (const [id, hash] of acknowledged.assets) {
      const response = await fetch(`${service.address}/api/v1/assets/${id}/file`, {
        headers: { cookie: `user=${visitor.cookie()}` },
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      expect([id, createHash('sha256').update(bytes).digest('hex')]).toEqual([id, hash]);
    }
  }, 120_000);

  test('stops PostgreSQL when the service is killed', async () => {
    const { service } = await enter();
    const postmaster = await postmasterOf(directory);
    service.child.kill('SIGKILL');
    await service.exited;
    for (let tries = 0; tries < 400 && isAlive(postmaster); tries += 1) await sleep(100);
    expect(isAlive(postmaster)).toBe(false);
  });

  // RUN-1
  test('refuses a second start on the same library in one line', async () => {
    await enter();
    const second = await startProcess(directory, admin).catch((error: unknown) => String(error));
    expect(second).toBe(`Error: ended with 1: another Vitrine is using ${directory}`);
  });
});

/** Returns the decoder processes of a service. */
async function decodersOf({ child }: ServiceProcess): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/, 2).map(Number);
    return parent === child.pid && line.includes('decoding/child.ts') ? [pid ?? 0] : [];
  });
}

test('stops without waiting for a long rendering and leaves no decoder behind', async () => {
  const { service, visitor } = await enter();
  await upload(visitor, slowSvg({ filters: 400 }), {}, 'slow.svg');
  await expect.poll(() => decodersOf(service), { timeout: 60_000 }).toHaveLength(1);
  const decoders = await decodersOf(service);
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  expect(decoders.filter(isAlive)).toEqual([]);
});
