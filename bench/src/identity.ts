import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  corpusDirectory,
  joinDatabase,
  readerCookie,
  type Spawned,
  spawnServer,
  spawnService,
} from './library.ts';
import { load, median } from './load.ts';

const ROUNDS = 3;
const SIGN_INS = 100;
/** Milliseconds between small requests of other users during a wave of sign-ins. */
const EVERY_MS = 5;

async function cookieFor(directory: string): Promise<string> {
  const database = joinDatabase(directory);
  try {
    return await readerCookie(database);
  } finally {
    await database.close();
  }
}

/** Compares `GET /auth/me` with bare routes that return the same object from memory and after reading one row. */
async function measureMe(
  { service, directory }: { service: Spawned; directory: string },
  headers: Record<string, string>,
  seconds: number,
): Promise<void> {
  const url = `${service.address}/api/v1/auth/me`;
  const body = await (await fetch(url, { headers })).text();
  const script = join(import.meta.dirname, 'reference-bare.ts');
  const fromMemory = await spawnServer([script, body], {});
  const oneRow = await spawnServer([script, body, directory], {});
  try {
    for (const address of [fromMemory.address, oneRow.address]) await load(address, {}, 2);
    await load(url, headers, 2);
    const rates: Record<'ours' | 'memory' | 'row', number[]> = { ours: [], memory: [], row: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.ours.push((await load(url, headers, seconds)).requestsPerSecond);
      rates.row.push((await load(oneRow.address, {}, seconds)).requestsPerSecond);
      rates.memory.push((await load(fromMemory.address, {}, seconds)).requestsPerSecond);
    }
    const [ours, row, memory] = [median(rates.ours), median(rates.row), median(rates.memory)];
    console.log(`GET /auth/me ${ours.toFixed(0)} req/s`);
    console.log(`bare route that reads one row ${row.toFixed(0)} req/s, ratio ${(ours / row).toFixed(2)}`);
    console.log(`bare route from memory ${memory.toFixed(0)} req/s, ratio ${(ours / memory).toFixed(2)}`);
  } finally {
    await fromMemory.stop();
    await oneRow.stop();
  }
}

/** Returns the p99 in milliseconds of small requests sent at a steady rate while `until` runs. */
async function pacedP99(
  url: string,
  headers: Record<string, string>,
  until: Promise<unknown>,
): Promise<number> {
  let running = true;
  void until.finally(() => {
    running = false;
  });
  const samples: Promise<number>[] = [];
  while (running) {
    const sent = performance.now();
    samples.push(
      fetch(url, { headers }).then(async (response) => {
        await response.arrayBuffer();
        return performance.now() - sent;
      }),
    );
    await sleep(EVERY_MS);
  }
  const sorted = (await Promise.all(samples)).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

/** Sends a hundred concurrent sign-ins with a wrong password, each of which costs a full hash. */
async function wave(service: Spawned): Promise<void> {
  const one = (name: number) =>
    fetch(`${service.address}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: `bench ${name}`, password: 'wrong' }),
    }).then((response) => response.arrayBuffer());
  await Promise.all(Array.from({ length: SIGN_INS }, (_, name) => one(name)));
}

async function measureSignIns(service: Spawned, headers: Record<string, string>): Promise<void> {
  const url = `${service.address}/api/v1/auth/me`;
  await pacedP99(url, headers, sleep(1000));
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const idle = await pacedP99(url, headers, sleep(6000));
    const began = performance.now();
    const busy = await pacedP99(url, headers, wave(service));
    const seconds = (performance.now() - began) / 1000;
    ratios.push(busy / idle);
    console.log(
      `p99 of GET /auth/me: idle ${idle.toFixed(1)} ms, under ${SIGN_INS} sign-ins ${busy.toFixed(1)} ms (they took ${seconds.toFixed(1)} s)`,
    );
  }
  console.log(`ratio ${median(ratios).toFixed(2)}`);
}

/** `bench identity`: measures the cost of authenticating requests. */
export async function benchIdentity(seconds: number): Promise<void> {
  const directory = await corpusDirectory(10_000);
  const service = await spawnService(directory);
  try {
    const headers = { cookie: await cookieFor(directory) };
    await measureMe({ service, directory }, headers, seconds);
    await measureSignIns(service, headers);
  } finally {
    await service.stop();
  }
}
