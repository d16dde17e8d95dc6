import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { requestAs } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';

const token = 'a-token-for-prometheus';
const root = join(import.meta.dirname, '../../..');

const library = await openLibrary({ VITRINE_METRICS_TOKEN: token });
const admin = await library.join('root', 'admin');

const authorized = { authorization: `Bearer ${token}` };
const scrape = (headers: Record<string, string> = authorized) =>
  fetch(`${library.address}/metrics`, { headers });
const scraped = async () => (await scrape()).text();

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

// RUN-22, RUN-28
describe('GET /metrics', () => {
  test('is 404 without a configured token', async () => {
    const plain = await openLibrary();
    expect((await fetch(`${plain.address}/metrics`, { headers: authorized })).status).toBe(404);
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
    expect((await fetch(`${library.address}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  test('counts requests by operation and status, never by address', async () => {
    const labels = { operation: 'getAsset', method: 'GET', status: '404' };
    const id = randomUUID();
    for (let n = 0; n < 3; n += 1) await admin.send(`/assets/${id}`);
    const warned = vi.spyOn(process, 'emitWarning');
    await (await fetch(`${library.address}/nowhere/${id}`)).text();
    // The response is a compressed stream, for whose end everything listens.
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    const text = await scraped();
    expect(valueIn(text, 'vitrine_request_duration_seconds_count', labels)).toBe(3);
    expect(text).not.toContain(id);
    // Only the scrape itself is in progress.
    expect(valueIn(text, 'vitrine_requests_running')).toBe(1);
  });

  test('reports jobs, room, the queues of peers, statements, connections and what clients send', async () => {
    const bytes = await jpeg(40, 40, { seed: 5 });
    await upload(admin, bytes);
    const before = await scraped();
    expect(valueIn(before, 'vitrine_jobs', { kind: 'render', state: 'waiting' })).toBe(1);
    expect(valueIn(before, 'vitrine_storage_free_bytes')).toBeGreaterThan(1_000_000);
    expect(valueIn(before, 'vitrine_peer_queue')).toBe(0);
    const received = valueIn(before, 'vitrine_received_bytes_total', { operation: 'createAsset' });
    // The form and its head are a few hundred bytes.
    expect(received).toBeGreaterThan(bytes.length);
    expect(received).toBeLessThan(bytes.length + 4000);

    await library.runJobs();
    const text = await scraped();
    expect(valueIn(text, 'vitrine_jobs', { kind: 'render', state: 'waiting' })).toBeUndefined();
    const job = { kind: 'render', outcome: 'done' };
    expect(valueIn(text, 'vitrine_job_duration_seconds_count', job)).toBeGreaterThan(0);
    for (const statement of ['select', 'insert', 'commit'])
      expect(valueIn(text, 'vitrine_statement_duration_seconds_count', { statement })).toBeGreaterThan(0);
    const connections = ['used', 'idle', 'unopened'].map(
      (state) => valueIn(text, 'vitrine_database_connections', { state }) ?? Number.NaN,
    );
    expect(connections.reduce((sum, one) => sum + one, 0)).toBe(library.database.pool.options.max);
    expect(valueIn(text, 'vitrine_database_waiting')).toBe(0);
  });

  test('counts callers that wait for a connection', async () => {
    const { pool } = library.database;
    const held = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    const asked = admin.send('/auth/me');
    await expect.poll(() => pool.waitingCount).toBeGreaterThan(0);
    const connections = library.database.activity.connections();
    expect(connections).toEqual({ open: held.length, idle: 0, most: held.length, waiting: 1 });
    for (const client of held) client.release();
    expect((await asked).status).toBe(200);
  });

  test('counts open event streams', async () => {
    const streams = async () => valueIn(await scraped(), 'vitrine_event_streams');
    const stop = new AbortController();
    await requestAs(admin, library, '/events', { signal: stop.signal });
    expect(await streams()).toBe(1);
    stop.abort();
    await expect.poll(streams).toBe(0);
  });

  test('reports the bytes of stored files at the last count', async () => {
    await upload(admin, plainFile('counted'), {}, 'counted.bin');
    await admin.ok('countStorage');
    await library.runJobs();
    const text = await scraped();
    const used = valueIn(text, 'vitrine_storage_used_bytes', { kind: 'originals' });
    const { counted } = await admin.ok('getStorage');
    expect(used).toBe(counted?.files.bytes);
    expect(used).toBeGreaterThan(0);
  });

  test('reports the process when the database cannot be read', async () => {
    const { db } = library.deps;
    await sql`alter table federation_outbox rename to elsewhere`.execute(db);
    try {
      const text = await scraped();
      expect(valueIn(text, 'vitrine_database_up')).toBe(0);
      expect(valueIn(text, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
      expect(valueIn(text, 'vitrine_storage_free_bytes')).toBeGreaterThan(1_000_000);
    } finally {
      await sql`alter table elsewhere rename to federation_outbox`.execute(db);
    }
    expect(valueIn(await scraped(), 'vitrine_database_up')).toBe(1);
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
    for (const path of paths)
      expect((await fetch(library.address + path, { headers: authorized })).status).toBe(200);
  });

  test('has every metric that deployment files name', async () => {
    await admin.send('/auth/me');
    const text = await scraped();
    const reported = new Set(text.replaceAll('# TYPE ', '').match(/^[a-z_0-9]+/gm));
    for (const path of ['deploy/grafana/vitrine.json', 'deploy/prometheus/alerts.yml']) {
      const named = await readFile(join(root, path), 'utf8');
      const used = named.match(/\b(?:vitrine|process|nodejs)_[a-z_0-9]+\b/g) ?? [];
      expect(used.length).toBeGreaterThan(5);
      // Those of a replica need one: platform/replica.test.ts.
      const own = [...new Set(used)].filter((name) => !name.startsWith('vitrine_replica_'));
      expect({ path, missing: own.filter((name) => !reported.has(name)) }).toEqual({ path, missing: [] });
    }
  });
});
