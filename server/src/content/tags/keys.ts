import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { type AuditEvent, recordEvents } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { isUniqueViolation } from '../../platform/database/unavailable.ts';
import { type Rows, rewriteAccounts, takeTurn, unregister, wouldRewriteEach } from './rewrite.ts';
import { startRun } from './run.ts';

/** Tags per transaction. */
const BATCH = 1000;

const NONE: Rows = { posts: 0, assets: 0, follows: 0, rails: 0, views: 0, searches: 0, collections: 0 };

interface Merged {
  from: string;
  to: string;
}

/** Merges tags into those whose spellings they vary; a job changes posts and assets (TAG-7). */
async function mergeAll(tx: Tx, merged: readonly Merged[]): Promise<void> {
  if (merged.length === 0) return;
  const counts = await wouldRewriteEach(
    tx,
    merged.map(({ from }) => from),
  );
  await unregister(tx, merged);
  const events: AuditEvent[] = [];
  for (const { from, to } of merged) {
    const rows = counts.get(from) ?? NONE;
    const { posts, assets, rails, views, searches, collections } = rows;
    // Follows are compared by key. Most spellings are in no other settings, and searching these for each would take hours.
    if (rails + views + searches + collections > 0) await rewriteAccounts(tx, from, to);
    if (posts + assets > 0) await startRun(tx, { source: from, target: to, total: posts + assets });
    const metadata = { from, to, reason: 'same_name', ...rows };
    events.push({ event: 'tag.merged', metadata });
  }
  await recordEvents(tx, null, events);
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
  await mergeAll(tx, merged);
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
