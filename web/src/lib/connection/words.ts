import type { ConnectionState } from './connection.svelte.ts';

/** What the page says while it cannot load; empty while it can. */
export function connectionWords(state: ConnectionState, secondsLeft: number): string {
  if (state === 'limited') return `Too many requests. Trying again in ${secondsLeft} s.`;
  return state === 'lost' ? 'The connection to the library is lost. Trying again…' : '';
}
