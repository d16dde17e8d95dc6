import type { SessionUser } from './identity.ts';

/** The state that decides which pages a visitor may open. */
export interface VisitorState {
  readonly needsSetup: boolean;
  /** Whether set-up asks for the code that the server printed at start. */
  readonly needsSetupCode: boolean;
  /** Whether accounts of a directory can sign in. */
  readonly hasDirectory: boolean;
  /** Whether a new password can be asked for by mail. */
  readonly resetsPasswords: boolean;
  /** Whether people may register. */
  readonly registers: boolean;
  readonly publicMode: boolean;
  readonly user: SessionUser | null;
}

/** The part of the state that redirects depend on. */
type Gate = Pick<VisitorState, 'needsSetup' | 'publicMode'> & {
  readonly user: Pick<SessionUser, 'required_step'> | null;
};

/**
 * Returns the address to open after sign-in, or the feed if it would lead to another site. `hash` is that of the sign-in page,
 * which browsers keep when the service redirects there.
 */
export function safeNext(next: string | null, origin: string, hash = ''): string {
  if (next === null || !next.startsWith('/')) return '/';
  const target = URL.parse(next, origin);
  // Without its dots, `/.//other.example` is the address of another site.
  const leavesSite = target === null || target.origin !== origin || target.pathname.startsWith('//');
  return leavesSite ? '/' : `${target.pathname}${target.search}${target.hash || hash}`;
}

function isOpenToVisitors(pathname: string): boolean {
  const isList = ['/', '/search', '/tags', '/collections', '/timeline', '/map', '/people'].includes(pathname);
  return isList || /^\/(posts|assets|users|tags|search|collections)\/./.test(pathname);
}

/** Returns whether a page is for people without a session: its address has a token, or it leads to an account. */
function isForStrangers(pathname: string): boolean {
  return /^\/((invite|reset|verify)\/.|(forgot-password|register)$)/.test(pathname);
}

/** Returns the address of a page that leads on to the wanted one; from the sign-in, to where that would lead. */
function addressWithNext(page: '/sign-in' | '/second-factor', url: URL, hash: string): string {
  const isSignIn = url.pathname === '/sign-in';
  const wanted = isSignIn
    ? safeNext(url.searchParams.get('next'), url.origin, hash)
    : `${url.pathname}${url.search}${hash}`;
  return wanted === '/' ? page : `${page}?next=${encodeURIComponent(wanted)}`;
}

/**
 * Returns the address to which a visitor is redirected, or undefined if they may stay. `hash` is passed separately
 * because the address being loaded does not include it.
 */
export function redirectFor(visitorState: Gate, url: URL, hash = ''): string | undefined {
  if (visitorState.needsSetup) return url.pathname === '/setup' ? undefined : '/setup';
  if (url.pathname === '/setup') return '/';
  const isAtStep = url.pathname === '/second-factor';
  if (visitorState.user?.required_step === 'second_factor')
    return isAtStep ? undefined : addressWithNext('/second-factor', url, hash);
  if (url.pathname === '/sign-in' || (isAtStep && visitorState.user !== null)) {
    return visitorState.user === null ? undefined : safeNext(url.searchParams.get('next'), url.origin, hash);
  }
  if (visitorState.user !== null || isForStrangers(url.pathname)) return undefined;
  return visitorState.publicMode && isOpenToVisitors(url.pathname)
    ? undefined
    : addressWithNext('/sign-in', url, hash);
}
