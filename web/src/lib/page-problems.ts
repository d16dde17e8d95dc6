import { error } from '@sveltejs/kit';
import { CallError } from '@vitrine/contract/client';
import { type ConnectionState, connectionWords } from './connection.svelte.ts';
import { problemText } from './problems.ts';

/** What the error page says about a subject that does not exist or is hidden from the caller, and where it leads. */
export interface MissingWords {
  readonly heading: string;
  readonly message: string;
  readonly back?: { readonly href: string; readonly label: string };
}

/** Returns whether an error means that the subject does not exist or is hidden, or that its address cannot be one. */
export function isMissing(failure: unknown): boolean {
  return failure instanceof CallError && (failure.status === 404 || failure.status === 400);
}

/** Ends a `load` with the error page. `missing` has the words for a subject that cannot be found. */
export function refusePage(failure: unknown, missing?: MissingWords): never {
  if (missing !== undefined && isMissing(failure)) {
    const { message, ...words } = missing;
    error(404, message, words);
  }
  // `fetch` rejects with a TypeError without a response. Anything else is a mistake of the app.
  if (!(failure instanceof CallError) && !(failure instanceof TypeError)) throw failure;
  error(failure instanceof CallError ? failure.status : 503, problemText(failure), {});
}

const headings: Readonly<Record<number, string>> = {
  401: 'Sign in to see this page',
  403: 'You do not have access to this page',
  404: 'This page does not exist',
  429: 'Too many requests',
  503: 'The library cannot be reached',
};

/** Returns the heading of the error page, which is also its title. */
export function problemHeading(status: number, problem: App.Error): string {
  return problem.heading ?? headings[status] ?? 'The page could not be loaded';
}

/** Returns the text below the heading. */
export function problemWords(
  status: number,
  problem: App.Error,
  state: ConnectionState,
  secondsLeft: number,
): string {
  if (problem.heading !== undefined) return problem.message;
  if (status === 403) return 'An administrator can give you access.';
  if (status === 404) return 'The address may be mistyped.';
  if (status === 503) return 'The server may be starting. This page tries again by itself.';
  if (status === 429 && state !== 'ok') return connectionWords(state, secondsLeft);
  return problem.message;
}
