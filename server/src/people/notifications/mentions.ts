import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { callersOf } from '../../access/caller-of.ts';
import { readersOf } from '../../access/posts.ts';
import type { Database } from '../../platform/database/pool.ts';

/** Maximum number of different mentions in a text (NOTICE-4). */
const MOST_MENTIONS = 30;

/** `@name`, or `@"name with spaces"`; not the domain of a mail address. */
const pattern = /(?<![\p{L}\p{M}\p{N}_.@])@(?:"([^"\n]{1,100})"|([^\s@"]{1,100}))/gu;

/**
 * Returns the folded names (NAME-1) that a text mentions; `@anna.` yields both `anna.` and `anna`, since both may be
 * names.
 */
function mentionedNames(text: string): string[] {
  const mentions = new Set<string>();
  for (const [, quoted, bare] of text.matchAll(pattern)) {
    if (mentions.size >= MOST_MENTIONS) break;
    mentions.add(foldName(quoted ?? bare ?? ''));
  }
  const names = new Set<string>();
  for (const name of mentions) {
    names.add(name);
    names.add(name.replace(/[^\p{L}\p{M}\p{N}_]+$/u, ''));
    names.add(name.replace(/[^\p{L}\p{M}\p{N}_.-].*$/su, ''));
  }
  names.delete('');
  return [...names];
}

/**
 * Returns the mentioned accounts that may read the post, so that a mention reveals no post. For comments, `among` also
 * admits those who read only its annotations (NOTICE-4).
 */
export async function mentionedReaders(
  db: Database,
  text: string,
  postId: string,
  among: typeof readersOf = readersOf,
): Promise<number[]> {
  const names = mentionedNames(text);
  if (names.length === 0) return [];
  return among(db, await callersOf(db, sql`u.username_key = any(${names})`, names.length), postId);
}
