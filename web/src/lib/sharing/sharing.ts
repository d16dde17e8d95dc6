import type { PostAuthor } from '@vitrine/contract/identity';
import type { PageParams } from '#lib/paging.ts';

/** Somebody a thing is shared with. */
interface Share {
  readonly user_ref: number;
  readonly user?: PostAuthor;
}

/** How the people a thing is shared with are read and changed. */
export interface Sharing {
  /** The id of the thing. */
  readonly id: string;
  /** Whose it is, and what is said when it is shared with them. */
  readonly owner: { readonly ref: number; readonly refusal: string };
  read(
    turn: PageParams,
    signal: AbortSignal,
  ): Promise<{ readonly items: readonly Share[]; readonly next_cursor: string | null }>;
  add(person: PostAuthor): Promise<unknown>;
  remove(ref: number): Promise<unknown>;
}
