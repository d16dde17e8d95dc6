import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { callersOf } from '../../access/caller-of.ts';
import { readersOf } from '../../access/posts.ts';
import type { Database } from '../../platform/database/pool.ts';

/** Maximum number of names looked up per text. */
const MOST_NAMES = 30;

/** `@name`, or `@"name with spaces"`; not the domain of a mail address. */
const pattern = /(?<![\p{L}\p{N}_.@])@(?:"([^"\n]{1,100})"|([^\s@"]{1,100}))/gu;

/**
 * Returns the folded names (NAME-1) that a text mentions; `@anna.` yields both `anna.` and `anna`, since both may be
 * names.
 */
function mentionedNames(text: string): string[] {
  const names = new Set<string>();
  for (const [, quoted, bare] of text.matchAll(pattern)) {
    if (names.size >= MOST_NAMES) break;
    const name = foldName(quoted ?? bare ?? '');
    names.add(name);
    names.add(name.replace(/[^\p{L}\p{N}_]+$/u, ''));
    names.add(name.replace(/[^\p{L}\p{N}_.-].*$/su, ''));
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
  return among(db, await callersOf(db, sql`u.username_key = any(${names})`, MOST_NAMES), postId);
}
