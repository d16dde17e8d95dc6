import type { SessionUser } from '@vitrine/contract/identity';

/** What decides which pages a visitor may open. */
export interface VisitorState {
  readonly needsSetup: boolean;
  /** Whether set-up asks for the code that was printed at the start. */
  readonly needsSetupCode: boolean;
  readonly publicMode: boolean;
  readonly user: SessionUser | null;
}

/** The address asked for after signing in, or the feed when it would lead to another site. */
export function safeNext(next: string | null, origin: string): string {
  if (next === null || !next.startsWith('/')) return '/';
  const target = URL.parse(next, origin);
  return target === null || target.origin !== origin
    ? '/'
    : `${target.pathname}${target.search}${target.hash}`;
}

function isOpenToVisitors(pathname: string): boolean {
  const isList = ['/', '/search', '/tags', '/collections'].includes(pathname);
  return isList || /^\/(posts|assets|users|tags|search|collections)\/./.test(pathname);
}

function signInAddress(url: URL, hash: string): string {
  const wanted = `${url.pathname}${url.search}${hash}`;
  return wanted === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(wanted)}`;
}

/**
 * Where a visitor is sent instead of the page they asked for; undefined when they may stay. `hash`: the place on it,
 * which an address that is being loaded does not tell.
 */
export function redirectFor(visitorState: VisitorState, url: URL, hash = ''): string | undefined {
  if (visitorState.needsSetup) return url.pathname === '/setup' ? undefined : '/setup';
  if (url.pathname === '/setup') return '/';
  if (url.pathname === '/sign-in') {
    return visitorState.user === null ? undefined : safeNext(url.searchParams.get('next'), url.origin);
  }
  if (visitorState.user !== null) return undefined;
  return visitorState.publicMode && isOpenToVisitors(url.pathname) ? undefined : signInAddress(url, hash);
}

/** Up to two letters that stand for a person. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  );
  return letters.join('').toLocaleUpperCase();
}
