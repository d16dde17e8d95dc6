import firstRoutes from 'virtual:first-routes';
import { focusManager, MutationCache, QueryCache, QueryClient } from '@tanstack/svelte-query';
import { CallError, type Client, createClient, type Route } from '@vitrine/contract/client';
import type { OperationId, Operations } from '@vitrine/contract/operations';
import { createContext } from 'svelte';
import { type Connection, watchConnection } from './connection.svelte.ts';
import { type BroughtAnswers, readFirstAnswers } from './first-answers.ts';

/** The dependencies of every page: the API client and its cached responses. */
export interface Service {
  readonly client: Client<Operations>;
  readonly queries: QueryClient;
  readonly connection: Connection;
  /** The answers that came with the page, which the service worker stores. */
  readonly brought: BroughtAnswers['all'];
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

/** How long a page uses the answers that came with it, in milliseconds. */
const KEEP_BROUGHT_MS = 10_000;

const known: Partial<Record<OperationId, Route>> = firstRoutes;

async function routeOf(id: OperationId): Promise<Route> {
  return known[id] ?? (await import('virtual:routes')).default[id];
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
  const brought = readFirstAnswers(document);
  // Reloads only queries without data, so that the page content stays.
  const connection = watchConnection(
    () => void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' }),
    brought,
  );
  setTimeout(brought.drop, KEEP_BROUGHT_MS);
  return {
    brought: brought.all,
    client: createClient<Operations>(routeOf, { baseUrl: '/api/v1', fetch: connection.fetch }),
    queries,
    connection,
  };
}
