import { sql } from 'kysely';
import { callersOf } from '../access/caller-of.ts';
import { readersOf } from '../access/posts.ts';
import type { Database } from '../platform/database/pool.ts';

/** More names than this in one text are not looked at. */
const MOST_NAMES = 30;

/** `@name`, or `@"name with blanks"`; not the middle of a mail address. */
const pattern = /(?<![\p{L}\p{N}_.@])@(?:"([^"\n]{1,100})"|([^\s@"]{1,100}))/gu;

/** Names a text mentions, in lower case; of `@anna.` both `anna.` and `anna`, for both may be names. */
export function mentionedNames(text: string): string[] {
  const names = new Set<string>();
  for (const [, quoted, bare] of text.matchAll(pattern)) {
    if (names.size >= MOST_NAMES) break;
    const name = (quoted ?? bare ?? '').toLowerCase();
    names.add(name);
    names.add(name.replace(/[^\p{L}\p{N}_]+$/u, ''));
    names.add(name.replace(/[^\p{L}\p{N}_.-].*$/su, ''));
  }
  names.delete('');
  return [...names];
}

/** Accounts a text mentions that read the post it belongs to: nobody learns of a post by its mentioning them. */
export async function mentionedReaders(db: Database, text: string, postId: string): Promise<number[]> {
  const names = mentionedNames(text);
  if (names.length === 0) return [];
  return readersOf(db, await callersOf(db, sql`lower(u.username) = any(${names})`, MOST_NAMES), postId);
}
