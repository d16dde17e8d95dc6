import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { admin, call, openEmptyLibrary, signIn } from './empty-library.ts';
import { cacheDir } from './library.ts';
import { peakMemory } from './peak-memory.ts';
import { processorSeconds } from './processor-time.ts';

const FILES = 20;
const FILE_BYTES = 256 * 1024 * 1024;
const PICTURES = 50;
const MB = 1024 * 1024;

const seconds = (began: number) => (performance.now() - began) / 1000;

/** Makes the next reads come from the disk. Needs root; otherwise both sides read from memory. */
async function dropCaches(): Promise<void> {
  await writeFile('/proc/sys/vm/drop_caches', '3').catch(() => console.log('(the files are in memory)'));
}

/** Returns the bytes a second at which a bare loop reads all files of a directory. */
async function diskRate(directory: string): Promise<number> {
  const buffer = Buffer.alloc(MB);
  let bytes = 0;
  const began = performance.now();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = await open(join(entry.parentPath, entry.name));
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      bytes += bytesRead;
    }
    await file.close();
  }
  return bytes / seconds(began);
}

/** Reads a response to its end into a single buffer, to leave the processor to the service. Returns the bytes with their framing. */
function drain(url: URL, headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let bytes = 0;
  let head = '';
  const onread = {
    buffer: Buffer.alloc(MB),
    callback(length: number, buffer: Uint8Array) {
      if (bytes === 0) head = Buffer.from(buffer.subarray(0, 64)).toString('latin1');
      bytes += length;
      return true;
    },
  };
  const socket = connect({ host: url.hostname, port: Number(url.port), onread });
  socket.on('error', reject);
  socket.on('close', () => (head.startsWith('HTTP/1.1 200') ? resolve(bytes) : reject(new Error(head))));
  const lines = Object.entries({ host: url.host, connection: 'close', ...headers });
  socket.write(
    `GET ${url.pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  return promise;
}

/** Writes files of random bytes, each of which begins with others. */
async function* largeFiles(directory: string) {
  const block = randomBytes(64 * MB);
  for (let at = 0; at < FILES; at += 1) {
    const path = join(directory, `file-${at}.bin`);
    const file = await open(path, 'w');
    await file.write(Buffer.concat([Buffer.from([0, 1, 2, 3]), randomBytes(1020)]));
    for (let left = FILE_BYTES - 1024; left > 0; left -= block.length)
      await file.write(block.subarray(0, Math.min(left, block.length)));
    await file.close();
    yield path;
  }
}

/** Writes pictures of 24 megapixels with the grain of a camera's, which differ in bytes behind their end. */
async function* pictures(directory: string) {
  const noise = { type: 'gaussian', mean: 128, sigma: 14 } as const;
  const grain = sharp({ create: { width: 6000, height: 4000, channels: 3, background: '#808080', noise } });
  const bytes = await grain.jpeg({ quality: 90 }).toBuffer();
  for (let at = 0; at < PICTURES; at += 1) {
    const path = join(directory, `picture-${at}.jpg`);
    await writeFile(path, Buffer.concat([bytes, randomBytes(8)]));
    yield path;
  }
}

/**
 * `bench zip`: packs 5 GB of files into a ZIP and compares it with reading them from the disk, and packs 50 pictures of 24
 * megapixels as JPEGs of 2,000 pixels. Removes what it wrote.
 */
export async function benchZip(): Promise<void> {
  const library = await openEmptyLibrary();
  const scratch = await mkdtemp(join(cacheDir, 'zip-'));
  const { address, child } = library.service;
  try {
    const cookie = await signIn(address, admin);
    const json = { cookie, origin: address, 'content-type': 'application/json' };
    const upload = async (path: string): Promise<string> => {
      const body = new FormData();
      body.append('file', await openAsBlob(path), path.split('/').at(-1));
      const headers = { cookie, origin: address };
      const response = await call(address, '/assets', { method: 'POST', headers, body });
      await rm(path);
      // The shapes are those of the contract.
      return ((await response.json()) as { id: string }).id;
    };
    const pack = async (body: object) => {
      const request = { method: 'POST', headers: json, body: JSON.stringify(body) };
      const { url } = (await (await call(address, '/archives', request)).json()) as { url: string };
      const pid = child.pid ?? 0;
      const memory = await peakMemory(pid);
      const used = await processorSeconds(pid);
      const own = process.cpuUsage();
      const began = performance.now();
      const bytes = await drain(new URL(`${address}${url}`), { cookie });
      const took = seconds(began);
      const { user, system } = process.cpuUsage(own);
      const processor = { service: (await processorSeconds(pid)) - used, client: (user + system) / 1e6 };
      return { bytes, took, processor, ...(await memory()) };
    };

    const ids: string[] = [];
    for await (const path of largeFiles(scratch)) ids.push(await upload(path));
    for (let round = 1; round <= 3; round += 1) {
      await dropCaches();
      const rate = await diskRate(join(library.directory, 'library'));
      await dropCaches();
      const { bytes, took, processor, growth, before } = await pack({ ids });
      console.log(
        `ZIP of ${(bytes / 1e9).toFixed(2)} GB in ${took.toFixed(1)} s, ${(bytes / took / 1e6).toFixed(0)} MB/s, ${(bytes / took / rate).toFixed(2)} of the disk's ${(rate / 1e6).toFixed(0)} MB/s; ${processor.service.toFixed(1)} s of processor time, and ${processor.client.toFixed(1)} s of the client; ${growth} MB more than the ${before} before`,
      );
    }

    const presets = [{ key: 'jpeg', label: 'JPEG', format: 'jpeg', max_dim: 2000 }];
    await call(address, '/admin/system/downloads', {
      method: 'PUT',
      headers: json,
      body: JSON.stringify({ presets }),
    });
    const shots: string[] = [];
    for await (const path of pictures(scratch)) shots.push(await upload(path));
    const made = await pack({ ids: shots, preset: 'jpeg' });
    console.log(
      `${PICTURES} JPEGs of 2,000 pixels from 24 megapixels: ${made.took.toFixed(1)} s on ${availableParallelism()} cores, ${made.growth} MB more`,
    );
    const again = await pack({ ids: shots, preset: 'jpeg' });
    console.log(`the same again: ${again.took.toFixed(1)} s`);
  } finally {
    await library.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
