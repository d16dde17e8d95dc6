import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { recordEvent } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { isUniqueViolation } from '../platform/database/unavailable.ts';
import { rewriteKeptTag, takeTurn, wouldRewrite } from './rewrite.ts';
import { startRun } from './run.ts';

/** Tags per transaction. */
const BATCH = 1000;

interface Merged {
  from: string;
  to: string;
}

/** Merges a tag into the one whose spelling it varies; a job changes posts and assets (TAG-7). */
async function mergeInto(tx: Tx, from: string, to: string): Promise<void> {
  const counts = await wouldRewrite(tx, from);
  const total = counts.posts + counts.assets;
  const rewritten = await rewriteKeptTag(tx, from, to, counts);
  if (total > 0) await startRun(tx, { source: from, target: to, total });
  await recordEvent(tx, null, {
    event: 'tag.merged',
    metadata: { from, to, reason: 'same_name', ...rewritten },
  });
}

/** Fills in the keys of the next tags without one, and returns those that were merged. */
async function fillBatch(tx: Tx): Promise<Merged[]> {
  await takeTurn(tx);
  const { rows } = await sql<{ name: string }>`select name from tags where key is null
    order by name limit ${BATCH} for no key update`.execute(tx);
  const known = await sql<{ key: string; name: string }>`select key, name from tags
    where key = any(${rows.map(({ name }) => foldName(name))}::text[])`.execute(tx);
  const holders = new Map(known.rows.map(({ key, name }) => [key, name]));
  const merged: Merged[] = [];
  const kept: string[] = [];
  for (const { name } of rows) {
    const to = holders.get(foldName(name));
    if (to !== undefined) {
      merged.push({ from: name, to });
      continue;
    }
    holders.set(foldName(name), name);
    kept.push(name);
  }
  await sql`update tags t set key = n.key from unnest(${kept}::text[], ${kept.map(foldName)}::text[]) as n (name, key)
    where t.name = n.name collate "C"`.execute(tx);
  for (const { from, to } of merged) await mergeInto(tx, from, to);
  return merged;
}

/** Somebody has just registered the same tag: the batch is done again. */
function unlessTaken(error: unknown): Merged[] {
  if (isUniqueViolation(error)) return [];
  throw error;
}

async function hasTagWithoutKey(db: Database): Promise<boolean> {
  return (await sql`select from tags where key is null limit 1`.execute(db)).rows.length > 0;
}

/**
 * Gives every tag the key by which it is found (NAME-4): at an upgrade all, later those that a process of an earlier
 * version registered. Of tags with the same key the first by name stays; the others are merged into it and logged.
 */
export async function keepTagKeys({ db, log }: Pick<Deps, 'db' | 'log'>): Promise<void> {
  while (await hasTagWithoutKey(db)) {
    const merged = await db
      .transaction()
      .execute((tx) => fillBatch(tx))
      .catch(unlessTaken);
    for (const tag of merged)
      log.warn(tag, 'merged a tag into the one that has its name in another spelling');
  }
}
