// @module-tag one-process
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, open, readdir, rm, statfs } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { jobHandlers } from '../../src/boot/jobs.ts';
import { startServing } from '../../src/boot/main.ts';
import { readConfig } from '../../src/core/config.ts';
import { keepReserve, releaseReserve } from '../../src/platform/database/embedded-reserve.ts';
import { runDueJobs } from '../../src/platform/jobs/worker.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { clip, everyFfmpeg } from '../media/clips.ts';
import type { Visitor } from '../support/client.ts';
import { cloneTemplate } from '../support/clone.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { formOf, openLibrary, password, publish, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

const MIB = 1024 ** 2;
const full = { status: 507, error: 'the disk is full; nothing was stored' };

async function readiness(address: string) {
  const answer = await fetch(`${address}/readyz`);
  return { status: answer.status, body: await answer.json() };
}

const telemetry = { metrics: 'off', traces: 'off' };
const usable = { database: 'ok', storage: 'ok' };
const ready = { status: 200, body: { status: 'ready', checks: usable, telemetry } };
const checks = { database: 'ok', storage: 'the disk is full' };
const notReady = { status: 503, body: { error: 'not ready', checks, telemetry } };

// The reserve is larger than any disk.
const library = await openLibrary({ VITRINE_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER) });
const admin = await library.join('root', 'admin');

describe('a library with only the reserve free on its disk', () => {
  // RUN-7
  test('refuses uploads and other changes with 507, and is not ready', async () => {
    expect(await admin.refused('createAsset', { body: formOf(plainFile()) })).toEqual(full);
    expect(await admin.refused('createCollection', { body: { name: 'Ridges' } })).toEqual(full);
    expect(await readiness(library.address)).toEqual(notReady);
  });

  // RUN-7
  test('serves reads, sign-in and sign-out, and accepts requests that free space', async () => {
    await admin.ok('listPosts');
    await library.anonymous().ok('login', { body: { username: 'root', password } });
    await admin.ok('setTrashRetention', { body: { retention_days: 1 } });
    await admin.ok('endOtherSessions');
    await admin.ok('logout');
  });
});

test('postpones rendering until there is space without counting a failure, and refuses changes that find none', async () => {
  const library = await openLibrary();
  const mara = await library.join('mara');
  const { id } = await upload(mara, await jpeg(64, 64));
  const { deps, database, config } = library;
  const crowded = await openDiskStorage(join(config.dataDir, 'library'), Number.MAX_SAFE_INTEGER);
  const handlers = jobHandlers({ ...deps, storage: crowded });
  const makeDue = sql`update graphile_worker._private_jobs set run_at = now()`;
  for (let round = 0; round < 7; round += 1) {
    await makeDue.execute(deps.db);
    await runDueJobs({ pool: database.pool, handlers, concurrency: 1, log: deps.log });
  }
  const shown = () => mara.ok('getAsset', { params: { id } });
  expect(await shown()).toMatchObject({ processing_status: 'pending' });
  await makeDue.execute(deps.db);
  await library.runJobs();
  expect(await shown()).toMatchObject({ processing_status: 'ready', ladder_available: true });

  // A database out of disk space.
  const body = { name: 'Ridges' };
  await database.pool.query(`
    create function out_of_space() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
    create trigger out_of_space before insert on collections for each row execute function out_of_space()`);
  expect(await mara.refused('createCollection', { body })).toEqual(full);
  await database.pool.query('drop function out_of_space cascade');
  await mara.ok('createCollection', { body });
});

/** Runs a program that sees a small disk in place of a directory; works without root, too. */
function onDisk(directory: string, megabytes: number): string[] {
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=755 none "$0" && exec "$@"`;
  return ['unshare', process.getuid?.() === 0 ? '-m' : '-Urm', 'sh', '-c', script, directory];
}

const [program = '', ...probe] = [...onDisk('/mnt', 1), 'true'];
const mounts = spawnSync(program, probe).status === 0;

describe.skipIf(!mounts)('a small disk (skipped where unshare may not mount a tmpfs)', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  let service: ServiceProcess;
  let root: Visitor;
  /** The data directory as the service sees it. */
  let disk: string;
  let database: string;
  let startedWith = '';

  /**
   * Starts a service with its library on a disk of this size and its database elsewhere, unless the previous test
   * started one.
   */
  async function start(megabytes: number, reserve: number, more: Record<string, string> = {}): Promise<void> {
    const settings = JSON.stringify([megabytes, reserve, more]);
    if (settings === startedWith) return;
    startedWith = settings;
    const dataDir = await mkdtemp(join(tmpdir(), 'vitrine-disk-'));
    await chmod(dataDir, 0o755);
    const clone = await cloneTemplate();
    const own = { DATABASE_URL: clone.url, VITRINE_RESERVE_BYTES: String(reserve) };
    const env = { ...rootSettings, ...own, ...more };
    const started = await startProcess(dataDir, env, onDisk(dataDir, megabytes));
    cleanups.push(async () => {
      started.child.kill('SIGTERM');
      await started.exited;
      await clone.drop();
      await rm(dataDir, { recursive: true });
    });
    service = started;
    database = clone.url;
    disk = `/proc/${started.child.pid}/root${dataDir}`;
    root = await signInAt(started.address);
  }

  afterAll(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  /** Fills the disk except for this many bytes; returns a function that frees them. */
  async function fill(leave: number): Promise<() => Promise<void>> {
    const path = join(disk, 'filler');
    const filler = await open(path, 'w');
    const { bavail, bsize } = await statfs(disk);
    // One write, so that it ends before an encoding that it should interrupt.
    await filler.write(Buffer.alloc(bavail * bsize - leave, 1));
    await filler.close();
    return () => rm(path);
  }

  const incoming = () => readdir(join(disk, 'library', 'incoming'));

  /** Sends the beginning of an upload and returns the response, which arrives before the end of the file. */
  async function begin(
    headers: Record<string, string>,
    megabytes: number,
  ): Promise<{ status?: number; text: string }> {
    const sent = request(`${service.address}/api/v1/assets`, {
      method: 'POST',
      headers: {
        cookie: `user=${root.cookie()}`,
        'content-type': 'multipart/form-data; boundary=edge',
        ...headers,
      },
    });
    sent.on('error', () => {});
    const answered = once(sent, 'response', { signal: AbortSignal.timeout(20_000) });
    sent.write('--edge\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n');
    for (let at = 0; at < megabytes; at += 1) sent.write(Buffer.alloc(MIB, at));
    const [answer]: IncomingMessage[] = await answered;
    let text = '';
    for await (const part of answer ?? []) text += String(part);
    sent.destroy();
    return { status: answer?.statusCode ?? 0, text };
  }

  // RUN-7
  test.each<[string, number, number, Record<string, string>]>([
    ['reserve', 8 * MIB, MIB, { VITRINE_JOBS: 'none' }],
    ['disk', 0, 0, { VITRINE_FFMPEG: 'off' }],
  ])(
    'refuses uploads that do not fit into the %s, keeps no partial file, and recovers',
    async (_, reserve, left, settings) => {
      await start(32, reserve, settings);
      const { id } = await upload(root, plainFile('was there before'), {}, 'note.bin');
      expect(await readiness(service.address)).toEqual(ready);
      const { bavail } = await statfs(disk);
      const refusal = { status: 507, text: JSON.stringify({ error: full.error }) };
      expect(await begin({ 'transfer-encoding': 'chunked' }, 40)).toEqual(refusal);
      // The length alone is enough.
      if (reserve > 0) expect(await begin({ 'content-length': String(30 * MIB) }, 0)).toEqual(refusal);
      await expect.poll(incoming).toEqual([]);
      expect((await statfs(disk)).bavail).toBe(bavail);

      const giveBack = await fill(left);
      expect(await readiness(service.address)).toEqual(notReady);
      const form = formOf(plainFile('one more'));
      expect(await root.refused('createAsset', { body: form })).toEqual(full);
      // The database is on another disk.
      await publish(root, [{ id }]);
      expect((await root.send(`/assets/${id}/file`)).text).toContain('was there before');

      await giveBack();
      expect(await readiness(service.address)).toEqual(ready);
      const large = await upload(root, new Uint8Array(10 * MIB).fill(3), {}, 'large.bin');
      expect(large.file_size_bytes).toBe(10 * MIB);
    },
  );

  // RUN-7
  test.for(everyFfmpeg)(
    'that fills while a video is encoded keeps no partial file, and the video is encoded when there is space: $name',
    { timeout: 300_000 },
    async ({ setting, isHere }, { skip }) => {
      if (!isHere) return skip('this FFmpeg is not installed');
      await start(32, 0, setting === null ? {} : { VITRINE_FFMPEG: setting });
      const client = new pg.Client({ connectionString: database });
      await client.connect();
      cleanups.unshift(() => client.end());
      const noise = 'testsrc2=s=640x360:r=25,noise=alls=50:allf=t';
      // Quick to make, and long enough that a busy machine fills the disk before it is encoded.
      const film = await clip({ format: 'mp4', video: { source: noise, encoder: 'mpeg4' }, seconds: 6 });
      const { id, file_hash } = await upload(root, film, {}, 'a.mp4');
      const media = () => root.ok('getAssetMedia', { params: { id } });
      const hash = file_hash ?? '';
      const kept = join(disk, 'library', 'renditions', hash.slice(0, 2), hash.slice(2, 4), hash);
      const encoded = async () => {
        const paths = await readdir(join(disk, 'library', 'incoming'), { recursive: true });
        return paths.filter((path) => path.endsWith('360p.mp4')).length;
      };
      await expect.poll(encoded, { timeout: 90_000, interval: 10 }).toBe(1);
      const giveBack = await fill(0);

      const transcoding = async () => (await media()).transcoding;
      const waiting = { state: 'waiting', progress: 0 };
      await expect.poll(transcoding, { timeout: 90_000 }).toMatchObject(waiting);
      await expect.poll(incoming).toEqual([]);
      expect((await readdir(kept)).filter((name) => /360p|master/.test(name))).toEqual([]);
      expect((await media()).variants.filter(({ key }) => key.startsWith('hls/'))).toEqual([]);
      expect(await root.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
      // The bytes of the partial file are free again.
      await fill(0);
      expect(await readiness(service.address)).toEqual(notReady);

      await giveBack();
      // The job waits for a minute.
      await client.query(
        'select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), now())',
      );
      await expect.poll(transcoding, { timeout: 90_000 }).toEqual({ state: 'done', progress: 1 });
      expect((await root.send(`/assets/${id}/variants/hls/360p.m3u8`)).text).toContain('#EXT-X-ENDLIST');
      expect(await incoming()).toEqual([]);
    },
  );
});

const small = await mkdtemp(join(tmpdir(), 'vitrine-full-'));
const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'none', small]).status === 0;
afterAll(async () => {
  if (canMount) spawnSync('umount', ['-l', small]);
  await rm(small, { recursive: true });
});

// RUN-44
describe.skipIf(!canMount)('a disk without a free byte (skipped where it cannot be mounted)', () => {
  const filler = join(small, 'filler');
  const reserve = join(small, 'postgres.reserve');

  async function fillUp(): Promise<void> {
    const { bavail, bsize } = await statfs(small);
    const file = await open(filler, 'a');
    await file.write(Buffer.alloc(bavail * bsize, 1)).catch(() => {});
    await file.close();
    expect((await statfs(small)).bavail).toBe(0);
  }

  test('gives PostgreSQL the space that was kept for it, and keeps it again when there is room', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    // Also when the test fails: later files of this worker measure by intervals.
    onTestFinished(() => void vi.useRealTimers());
    const end = keepReserve(small);
    const isKept = () => existsSync(reserve);
    // On a busy machine, writing waits for a thread.
    await expect.poll(isKept).toBe(true);
    await releaseReserve(small);
    expect(isKept()).toBe(true);
    await fillUp();
    await releaseReserve(small);
    expect([isKept(), (await statfs(small)).bavail > 0]).toEqual([false, true]);
    vi.advanceTimersByTime(60_000);
    await rm(filler);
    // An attempt on the full disk may still be going on, during which the next one is left out.
    const later = () => {
      vi.advanceTimersByTime(60_000);
      return isKept();
    };
    await expect.poll(later).toBe(true);
    await end();
    await rm(reserve);
  });

  test('lets the service delete, sign in, stop and start', async () => {
    const settings = { VITRINE_DATA: small, VITRINE_PORT: '0', VITRINE_LOG_LEVEL: 'warn' };
    const own = { ...settings, VITRINE_RATE_LIMITS: 'off', VITRINE_RESERVE_BYTES: '0' };
    const first = await startServing(readConfig({ ...own, ...rootSettings }, small));
    let isStopped = false;
    onTestFinished(async () => {
      if (!isStopped) await first.stop();
    });
    const address = first.url ?? '';
    const root = await signInAt(address);
    const { id } = await upload(root, plainFile('goes'), {}, 'a.bin');
    const kept = await upload(root, plainFile('stays'), {}, 'b.bin');
    await expect.poll(() => existsSync(reserve)).toBe(true);
    await fillUp();
    await root.ok('deleteAsset', { params: { id }, body: undefined });
    await signInAt(address);
    await root.ok('setTrashRetention', { body: { retention_days: 1 } });
    isStopped = true;
    await first.stop();

    const second = await startProcess(small, rootSettings);
    onTestFinished(async () => {
      second.child.kill('SIGTERM');
      await second.exited;
    });
    expect(existsSync(reserve)).toBe(false);
    const again = await signInAt(second.address);
    expect((await again.refused('getAsset', { params: { id } })).status).toBe(404);
    await again.ok('deleteAsset', { params: { id: kept.id }, body: undefined });
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  });
});
