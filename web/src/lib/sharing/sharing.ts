import type { PostAuthor } from '@vitrine/contract/identity';
import type { PageParams } from '#lib/paging.ts';

/** An account with which content is shared. */
interface Share {
  readonly user_ref: number;
  readonly user?: PostAuthor;
}

/** Reads and changes the shares of some content. */
export interface Sharing {
  /** The id of the content. */
  readonly id: string;
  /** The owner, and the text shown when it is shared with them. */
  readonly owner: { readonly ref: number; readonly refusal: string };
  read(
    turn: PageParams,
    signal: AbortSignal,
  ): Promise<{ readonly items: readonly Share[]; readonly next_cursor: string | null }>;
  add(person: PostAuthor): Promise<unknown>;
  remove(ref: number): Promise<unknown>;
}
