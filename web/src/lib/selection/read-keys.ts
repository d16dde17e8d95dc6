import type { PageParams } from '#lib/paging.ts';

/** Reads a page of a list as the keys by which its items are chosen, without those that cannot be. */
export type ReadKeys = (
  page: PageParams,
) => Promise<{ readonly items: readonly string[]; readonly next_cursor: string | null }>;
