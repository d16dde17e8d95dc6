import type { PageParams } from '#lib/paging.ts';

/** Reads a page of a list. Returns the keys of its items that can be selected. */
export type ReadKeys = (
  page: PageParams,
) => Promise<{ readonly items: readonly string[]; readonly next_cursor: string | null }>;
