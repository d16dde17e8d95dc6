import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { openPool } from '../../src/platform/database/pool.ts';
import { cloneTemplate } from '../support/clone.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { publish, upload } from '../support/library.ts';
import { noise } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { base } from './clusters.ts';

/**
 * How many clients wait at once, and what the process may take more than before all of them, in MB. That includes what the
 * collector has not freed yet, which is 150 MB more on a busy machine. Bodies that have not arrived cost hardly any time, nor
 * does what all responses share. The library is large, so that fewer clients hold as much of it.
 */
const reading = { clients: 125, mostMb: 512 };
const readingShared = { clients: 250, mostMb: 512 };
const sending = { clients: 500, mostMb: 512 };

const clone = await cloneTemplate();
const database = openPool(clone.settings, 1);
const dataDir = await mkdtemp(join(base, 'vitrine-memory-'));
await chmod(dataDir, 0o755);
const service = await startProcess(dataDir, {
  ...rootSettings,
  DATABASE_URL: clone.url,
  VITRINE_LOG_LEVEL: 'error',
  VITRINE_JOBS: 'render',
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.exited;
  await database.close();
  await clone.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const root = await signInAt(service.address);

/**
 * Fills the library so that lists, feeds and renditions are large, and returns addresses that need no account: those with
 * content of the library, and those of files that are the same for everyone.
 */
async function publicAddresses(): Promise<{ content: string[]; shared: string[] }> {
  await sql`insert into settings (key, value) values ('public_mode', 'true'), ('indexing', 'true'),
      ('activitypub', 'true'), ('base_url', '"http://localhost"')`.execute(database.db);
  const asset = await upload(root, await noise(1700, 1270));
  const description = 'ä'.repeat(9000);
  const post = await publish(root, [asset], { title: 'one', description, visibility: 'public' });
  for (let i = 0; i < 80; i += 1)
    await publish(root, [asset], { title: `post ${i}`, description, visibility: 'public' });
  const link = await root.ok('createPostLink', { params: { id: post.id }, body: { allow_download: true } });
  const { token } = link;
  await expect.poll(() => root.status('GET', `/assets/${asset.id}/variants/preview`)).toBe(200);
  return {
    content: [
      ...['/posts?limit=200', `/posts/${post.id}`, '/search?q=post&limit=40'].map(below),
      ...['file', 'variants/preview'].map((what) => below(`/assets/${asset.id}/${what}`)),
      ...['', `/assets/${asset.id}/file`, '/archive'].map((path) => below(`/links/${token}${path}`)),
      ...['/', `/posts/${post.id}`, `/s/${token}`, '/feeds/library.atom', '/sitemap.xml'],
    ],
    shared: [
      ...['/docs/', '/docs/js/scalar.js', '/openapi.json'].map(below),
      ...['/favicon.svg', '/.well-known/nodeinfo', ...(largestFile() ?? [])],
    ],
  };
}

const below = (path: string) => basePath + path;

/** Returns the address of the largest file of the web app, if it is built. */
function largestFile(): [string] | null {
  const built = join(import.meta.dirname, '../../../web/build');
  if (!existsSync(built)) return null;
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const [largest] = files.toSorted((a, b) => statSync(join(built, b)).size - statSync(join(built, a)).size);
  return largest === undefined ? null : [`/${largest}`];
}

function megabytes({ child }: ServiceProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const { hostname, port } = new URL(service.address);

/** Sends a request and reads nothing of its response. */
async function requestOnly(path: string, body?: string): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = body === undefined ? `GET ${path}` : `POST ${path}`;
  const length = body === undefined ? '' : `content-type: application/json\r\ncontent-length: 1000000\r\n`;
  socket.write(`${head} HTTP/1.1\r\nhost: localhost\r\n${length}\r\n${body ?? ''}`);
  return socket;
}

/** Returns the most memory that the process takes while this many clients wait for their responses. */
async function peakOf(path: string, clients: number, body?: string): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: clients }, () => requestOnly(path, body)));
  let waiting = sockets.length;
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.once('readable', () => {
      waiting -= 1;
    });
  }
  let peak = 0;
  const until = performance.now() + (body === undefined ? 6000 : 1500);
  while (performance.now() < until && waiting > 0) {
    peak = Math.max(peak, megabytes(service));
    await sleep(25);
  }
  expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
  peak = Math.max(peak, megabytes(service));
  for (const socket of sockets) socket.destroy();
  return peak;
}

// HTTP-42
test.runIf(process.platform === 'linux')(
  'the memory of hundreds of requests at once to any public address is bounded',
  // On a busy machine, each address takes the whole time in which it is watched.
  { timeout: 300_000 },
  async () => {
    const { content, shared } = await publicAddresses();
    for (const path of [...content, ...shared]) {
      const answer = await fetch(service.address + path);
      expect([path, answer.status]).toEqual([path, 200]);
      await answer.arrayBuffer();
    }
    const before = megabytes(service);
    const beyond: [string, number][] = [];
    const watch = async (path: string, { clients, mostMb }: typeof reading, body?: string) => {
      const peak = Math.round((await peakOf(path, clients, body)) - before);
      if (peak > mostMb) beyond.push([path, peak]);
    };
    for (const path of shared) await watch(path, readingShared);
    for (const path of content) await watch(path, reading);
    const body = `{"username": "${'x'.repeat(900_000)}`;
    for (const path of [below('/auth/login'), '/ap/inbox', '/federation/inbox'])
      await watch(path, sending, body);
    expect(beyond).toEqual([]);
  },
);
