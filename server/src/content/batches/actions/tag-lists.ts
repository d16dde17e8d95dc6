import { foldName } from '@vitrine/contract/names';
import { registerTags } from '../../../core/tag-register.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { sentence } from '../../../platform/language/sentence.ts';

/** Why an object that would get more tags is refused. */
export const tooManyTags = sentence('it would have too many tags');

/** Whether two lists without duplicates have the same elements. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}

/** Returns how former tags are spelled now (NAME-4): another spelling may have been registered since. */
export async function presentSpelling(tx: Tx, tags: readonly string[]): Promise<(tag: string) => string> {
  const names = new Map((await registerTags(tx, tags)).map((name) => [foldName(name), name]));
  return (tag) => names.get(foldName(tag)) ?? tag;
}
