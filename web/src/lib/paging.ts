interface Page {
  readonly next_cursor: string | null;
}

/** What a query says to turn a list's page. */
export interface Turn {
  readonly limit: number;
  readonly cursor?: string;
}

/** How many items a page that people scroll through has. */
const pageLength = 50;

/** How the pages of an infinite list follow one another; a query is asked with `turnTo(pageParam)`. */
export const byCursor = {
  initialPageParam: '',
  getNextPageParam: (page: Page): string | undefined => page.next_cursor ?? undefined,
};

/** The part of a query that asks for the page at a cursor; the first page has none. */
export function turnTo(cursor: string, limit = pageLength): Turn {
  return cursor === '' ? { limit } : { limit, cursor };
}

/** Every item of a short list, page after page. */
export async function readToEnd<T>(
  read: (turn: Turn) => Promise<Page & { readonly items: readonly T[] }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined = byCursor.initialPageParam;
  while (cursor !== undefined) {
    const page: Page & { readonly items: readonly T[] } = await read(turnTo(cursor, 200));
    items.push(...page.items);
    cursor = byCursor.getNextPageParam(page);
  }
  return items;
}
