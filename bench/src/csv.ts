import { startSession } from '@vitrine/server/sessions';
import { ASSETS, largeLibrary, OWNER } from './large-library.ts';
import { joinDatabase, spawnService } from './library.ts';
import { peakMemory } from './peak-memory.ts';
import { treeProcessorSeconds } from './processor-time.ts';

const seconds = (began: number) => (performance.now() - began) / 1000;

/** Requests a small page without pause until `work` ends; returns the slowest and the 99th percentile in milliseconds. */
async function whileReading<T>(address: string, headers: Record<string, string>, work: Promise<T>) {
  const waits: number[] = [];
  let isOver = false;
  const result = work.finally(() => {
    isOver = true;
  });
  const reading = (async () => {
    while (!isOver) {
      const began = performance.now();
      await (await fetch(`${address}/api/v1/auth/me`, { headers })).arrayBuffer();
      waits.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const done = await result;
  await reading;
  waits.sort((a, b) => a - b);
  return { done, slowest: waits.at(-1) ?? 0, p99: waits[Math.floor(waits.length * 0.99)] ?? 0 };
}

/**
 * `bench csv`: exports the metadata of 100,000 files, and previews imports: of the same file, of one in which a column
 * differs in every row, and of a million rows. Prints times, processor time, memory and the wait of other requests meanwhile.
 */
export async function benchCsv(): Promise<void> {
  const directory = await largeLibrary();
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const session = { userRef: OWNER, days: 1, address: '', userAgent: 'bench' };
  const headers = {
    cookie: `user=${(await startSession(database.db, session)).token}`,
    origin: service.address,
  };
  await database.close();
  const pid = service.child.pid ?? 0;

  async function measured<T>(what: string, work: () => Promise<T>): Promise<T> {
    const memory = await peakMemory(pid);
    const used = await treeProcessorSeconds(pid);
    const began = performance.now();
    const { done, slowest, p99 } = await whileReading(service.address, headers, work());
    const took = seconds(began);
    const { before, growth } = await memory();
    const processor = (await treeProcessorSeconds(pid)) - used;
    console.log(
      `${what}: ${took.toFixed(1)} s, ${processor.toFixed(1)} s of processor time with PostgreSQL, ${growth} MB more than the ${before} before; others wait ${p99.toFixed(0)} ms (p99), ${slowest.toFixed(0)} ms (longest)`,
    );
    return done;
  }
  const send = async (csv: string, query = '') => {
    const body = new FormData();
    body.append('file', new Blob([csv]), 'metadata.csv');
    const response = await fetch(`${service.address}/api/v1/assets/import.csv?dry_run=true${query}`, {
      method: 'POST',
      headers,
      body,
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    // The shape is that of the contract.
    const { rows, change_count, refused_count } = JSON.parse(text) as Record<string, number>;
    return { rows, change_count, refused_count };
  };
  try {
    await fetch(`${service.address}/api/v1/auth/me`, { headers });
    const csv = await measured(`export of ${ASSETS}`, async () => {
      const response = await fetch(`${service.address}/api/v1/assets/export.csv`, { headers });
      return response.text();
    });
    console.log(`  ${csv.trimEnd().split('\n').length - 1} rows, ${(csv.length / 1e6).toFixed(1)} MB`);
    console.log(' ', await measured('dry run of the same file', () => send(csv)));
    const changed = csv.replaceAll('Client ', 'Customer ');
    console.log(' ', await measured('dry run with a change in every row', () => send(changed)));
    const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    const million = Array.from({ length: 1_000_000 }, (_, n) => `${id(n)},x`).join('\n');
    console.log(' ', await measured('dry run of 1,000,000 rows', () => send(`id,place\n${million}\n`)));
  } finally {
    await service.stop();
  }
}
