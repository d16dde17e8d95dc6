interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** Returns the pages of a list in order. `read` returns the page that this part of a query selects. */
export async function pagesOf<T>(read: (from: { cursor?: string }) => Promise<Page<T>>): Promise<T[][]> {
  const pages: T[][] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read(cursor === null ? {} : { cursor });
    pages.push(page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return pages;
}
