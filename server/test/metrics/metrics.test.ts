import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

const token = 'a-token-for-prometheus';
const root = join(import.meta.dirname, '../../..');

let library: Library;
let admin: Account;

beforeAll(async () => {
  library = await openLibrary({ VITRINE_METRICS_TOKEN: token });
  admin = await library.join('root', 'admin');
});

const scrape = (headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
  fetch(`${library.address}/metrics`, { headers });

/** Returns the value of a metric with these labels, in any order; undefined if it is not reported. */
function valueIn(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text
    .split('\n')
    .find(
      (one) =>
        (one.startsWith(`${name} `) || one.startsWith(`${name}{`)) &&
        Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

// RUN-22
describe('GET /metrics', () => {
  test('is 404 without a configured token', async () => {
    const plain = await openLibrary();
    const response = await fetch(`${plain.address}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(404);
  });

  test('is for the holder of the token alone, not for administrators', async () => {
    expect((await scrape({})).status).toBe(401);
    expect((await scrape({ authorization: 'Bearer another-token-for-it' })).status).toBe(401);
    expect((await scrape({ authorization: token })).status).toBe(401);
    expect((await scrape({ cookie: `user=${admin.cookie()}` })).status).toBe(401);
    const response = await scrape();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const posted = await fetch(`${library.address}/metrics`, { method: 'POST' });
    expect(posted.status).toBe(405);
  });

  test('counts requests by operation and status, never by address', async () => {
    const labels = { operation: 'getAsset', method: 'GET', status: '404' };
    const id = randomUUID();
    for (let n = 0; n < 3; n += 1) await admin.send(`/assets/${id}`);
    await fetch(`${library.address}/nowhere/${id}`);
    const text = await (await scrape()).text();
    expect(valueIn(text, 'vitrine_request_duration_seconds_count', labels)).toBe(3);
    expect(text).not.toContain(id);
    // Only the scrape itself is in progress.
    expect(valueIn(text, 'vitrine_requests_running')).toBe(1);
  });

  test('reports jobs, room and the queues of peers', async () => {
    await upload(admin, await jpeg(20, 20));
    const before = await (await scrape()).text();
    expect(valueIn(before, 'vitrine_jobs', { kind: 'render', state: 'waiting' })).toBe(1);
    expect(valueIn(before, 'vitrine_storage_free_bytes')).toBeGreaterThan(1_000_000);
    expect(valueIn(before, 'vitrine_peer_queue')).toBe(0);
    await library.runJobs();
    const after = await (await scrape()).text();
    expect(valueIn(after, 'vitrine_jobs', { kind: 'render', state: 'waiting' })).toBeUndefined();
  });

  test('reports the process when the database cannot be read', async () => {
    const { db } = library.deps;
    await sql`alter table federation_outbox rename to elsewhere`.execute(db);
    try {
      const text = await (await scrape()).text();
      expect(valueIn(text, 'vitrine_database_up')).toBe(0);
      expect(valueIn(text, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
      expect(valueIn(text, 'vitrine_storage_free_bytes')).toBeGreaterThan(1_000_000);
    } finally {
      await sql`alter table elsewhere rename to federation_outbox`.execute(db);
    }
    expect(valueIn(await (await scrape()).text(), 'vitrine_database_up')).toBe(1);
  });

  test('has, with the paths of health, every path that deployment files request', async () => {
    const files = await readdir(join(root, 'deploy'), { recursive: true, withFileTypes: true });
    const texts = files
      .filter((file) => file.isFile())
      .map((file) => readFile(join(file.parentPath, file.name), 'utf8'));
    const text = (await Promise.all(texts)).join('\n');
    const asked = text.matchAll(/(?:^ *path: |httpchk GET |127\.0\.0\.1:8420)(\/\w+)/gm);
    const paths = new Set([...asked].map(([, path]) => path));
    expect(paths).toEqual(new Set(['/healthz', '/readyz', '/metrics']));
    for (const path of paths) {
      const response = await fetch(library.address + path, { headers: { authorization: `Bearer ${token}` } });
      expect(response.status).toBe(200);
    }
  });

  test.each(['deploy/grafana/vitrine.json', 'deploy/prometheus/alerts.yml'])(
    'has every metric that %s names',
    async (path) => {
      await admin.send('/auth/me');
      const text = await (await scrape()).text();
      const used = (await readFile(join(root, path), 'utf8')).match(
        /\b(?:vitrine|process|nodejs)_[a-z_0-9]+\b/g,
      );
      const reported = new Set(text.replaceAll('# TYPE ', '').match(/^[a-z_0-9]+/gm));
      expect([...new Set(used)].filter((name) => !reported.has(name))).toEqual([]);
      expect(used?.length).toBeGreaterThan(5);
    },
  );
});
