import type { PostAuthor } from '@vitrine/contract/identity';
import type { Draft } from '#lib/fields/types/field-type.ts';
import type { Arrangement } from '#lib/posts/edit/file-order.ts';
import { newEdit, type PostEdit } from '#lib/posts/edit/post-edit.ts';

/** The version of what is stored. A later version ignores earlier ones. */
const VERSION = 1;

/** A new post that is not published or put aside yet, as this browser remembers it for an account. */
export interface UnfinishedPost {
  /** The draft in which it is stored, and when that was changed last; null before its first file. */
  readonly draft: string | null;
  readonly since: string | null;
  /** The form, also what is not stored in the draft yet. */
  readonly edit: PostEdit;
  /** The collection to which it will be added; empty for none. */
  readonly collection: string;
  /** With whom it will be shared once there is a draft. */
  readonly people: readonly PostAuthor[];
  /** The assets that were uploaded for it. */
  readonly uploaded: readonly string[];
  /** The names of files that are on their way. */
  readonly arriving: readonly string[];
  /** What was entered for fields of its files. */
  readonly fields: Readonly<Record<string, Draft>>;
  /** How its files are ordered. */
  readonly arrangement?: Arrangement | undefined;
}

type Memory = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const keyOf = (userRef: number) => `vitrine.new-post.${userRef}`;

/** Returns whether there is nothing to remember. */
function isBlank({ draft, edit, fields, people, arriving }: UnfinishedPost): boolean {
  const { team: _, ...rest } = edit;
  const { team: __, ...blank } = newEdit;
  const hasFields = Object.values(fields).some((entered) => entered.length > 0);
  return (
    draft === null &&
    !hasFields &&
    people.length + arriving.length === 0 &&
    JSON.stringify(rest) === JSON.stringify(blank)
  );
}

/** Remembers the unfinished post of an account. A browser without room forgets it; the draft is on the service. */
export function keepUnfinished(memory: Memory, userRef: number, post: UnfinishedPost): void {
  try {
    if (isBlank(post)) memory.removeItem(keyOf(userRef));
    else memory.setItem(keyOf(userRef), JSON.stringify({ version: VERSION, ...post }));
  } catch {
    // Storage is full or switched off.
  }
}

/** Returns the unfinished post of an account. */
export function readUnfinished(memory: Memory, userRef: number): UnfinishedPost | undefined {
  try {
    const stored: unknown = JSON.parse(memory.getItem(keyOf(userRef)) ?? 'null');
    if (typeof stored !== 'object' || stored === null || !('version' in stored)) return undefined;
    // This version wrote it.
    return stored.version === VERSION ? (stored as { version: 1 } & UnfinishedPost) : undefined;
  } catch {
    return undefined;
  }
}

/** Forgets the unfinished post of an account, when it is finished or the account signs out. */
export function forgetUnfinished(memory: Memory, userRef: number): void {
  try {
    memory.removeItem(keyOf(userRef));
  } catch {
    // Storage is switched off.
  }
}
