/** Returns a list with its first page only, which is then read again. Other data stays as it is. */
export function startedAgain(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('pages' in data) || !('pageParams' in data)) return data;
  const { pages, pageParams } = data;
  if (!Array.isArray(pages) || !Array.isArray(pageParams)) return data;
  return { ...data, pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) };
}

/** Returns whether the page itself reads the feed anew when it is pulled down: browsers of phones do, installed apps may not. */
export function refreshesItself(window: Pick<Window, 'matchMedia' | 'navigator'>): boolean {
  const isInstalled = ['standalone', 'minimal-ui', 'fullscreen'].some(
    (mode) => window.matchMedia(`(display-mode: ${mode})`).matches,
  );
  return isInstalled || !/Android|iP(?:hone|ad|od)|Macintosh/.test(window.navigator.userAgent);
}
