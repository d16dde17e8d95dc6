import { type ConnectionState, connectionWords } from './connection.svelte.ts';

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
