import routes from 'virtual:routes';
import { focusManager, MutationCache, QueryCache, QueryClient } from '@tanstack/svelte-query';
import { CallError, type Client, createClient } from '@vitrine/contract/client';
import type { Operations } from '@vitrine/contract/operations';
import { createContext } from 'svelte';
import { type Connection, watchConnection } from './connection.svelte.ts';

/** The dependencies of every page: the API client and its cached responses. */
export interface Service {
  readonly client: Client<Operations>;
  readonly queries: QueryClient;
  readonly connection: Connection;
}

export const [getService, setService] = createContext<Service>();

/** `staleTime` of queries that are read at every visit: longer than from the `load` of their page to its rendering. */
export const readAtEveryVisit = 1_000;

/** Returns whether a retry could succeed. Refused requests are not retried. */
function isWorthRetrying(failures: number, error: Error): boolean {
  if (error instanceof CallError && error.status < 500 && error.status !== 429) return false;
  return failures < 2;
}

/** Returns the delay before a retry: that of `Retry-After`, otherwise increasing. */
function retryDelay(failures: number, error: Error): number {
  const seconds = error instanceof CallError ? error.retryAfterSeconds : null;
  return seconds === null ? Math.min(1000 * 2 ** failures, 30_000) : seconds * 1000;
}

/**
 * Creates the service for the API of this origin. Calls `onSignedOut` when a response shows that the session has
 * ended.
 */
export function createService(onSignedOut: () => void): Service {
  const watch = (error: Error) => {
    if (error instanceof CallError && error.status === 401) onSignedOut();
  };
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: watch }),
    mutationCache: new MutationCache({ onError: watch }),
    defaultOptions: {
      queries: { staleTime: 30_000, refetchOnWindowFocus: false, retry: isWorthRetrying, retryDelay },
    },
  });
  // TanStack Query detects tabs that become visible. This also covers windows that regain the focus.
  focusManager.setEventListener((comeBack) => {
    const heard = () => comeBack();
    document.addEventListener('visibilitychange', heard);
    window.addEventListener('focus', heard);
    return () => {
      document.removeEventListener('visibilitychange', heard);
      window.removeEventListener('focus', heard);
    };
  });
  // Reloads only queries without data, so that the page content stays.
  const connection = watchConnection(
    () => void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' }),
  );
  return {
    client: createClient<Operations>(routes, { baseUrl: '/api/v1', fetch: connection.fetch }),
    queries,
    connection,
  };
}
