import routes from 'virtual:routes';
import { focusManager, MutationCache, QueryCache, QueryClient } from '@tanstack/svelte-query';
import { CallError, type Client, createClient } from '@vitrine/contract/client';
import type { Operations } from '@vitrine/contract/operations';
import { createContext } from 'svelte';
import { type Connection, watchConnection } from './connection.svelte.ts';

/** What every page works with: the way to the API and what it answered so far. */
export interface Service {
  readonly client: Client<Operations>;
  readonly queries: QueryClient;
  readonly connection: Connection;
}

export const [getService, setService] = createContext<Service>();

/** Whether asking again could help: a refusal stays a refusal. */
function isWorthRetrying(failures: number, error: Error): boolean {
  if (error instanceof CallError && error.status < 500 && error.status !== 429) return false;
  return failures < 2;
}

/** Asks again when the service says it may be asked, otherwise soon and then later. */
function retryDelay(failures: number, error: Error): number {
  const seconds = error instanceof CallError ? error.retryAfterSeconds : null;
  return seconds === null ? Math.min(1000 * 2 ** failures, 30_000) : seconds * 1000;
}

/** The service over the API of this origin. `onSignedOut` runs when an answer says the session has ended. */
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
  // The library hears of tabs that are turned to; a window beside others that is clicked is come back to as well.
  focusManager.setEventListener((comeBack) => {
    const heard = () => comeBack();
    document.addEventListener('visibilitychange', heard);
    window.addEventListener('focus', heard);
    return () => {
      document.removeEventListener('visibilitychange', heard);
      window.removeEventListener('focus', heard);
    };
  });
  // What is on the page stays there; what could not be loaded is loaded again.
  const connection = watchConnection(
    () => void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' }),
  );
  return {
    client: createClient<Operations>(routes, { baseUrl: '/api/v1', fetch: connection.fetch }),
    queries,
    connection,
  };
}
