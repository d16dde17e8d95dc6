import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { type DecoderOptions, type Decoders, openDecoders } from '../../src/media/decoding/decoders.ts';
import { openFairQueue } from '../../src/media/decoding/fair-queue.ts';
import { DecoderLost, DecodingStopped } from '../../src/media/decoding/process.ts';
import { usageOfTree } from '../../src/media/decoding/usage.ts';
import { jpeg, png } from '../support/pictures.ts';
import { isAlive } from '../support/process.ts';
import { slowSvg } from './hostile-files.ts';
import { largestRung, openStudio } from './still-kit.ts';

const run = promisify(execFile);
const onLinux = process.platform === 'linux';
/** A busy machine may take this long. */
const PATIENCE = { timeout: 60_000 };
const module = JSON.stringify(join(import.meta.dirname, '../../src/media/decoding/decoders.ts'));
const small = new TextEncoder().encode(
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
);

const { place } = openStudio();
const opened: Decoders[] = [];
afterAll(() => Promise.all(opened.map((decoders) => decoders.close())));

function open(options: DecoderOptions = {}): Decoders {
  const decoders = openDecoders(options);
  opened.push(decoders);
  return decoders;
}

/** Returns the outcome of a drawing, or of a picture. */
async function render(decoders: Decoders, bytes: Uint8Array, kind: 'drawing' | 'picture' = 'drawing') {
  const mime = kind === 'drawing' ? 'image/svg+xml' : 'image/jpeg';
  const input = { ...(await place(bytes)), mime, rungs: largestRung };
  return (await decoders.run(kind, 'mara', 'ladder', input)).ladder.outcome;
}

async function busyPid(decoders: Decoders, kind: 'drawing' | 'picture' = 'drawing'): Promise<number> {
  await expect.poll(() => decoders.pids(kind).length, PATIENCE).toBe(1);
  return decoders.pids(kind)[0] ?? 0;
}

// MEDIA-7
describe('a decoder process', () => {
  test('is killed at the time limit, while pictures are still rendered', async () => {
    const decoders = open({ limits: { drawing: { timeoutMs: 1000 } } });
    const caught = expect(render(decoders, slowSvg())).rejects.toMatchObject({
      limit: 'time',
      message: 'took longer than 1 s',
    });
    const pid = await busyPid(decoders);
    expect(await render(decoders, await jpeg(60, 40), 'picture')).toBe('rendered');
    await caught;
    expect([isAlive(pid), decoders.pids('drawing')]).toEqual([false, []]);
  });

  test.skipIf(!onLinux)('is killed at the memory limit, and the next file is decoded', async () => {
    const decoders = open({ limits: { drawing: { memoryBytes: 150 * 1024 ** 2 } } });
    await expect(render(decoders, slowSvg())).rejects.toMatchObject({
      limit: 'memory',
      message: 'needed more than 150 MB of memory',
    });
    expect(await render(decoders, small)).toBe('rendered');
  });

  test('that ends with a signal rejects with an error that says whether to retry', async () => {
    const decoders = open();
    for (const [signal, kind] of [
      ['SIGSEGV', DecodingStopped],
      ['SIGKILL', DecoderLost],
    ] as const) {
      const caught = expect(render(decoders, slowSvg()), signal).rejects.toBeInstanceOf(kind);
      process.kill(await busyPid(decoders), signal);
      await caught;
    }
    expect(await render(decoders, small)).toBe('rendered');
  });

  test.skipIf(!onLinux)('has none of our secrets, no sockets, and a lower priority', async () => {
    process.env.DATABASE_URL = 'postgres://secret-of-the-environment';
    const decoders = open();
    await render(decoders, small).finally(() => delete process.env.DATABASE_URL);
    const pid = await busyPid(decoders);
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/secret-of-the-environment|VITRINE_/);
    expect(getPriority(pid)).toBeGreaterThanOrEqual(5);
    const sockets = (await readFile(`/proc/${pid}/net/tcp`, 'latin1')).split('\n').slice(1);
    const inodes = new Set(sockets.map((line) => line.trim().split(/\s+/)[9]));
    for (const name of await readdir(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${name}`).catch(() => '');
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      expect(inode === undefined || !inodes.has(inode)).toBe(true);
    }
  });

  test('reports a fault of the disk with its code, ends when it has been idle, and another is started for the next file', async () => {
    const decoders = open({ idleMs: 50 });
    expect(decoders.pids()).toEqual([]);
    const { path } = await place(small);
    const nowhere = { path, mime: 'image/svg+xml', rungs: largestRung, outDir: `${path}-nowhere` };
    await expect(decoders.run('drawing', 'mara', 'ladder', nowhere)).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await render(decoders, small);
    await expect.poll(() => decoders.pids(), PATIENCE).toEqual([]);
    expect(await render(decoders, small)).toBe('rendered');
  });

  test('is killed when its grace is over, however busy it is', async () => {
    const decoders = open();
    const caught = expect(render(decoders, slowSvg())).rejects.toBeInstanceOf(DecoderLost);
    const pid = await busyPid(decoders);
    await decoders.close(50);
    await caught;
    expect(isAlive(pid)).toBe(false);
    await expect(render(decoders, small)).rejects.toThrow('the decoders are closed');
  });

  test('is waited for when decoders are closed and nothing else is left to do', async () => {
    const input = JSON.stringify(await place(await png(9, 9)));
    const script = `const { openDecoders } = await import(${module});
      const decoders = openDecoders();
      await decoders.run('metadata', 'mara', 'entries', ${input});
      await decoders.close();
      console.log('closed');`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('closed\n');
  });

  test('ends with the process that started it, even when that is killed', async () => {
    const input = { ...(await place(slowSvg())), mime: 'image/svg+xml', rungs: largestRung };
    const script = `const { openDecoders } = await import(${module});
      const decoders = openDecoders();
      decoders.run('drawing', 'mara', 'ladder', ${JSON.stringify(input)});
      const look = () => decoders.pids().length === 0 ? setTimeout(look, 20) : console.log(decoders.pids()[0]);
      look();`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    const [line]: unknown[] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), PATIENCE).toBe(false);
  });
});

test.skipIf(!onLinux)('memory is measured over a process and the programs it starts', async () => {
  const inner =
    'const held = Buffer.alloc(120 * 1024 ** 2, 1); console.log("held"); setInterval(() => held, 1000)';
  const script = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' })`;
  const parent = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const pid = parent.pid ?? 0;
  await once(parent.stdout, 'data');
  expect(usageOfTree(pid)?.memoryBytes).toBeGreaterThan(120 * 1024 ** 2);
  expect(usageOfTree(pid)?.processorMs).toBeGreaterThan(0);
  process.kill(-pid, 'SIGKILL');
  await once(parent, 'exit');
  expect(usageOfTree(pid)).toBeNull();
});

describe('the queue for decoders', () => {
  /** Waits until all current holders of a slot have reported. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  function takers(queue: ReturnType<typeof openFairQueue>) {
    const order: string[] = [];
    const slots = new Map<string, () => void>();
    const take = (name: string) =>
      void queue.take(name[0] ?? '').then((giveBack) => {
        order.push(name);
        slots.set(name, giveBack);
      });
    const give = async (name: string) => {
      slots.get(name)?.();
      await settle();
    };
    return { order, take, give };
  }

  // MEDIA-8
  test('takes turns among waiting owners, regardless of who came first', async () => {
    const { order, take, give } = takers(openFairQueue({ workers: 1, spare: 0 }));
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) take(name);
    await settle();
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await give(name);
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('keeps its spare slots for owners who have none', async () => {
    const { order, take, give } = takers(openFairQueue({ workers: 2, spare: 1 }));
    for (const name of ['a1', 'a2', 'a3', 'a4']) take(name);
    await settle();
    expect(order).toEqual(['a1', 'a2']);
    for (const name of ['b1', 'b2', 'c1']) take(name);
    await settle();
    expect(order).toEqual(['a1', 'a2', 'b1']);
    await give('b1');
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2']);
  });
});
