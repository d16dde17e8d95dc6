interface Page {
  readonly next_cursor: string | null;
}

/** The query parameters of one page of a list. */
export interface PageParams {
  readonly limit: number;
  readonly cursor?: string;
}

/** Page size of scrolling lists. */
const pageLength = 50;

/** TanStack options of a list with cursors. Its queries pass `pageParams(pageParam)`. */
export const byCursor = {
  initialPageParam: '',
  getNextPageParam: (page: Page): string | undefined => page.next_cursor ?? undefined,
};

/** Returns the query parameters of the page at `cursor`; an empty cursor is the first page. */
export function pageParams(cursor: string, limit = pageLength): PageParams {
  return cursor === '' ? { limit } : { limit, cursor };
}

/** Reads all items of a short list, page by page, but no further page once there are `most`. */
export async function readToEnd<T>(
  read: (params: PageParams) => Promise<Page & { readonly items: readonly T[] }>,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined = byCursor.initialPageParam;
  while (cursor !== undefined && items.length < most) {
    const page: Page & { readonly items: readonly T[] } = await read(pageParams(cursor, 200));
    items.push(...page.items);
    cursor = byCursor.getNextPageParam(page);
  }
  return items;
}
