import { createHash } from 'node:crypto';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@vitrine/contract/client';
import type { Operations } from '@vitrine/contract/operations';
import type { Acknowledged } from './journal.ts';
import { type Place, pathsBelow } from './place.ts';
import { fetchOriginal } from './traffic.ts';

const DRAINED_WITHIN_MS = 180_000;

/** Waits until no job is left. Returns a description of the jobs left after three minutes or failed permanently. */
export async function drainJobs(place: Place): Promise<string[]> {
  const until = Date.now() + DRAINED_WITHIN_MS;
  for (;;) {
    const left = await place.query<{ name: string; attempts: number; last_error: string | null }>(
      `select t.identifier as name, j.attempts, j.last_error from graphile_worker._private_jobs j
       join graphile_worker._private_tasks t on t.id = j.task_id`,
    );
    if (left.length === 0) return [];
    if (Date.now() > until)
      return left.map(
        ({ name, attempts, last_error }) => `job ${name} after ${attempts} tries: ${last_error}`,
      );
    // Failed jobs wait longer before each attempt; the drill does not wait.
    await place.query(
      'update graphile_worker._private_jobs set run_at = now() where run_at > now() and locked_at is null',
    );
    await sleep(250);
  }
}

/** Returns how an acknowledged write differs from its acknowledgement, or null. */
async function missing(
  place: Place,
  client: Client<Operations>,
  cookie: string,
  entry: Acknowledged,
): Promise<string | null> {
  try {
    switch (entry.kind) {
      case 'asset': {
        await client.call('getAsset', { params: { id: entry.id } });
        const bytes = await fetchOriginal(place, cookie, entry.id);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return sha256 === entry.sha256 ? null : `asset ${entry.id}: ${bytes.length} other bytes`;
      }
      case 'post': {
        const post = await client.call('getPost', { params: { id: entry.id } });
        const members = post.members.map(({ asset_id }) => asset_id);
        const isSame = post.title === entry.title && JSON.stringify(members) === JSON.stringify(entry.assets);
        return isSame ? null : `post ${entry.id}: ${post.title} of ${members}`;
      }
      case 'comment': {
        const { items } = await client.call('listComments', { params: { id: entry.post } });
        const found = items.find(({ id }) => id === entry.id);
        return found?.body === entry.body ? null : `comment ${entry.id}: ${found?.body ?? 'none'}`;
      }
      case 'like': {
        const { liked, like_count } = await client.call('getLike', { params: { id: entry.post } });
        return liked && like_count === 1 ? null : `like of ${entry.post}: ${liked}, ${like_count}`;
      }
    }
  } catch (error) {
    return `${entry.kind} ${'id' in entry ? entry.id : entry.post}: ${String(error)}`;
  }
}

/** Returns descriptions of the acknowledged writes that cannot be read back as written. */
export async function findLost(
  place: Place,
  client: Client<Operations>,
  cookie: string,
  entries: readonly Acknowledged[],
): Promise<string[]> {
  const lost: string[] = [];
  for (const entry of entries) {
    const found = await missing(place, client, cookie, entry);
    if (found !== null) lost.push(found);
  }
  return lost;
}

/** Queries for the traces of incomplete writes. */
const halves: readonly [what: string, sql: string][] = [
  ['asset that is pending without a job', "select id::text from assets where processing_status <> 'ready'"],
  [
    'post without its member',
    'select id::text from posts p where not exists (select from post_members where post_id = p.id)',
  ],
  [
    'post with a wrong number of likes',
    'select id::text from posts p where like_count <> (select count(*) from post_likes where post_id = p.id)',
  ],
  [
    'post with a wrong number of comments',
    'select id::text from posts p where comment_count <> (select count(*) from comments where post_id = p.id)',
  ],
  [
    'file without an asset',
    'select hash as id from files f where not exists (select from assets where file_hash = f.hash)',
  ],
];

const originalKey = (hash: string) => `originals/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;

/** Returns the hash of each file and the keys of its renditions. */
function namedObjects(place: Place): Promise<{ hash: string; names: string[] }[]> {
  return place.query(
    "select hash, array(select r.value ->> 'object' from jsonb_each(renditions) r) as names from files",
  );
}

/**
 * Returns the traces of incomplete writes: rows that are inconsistent, and rows or files without their counterpart.
 */
export async function findHalves(place: Place): Promise<string[]> {
  const found: string[] = [];
  for (const [what, sql] of halves)
    for (const { id } of await place.query<{ id: string }>(sql)) found.push(`${what}: ${id}`);
  const stored = new Set(await place.objects());
  for (const { hash, names } of await namedObjects(place))
    for (const key of [originalKey(hash), ...names])
      if (!stored.has(key)) found.push(`row without its file: ${key}`);
  return found;
}

/**
 * Returns the unreferenced files that the nightly sweep leaves behind, and the stored objects that are missing or do not
 * have their hash. The modification time of local files is first set back by two days, because the sweep spares files of
 * recent uploads; in a bucket `vitrine storage gc` removes them without a grace time. Nothing may write meanwhile.
 */
export async function findLeftovers(place: Place): Promise<string[]> {
  const library = join(place.dataDir, 'library');
  const before = new Date(Date.now() - 2 * 24 * 3600 * 1000);
  for (const path of await pathsBelow(library, 'everything')) await utimes(path, before, before);
  await place.query("select graphile_worker.add_job('sweep', '{}'::json)");
  const stuck = await drainJobs(place);
  const removed = await place.run('storage', 'gc', '--grace', '0');
  const checked = await place.run('storage', 'check', '--content', '--grace', '0');
  const differences = checked.lines.filter((line) => /^(?:MISSING|WRONG|ORPHAN) /.test(line));
  for (const { exitCode, lines } of [removed, checked])
    if (exitCode !== 0) differences.push(`vitrine storage exits with ${exitCode}: ${lines.at(-1)}`);
  const rows = await namedObjects(place);
  const known = new Set(rows.flatMap(({ hash, names }) => [originalKey(hash), ...names]));
  const orphans = (await place.objects()).filter((key) => !known.has(key));
  const arriving = await pathsBelow(join(library, 'incoming'));
  const uploads = await place.query<{ id: string }>('select id::text from uploads where used_at is null');
  const unfinished = new Set(uploads.map(({ id }) => id));
  const abandoned = (await pathsBelow(join(library, 'uploads'))).filter(
    (path) => !unfinished.has(path.slice(path.lastIndexOf('/') + 1)),
  );
  return [
    ...stuck,
    ...differences,
    ...[...orphans, ...arriving, ...abandoned].map((path) => `file without its row: ${path}`),
  ];
}
