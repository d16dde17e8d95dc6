import { startSession } from '@vitrine/server/sessions';
import type pg from 'pg';
import { fillCorpus } from './corpus.ts';
import { joinDatabase, keptLibrary, spawnService } from './library.ts';
import { type Load, load } from './load.ts';

const ASSETS = 50_000;
/** A member who owns 50,000 assets. */
const OWNER = 42;

async function fill(pool: pg.Pool): Promise<void> {
  await fillCorpus(pool, { posts: ASSETS }, console.log);
  const { rowCount } = await pool.query(
    `update assets set owner_user_ref = $1 where id in (select id from assets order by id limit $2)`,
    [OWNER, ASSETS],
  );
  console.log(`${rowCount} assets belong to one member`);
  await pool.query('vacuum analyze');
}

interface Batch {
  state: string;
  changed: number;
  total: number;
}

/** Calls the service as the owner, on the address of its pages. */
function callerOf(address: string, cookie: string) {
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: { cookie, origin: address, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    // The shapes are those of the contract.
    return JSON.parse(text) as T;
  };
}

const seconds = (began: number) => (performance.now() - began) / 1000;

/** Waits until a batch has ended; returns how long it took. */
async function ended(call: ReturnType<typeof callerOf>, id: string, began: number): Promise<number> {
  for (;;) {
    const { state, changed, total } = await call<Batch>('GET', `/jobs/${id}`);
    if (state === 'done') {
      if (changed !== total) throw new Error(`only ${changed} of ${total} were changed`);
      return seconds(began);
    }
    if (state !== 'queued' && state !== 'running') throw new Error(`the batch is ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/**
 * `bench batches`: adds a tag to 50,000 assets while somebody reads the feed, and undoes it. Prints the time of the dry
 * run and of both batches, and the feed's p95 before and meanwhile.
 */
export async function benchBatches(secondsOfLoad: number): Promise<void> {
  const directory = await keptLibrary(`batches-${ASSETS}`, fill);
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const session = { userRef: OWNER, days: 1, address: '', userAgent: 'bench' };
  const cookie = `user=${(await startSession(database.db, session)).token}`;
  await database.close();
  try {
    const call = callerOf(service.address, cookie);
    const feed = `${service.address}/api/v1/posts?limit=24`;
    const read = () => load(feed, { cookie }, secondsOfLoad, { connections: 2 });
    const chosen = { query: { owner_ref: OWNER }, action: { kind: 'add_tags', tags: ['bench'] } };
    await load(feed, { cookie }, 2, { connections: 2 });

    const counting = performance.now();
    const counted = await call<{ total: number }>('GET', `/assets/count?owner_ref=${OWNER}`);
    const countTook = seconds(counting);
    const previewing = performance.now();
    const preview = await call<{ changes: number }>('POST', '/assets/batch', { ...chosen, dry_run: true });
    const previewTook = seconds(previewing);
    const before = await read();

    const began = performance.now();
    const { job_id } = await call<{ job_id: string }>('POST', '/assets/batch', chosen);
    const meanwhile: Load[] = [];
    let isOver = false;
    const took = ended(call, job_id, began).finally(() => {
      isOver = true;
    });
    while (!isOver) meanwhile.push(await read());
    const tagged = await took;
    const undoing = performance.now();
    const undo = await call<{ job_id: string }>('POST', `/jobs/${job_id}/undo`);
    const undone = await ended(call, undo.job_id, undoing);

    const p95 = Math.max(...meanwhile.map((one) => one.p95));
    console.log(`\ncount of ${counted.total}: ${countTook.toFixed(2)} s`);
    console.log(`dry run of ${preview.changes}: ${previewTook.toFixed(2)} s`);
    console.log(`a tag for ${preview.changes}: ${tagged.toFixed(1)} s, undone in ${undone.toFixed(1)} s`);
    console.log(
      `feed p95: ${before.p95.toFixed(1)} ms before, ${p95.toFixed(1)} ms meanwhile (${(p95 / before.p95).toFixed(2)} times)`,
    );
  } finally {
    await service.stop();
  }
}
