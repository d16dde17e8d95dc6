import type { PostSelection } from '@vitrine/contract/batches';
import type { ReadKeys } from '#lib/selection/read-keys.ts';
import type { Selection } from '#lib/selection/selection.svelte.ts';

/** How the posts of a list are selected. */
export interface Selecting {
  readonly selection: Selection;
  /** Matches the same posts as the list; undefined if no query does. */
  readonly query?: PostSelection | undefined;
  /** Reads the ids of all posts of the list, for lists that no query matches. */
  readonly readKeys?: ReadKeys | undefined;
  /** The number of posts of the list, if known. */
  readonly total?: string | undefined;
  /** The collection whose page is open. */
  readonly collection?: string | undefined;
}
