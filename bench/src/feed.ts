import { deepStrictEqual } from 'node:assert';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { corpusDirectory, joinDatabase, READER, readerCookie, spawnServer, spawnService } from './library.ts';
import { type Load, load, median } from './load.ts';
import { referenceSql } from './reference-sql.ts';

const LIMIT = 24;
const ROUNDS = 3;

/**
 * Normalises a page for comparison: removes keys without a value and the differences between the two ways to write
 * UTC.
 */
function normalised(text: string): unknown {
  const { items }: { items: unknown } = JSON.parse(text.replaceAll('+00:00"', 'Z"'), (_, value) =>
    value === null ? undefined : value,
  );
  return items;
}

async function checkSamePage(
  service: string,
  headers: Record<string, string>,
  reference: string,
): Promise<void> {
  const [one, other] = await Promise.all([fetch(service, { headers }), fetch(reference)]);
  deepStrictEqual(normalised(await one.text()), normalised(await other.text()));
}

function summary(loads: readonly Load[]): Load {
  return {
    requestsPerSecond: median(loads.map((one) => one.requestsPerSecond)),
    p50: median(loads.map((one) => one.p50)),
    p95: median(loads.map((one) => one.p95)),
  };
}

/** Explains and stores the plan of the reference, whose parts match the service's three statements. */
async function keepPlan(directory: string, posts: number): Promise<void> {
  const database = joinDatabase(directory);
  const client = await database.pool.connect();
  const { rows } = await client.query(
    `explain (analyze, buffers, verbose off) ${referenceSql.replaceAll('$1', String(READER)).replaceAll('$2', String(LIMIT))}`,
  );
  client.release();
  await database.close();
  const plans = join(import.meta.dirname, '../plans');
  await mkdir(plans, { recursive: true });
  const lines = rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN']));
  await writeFile(join(plans, `reference-${posts}.txt`), `${lines.join('\n')}\n`);
}

interface Measured {
  posts: number;
  service: Load;
  reference: Load;
}

async function measure(posts: number, seconds: number): Promise<Measured> {
  const directory = await corpusDirectory(posts);
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const headers = { cookie: await readerCookie(database) };
  await database.close();
  const script = join(import.meta.dirname, 'reference-page.ts');
  const reference = await spawnServer([script, directory, referenceSql, JSON.stringify([READER, LIMIT])], {});
  try {
    const url = `${service.address}/api/v1/posts?limit=${LIMIT}`;
    await checkSamePage(url, headers, reference.address);
    await load(url, headers, 2);
    await load(reference.address, {}, 2);
    const services: Load[] = [];
    const references: Load[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      services.push(await load(url, headers, seconds));
      references.push(await load(reference.address, {}, seconds));
    }
    await keepPlan(directory, posts);
    return { posts, service: summary(services), reference: summary(references) };
  } finally {
    await reference.stop();
    await service.stop();
  }
}

/** `bench feed`: compares the signed-in feed page with the reference at each size in one run. */
export async function benchFeed(sizes: readonly number[], seconds: number): Promise<void> {
  const measured: Measured[] = [];
  for (const posts of sizes) measured.push(await measure(posts, seconds));
  console.log('\nposts      service req/s   reference req/s   ratio   service p95   reference p95');
  for (const { posts, service, reference } of measured) {
    const cells = [
      String(posts).padEnd(11),
      service.requestsPerSecond.toFixed(0).padEnd(16),
      reference.requestsPerSecond.toFixed(0).padEnd(18),
      (service.requestsPerSecond / reference.requestsPerSecond).toFixed(2).padEnd(8),
      `${service.p95.toFixed(1)} ms`.padEnd(14),
      `${reference.p95.toFixed(1)} ms`,
    ];
    console.log(cells.join(''));
  }
  const [first, last] = [measured[0], measured.at(-1)];
  if (first !== undefined && last !== undefined && first !== last) {
    console.log(
      `p95 at ${last.posts} posts is ${(last.service.p95 / first.service.p95).toFixed(2)} times that at ${first.posts}`,
    );
  }
}
