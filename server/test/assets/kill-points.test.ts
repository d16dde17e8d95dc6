import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import sharp from 'sharp';
import { expect, onTestFinished, test } from 'vitest';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { openDiskStorage } from '../../src/platform/storage/disk.ts';
import { renditionsPrefix } from '../../src/platform/storage/object-key.ts';
import type { Storage } from '../../src/platform/storage/storage.ts';
import { clip, numbered } from '../media/clips.ts';
import type { Visitor } from '../support/client.ts';
import { cloneTemplate } from '../support/clone.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { type Library, openLibrary, upload } from '../support/library.ts';
import { startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

type Bytes = Uint8Array<ArrayBuffer>;

let count = 0;

const film = async () =>
  numbered(
    await clip({ format: 'mp4', video: { encoder: 'libx264' }, audio: { encoder: 'aac' }, seconds: 3 }),
    count,
  );
async function panorama(): Promise<Bytes> {
  const background = { r: count, g: 90, b: 120 };
  const blank = sharp({ create: { width: 6000, height: 1500, channels: 3, background } });
  return Uint8Array.from(await blank.jpeg().toBuffer());
}

/** Returns the objects of a file that rows name, and those that exist, with their lengths. */
async function objectsOf({ db, storage }: { db: Library['deps']['db']; storage: Storage }, hash: string) {
  const { rows } = await sql<{ object: string; bytes: number }>`
    select distinct r.value ->> 'object' as object, (r.value ->> 'bytes')::int as bytes
    from files f, jsonb_each(f.renditions) r where f.hash = ${hash}`.execute(db);
  const stored = new Map<string, number>();
  for await (const { key, sizeBytes } of storage.list(renditionsPrefix(hash))) stored.set(key, sizeBytes);
  return { named: new Map(rows.map(({ object, bytes }) => [object, bytes])), stored };
}

/** Waits until a job has begun to write a file with this end of its path. Returns false if `isOver` came first. */
async function untilWritten(incomingDir: string, end: string, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    const paths = await readdir(incomingDir, { recursive: true }).catch((): string[] => []);
    if (paths.some((path) => path.endsWith(end))) return true;
    // Yields the processor to the decoder.
    await sleep(2);
  }
  return false;
}

const library = await openLibrary({ VITRINE_FFMPEG: 'off' });
const mara = await library.join('mara');
/** The data directory of a service that is killed. */
const dataDir = await temporaryDirectory();

/** Uploads a file, and kills the decoders once for each of these files that a job writes. Returns how many were interrupted. */
async function killAt(ends: readonly string[], make: () => Promise<Bytes>): Promise<number> {
  count += 1;
  const { db, storage, decoders } = library.deps;
  const { id, file_hash } = await upload(mara, await make(), {}, `file-${count}`);
  const stored: number[] = [];
  for (const end of [...ends, null]) {
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
    let isOver = false;
    const working = library.runJobs().finally(() => {
      isOver = true;
    });
    if (end !== null) {
      await untilWritten(storage.incomingDir, end, () => isOver);
      for (const pid of decoders.pids()) process.kill(-pid, 'SIGKILL');
    }
    await working;
    const objects = await objectsOf(library.deps, file_hash ?? '');
    expect(objects.stored).toEqual(objects.named);
    expect(await readdir(storage.incomingDir)).toEqual([]);
    stored.push(objects.stored.size);
  }
  const ready = { processing_status: 'ready', ladder_available: true };
  expect(await mara.ok('getAsset', { params: { id } })).toMatchObject(ready);
  const { transcoding, tiles } = await mara.ok('getAssetMedia', { params: { id } });
  expect(transcoding).toEqual(make === film ? { state: 'done', progress: 1 } : null);
  expect(tiles !== null).toBe(make === panorama);
  // A kill that interrupted nothing leaves nothing to the next run.
  return ends.filter((_, at) => (stored[at + 1] ?? 0) > (stored[at] ?? 0)).length;
}

// MEDIA-7
test.each<[string, string[], () => Promise<Bytes>]>([
  ['film', ['/sprites.jpg', '/360p.mp4'], film],
  ['panorama', ['/preview.webp', '/tiles.zip'], panorama],
])(
  'a decoder that is killed while it renders a %s (%j) leaves nothing behind, and the job runs again',
  async (_, ends, make) => {
    // On a busy machine the job may end after its files were checked and before the kill.
    let interrupted = 0;
    for (let attempt = 0; attempt < 5 && interrupted < ends.length; attempt += 1)
      interrupted = await killAt(ends, make);
    expect(interrupted).toBe(ends.length);
  },
);

// MEDIA-7, UPLOAD-12
test('a service that is killed while it encodes leaves no partial rendition, and the next process finishes the file', async () => {
  const clone = await cloneTemplate();
  onTestFinished(clone.drop);
  const { db, close } = openPool(clone.settings, 2);
  onTestFinished(close);
  const storage = await openDiskStorage(join(dataDir, 'library'), 0);
  const deps = { db, storage };
  const env = { ...rootSettings, DATABASE_URL: clone.url, VITRINE_FFMPEG: 'off' };
  const start = async () => {
    const { child, exited, address } = await startProcess(dataDir, env);
    const kill = async () => {
      child.kill('SIGKILL');
      await exited;
    };
    onTestFinished(kill);
    return { root: await signInAt(address), kill };
  };

  /** Uploads a film, and returns once its encoding has begun. Returns null if it was over before that was seen. */
  const beginEncoding = async (root: Visitor) => {
    count += 1;
    const uploaded = await upload(root, await film(), {}, `film-${count}.mp4`);
    let isOver = false;
    const looking = setInterval(async () => {
      const { rows } = await sql`select from transcodes
        where file_hash = ${uploaded.file_hash} and state = 'done'`.execute(db);
      isOver ||= rows.length > 0;
    }, 100);
    const isSeen = await untilWritten(storage.incomingDir, '/360p.mp4', () => isOver);
    clearInterval(looking);
    return isSeen ? uploaded : null;
  };

  const first = await start();
  let begun: Awaited<ReturnType<typeof beginEncoding>> = null;
  for (let attempt = 0; attempt < 5 && begun === null; attempt += 1) begun = await beginEncoding(first.root);
  await first.kill();
  if (begun === null) throw new Error('no film was seen while it was encoded');
  const { id, file_hash } = begun;

  const { root } = await start();
  const unfinished = async () => {
    // Transcodes of a killed process wait for a minute, and failed jobs wait longer.
    await sql`update transcodes set updated_at = now() - interval '2 minutes'
      where state = 'running' and exists (select from graphile_worker.jobs where locked_at is null)`.execute(
      db,
    );
    await sql`update graphile_worker._private_jobs set run_at = now() where locked_at is null`.execute(db);
    const { rows } = await sql`select task_identifier from graphile_worker.jobs`.execute(db);
    return rows;
  };
  await expect.poll(unfinished, { timeout: 90_000, interval: 250 }).toEqual([]);
  const ready = { processing_status: 'ready', ladder_available: true };
  expect(await root.ok('getAsset', { params: { id } })).toMatchObject(ready);
  const { transcoding } = await root.ok('getAssetMedia', { params: { id } });
  expect(transcoding).toEqual({ state: 'done', progress: 1 });
  const { named, stored } = await objectsOf(deps, file_hash ?? '');
  expect(stored).toEqual(named);
  expect(await readdir(storage.incomingDir)).toEqual([]);
  expect(await sweep(deps, Date.now() + 1000, 0)).toBe(0);
});
