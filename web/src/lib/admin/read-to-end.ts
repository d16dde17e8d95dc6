interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** What a short list needs to be read whole: the part of the query that turns the page. */
export interface Turn {
  readonly limit: number;
  readonly cursor?: string;
}

/** Every item of a list, page after page, or up to the first one that `isLast` accepts. */
export async function readToEnd<T>(
  read: (turn: Turn) => Promise<Page<T>>,
  isLast: (item: T) => boolean = () => false,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read(cursor === null ? { limit: 200 } : { limit: 200, cursor });
    items.push(...page.items);
    if (page.items.some(isLast)) break;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}
