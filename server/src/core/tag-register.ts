import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Database, Tx } from '../platform/database/pool.ts';

/** Returns the registered spelling of each of these tags that has one, by key. */
async function registered(db: Database, keys: Iterable<string>): Promise<Map<string, string>> {
  const { rows } = await sql<{ key: string; name: string }>`select key, name from tags
    where key = any(${[...keys]}::text[])`.execute(db);
  return new Map(rows.map(({ key, name }) => [key, name]));
}

/** Returns the tags by key, each in the spelling that comes first. */
function byKey(tags: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const tag of tags) if (!found.has(foldName(tag))) found.set(foldName(tag), tag);
  return found;
}

const spelled = (given: ReadonlyMap<string, string>, known: ReadonlyMap<string, string>) =>
  [...given].map(([key, tag]) => known.get(key) ?? tag);

/**
 * Returns these tags as posts and assets spell them (NAME-4), without duplicates, and unknown ones as given. Every
 * tag that a caller names passes through this or through `registerTags`, so that all queries may compare exactly.
 */
export async function storedTags(db: Database, tags: readonly string[]): Promise<string[]> {
  const given = byKey(tags);
  return given.size === 0 ? [] : spelled(given, await registered(db, given.keys()));
}

/** Returns one tag as posts and assets spell it. */
export async function storedTag(db: Database, tag: string): Promise<string> {
  return (await storedTags(db, [tag]))[0] ?? tag;
}

/**
 * Returns the tags as they are to be stored, without duplicates: in the registered spelling, or as given and then
 * registered. In the order of keys, so that two writers of the same new tags cannot deadlock.
 */
export async function registerTags(tx: Tx, tags: readonly string[]): Promise<string[]> {
  const given = byKey(tags);
  if (given.size === 0) return [];
  const known = await registered(tx, given.keys());
  const made = [...given].filter(([key]) => !known.has(key)).sort(([a], [b]) => (a < b ? -1 : 1));
  if (made.length === 0) return spelled(given, known);
  await sql`insert into tags (name, key)
    select * from unnest(${made.map(([, tag]) => tag)}::text[], ${made.map(([key]) => key)}::text[])
    on conflict do nothing`.execute(tx);
  // Another writer may have registered a different spelling meanwhile.
  return spelled(given, await registered(tx, given.keys()));
}
