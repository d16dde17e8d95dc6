import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { corpusDirectory, serverBin, spawnServer, spawnService } from './library.ts';
import { median } from './load.ts';

const ROUNDS = 5;

const bareFastify = `
import fastify from ${JSON.stringify(import.meta.resolve('fastify'))};
const server = fastify();
server.get('/api/v1/build-info', async () => ({ version: '0' }));
console.log('listening on ' + await server.listen({ port: 0, host: '127.0.0.1' }));
process.once('SIGTERM', () => server.close());
`;

/** Returns the milliseconds from spawning a process to its first 200. */
async function firstAnswer(start: () => ReturnType<typeof spawnServer>): Promise<number> {
  const began = performance.now();
  const spawned = await start();
  const response = await fetch(`${spawned.address}/api/v1/build-info`);
  const taken = performance.now() - began;
  if (response.status !== 200) throw new Error(`the first answer is ${response.status}`);
  await spawned.stop();
  return taken;
}

async function medianOf(start: () => ReturnType<typeof spawnServer>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await firstAnswer(start));
  return median(times);
}

/** Returns the resident memory of a process in MB, from /proc. */
async function residentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? Number.NaN) / 1024;
}

/**
 * `bench start`: compares the time to the first 200 on an existing library with that of a bare Fastify, and measures
 * the memory of an idle server.
 */
export async function benchStart(): Promise<void> {
  const directory = await corpusDirectory(10_000);
  const service = await medianOf(() => spawnService(directory));
  const bare = await medianOf(() => spawnServer(['--input-type=module', '-e', bareFastify], {}));
  console.log(
    `first 200: ${service.toFixed(0)} ms, bare Fastify ${bare.toFixed(0)} ms, ${(service - bare).toFixed(0)} ms more`,
  );
  const idle = await spawnService(directory);
  await sleep(10_000);
  console.log(`idle memory of ${serverBin}: ${(await residentMegabytes(idle.child.pid ?? 0)).toFixed(0)} MB`);
  await idle.stop();
}
