import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { registerTags } from '../../../core/tag-register.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { sentence } from '../../../platform/language/sentence.ts';

/** Why an object that would get more tags is refused. */
export const tooManyTags = sentence('it would have too many tags');

/** Whether two lists without duplicates have the same elements. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}

/** Tags that an object had at a time. */
export interface FormerTags {
  readonly tags: readonly string[];
  readonly at: string;
}

interface Renaming {
  from: string;
  to: string;
  at: string;
}

/** Returns the renames and merges of tags since the oldest of these times, in their order. */
async function renamingsSince(tx: Tx, former: readonly FormerTags[]): Promise<readonly Renaming[]> {
  const { rows } = await sql<Renaming>`
    select metadata ->> 'from' as "from", metadata ->> 'to' as "to", occurred_at as at from audit_events
    where event in ('tag.renamed', 'tag.merged')
      and occurred_at > (select min(at) from unnest(${former.map(({ at }) => at)}::timestamptz[]) at)
    order by occurred_at`.execute(tx);
  return rows;
}

/**
 * Returns what former tags are called now: they may have been renamed or merged since (TAG-4), and be registered in
 * another spelling (NAME-4). The names are registered.
 */
export async function presentNames(
  tx: Tx,
  former: readonly FormerTags[],
): Promise<(former: FormerTags) => string[]> {
  const renamings = await renamingsSince(tx, former);
  const renamed = (tag: string, since: string) =>
    renamings.reduce(
      (name, { from, to, at }) =>
        Date.parse(at) > Date.parse(since) && foldName(name) === foldName(from) ? to : name,
      tag,
    );
  const namesOf = ({ tags, at }: FormerTags) => tags.map((tag) => renamed(tag, at));
  const registered = await registerTags(tx, former.flatMap(namesOf));
  const names = new Map(registered.map((name) => [foldName(name), name]));
  return (those) => namesOf(those).map((name) => names.get(foldName(name)) ?? name);
}
