import routes from 'virtual:routes';
import { error } from '@sveltejs/kit';
import { CancelledError, focusManager, MutationCache, QueryCache, QueryClient } from '@tanstack/svelte-query';
import { CallError, type Client, createClient } from '@vitrine/contract/client';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { Texts } from '@vitrine/contract/texts';
import { createContext } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { type Connection, watchConnection } from './connection.svelte.ts';
import type { VisitorState } from './identity/gate.ts';
import type { PendingLike } from './posts/like.svelte.ts';

export type Appearance = AnswerOf<Operations['getAppearance']>;

/** What every page works with: the way to the API and what it answered so far. */
export interface Service {
  readonly client: Client<Operations>;
  readonly queries: QueryClient;
  readonly connection: Connection;
  /** Likes that were pressed and are not confirmed yet, by `Likable.key`. */
  readonly pendingLikes: Map<string, PendingLike>;
}

export const [getService, setService] = createContext<Service>();

/** Whether asking again could help: a refusal stays a refusal. */
function isWorthRetrying(failures: number, error: Error): boolean {
  if (error instanceof CallError && error.status < 500 && error.status !== 429) return false;
  return failures < 2;
}

/** Asks again when the service says it may be asked, otherwise soon and then later. */
function retryDelay(failures: number, error: Error): number {
  const told = error instanceof CallError ? error.retryAfterSeconds : null;
  return told === null ? Math.min(1000 * 2 ** failures, 30_000) : told * 1000;
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
    pendingLikes: new SvelteMap(),
  };
}

type PageState = VisitorState & { appearance: Appearance; texts: Texts };

/** Who is signed in and how the library presents itself; cached until the cache is cleared. */
export async function readPageState(service: Service): Promise<PageState> {
  try {
    return await fetchPageState(service);
  } catch (failure) {
    // Another answer told meanwhile that the session has ended, and all that was being read was forgotten.
    if (failure instanceof CancelledError) return readPageState(service);
    // A library that waits for its set-up refuses names it does not know. The error page says so.
    if (failure instanceof CallError && failure.status === 403) error(403, problemText(failure));
    throw failure;
  }
}

function fetchPageState({ client, queries }: Service): Promise<PageState> {
  return queries.fetchQuery({
    queryKey: ['visitor-state'],
    // The error page says what is wrong and tries again; until then there would be nothing to see.
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const nobody = (error: unknown) => {
        if (error instanceof CallError && error.status === 401) return null;
        throw error;
      };
      const [setup, user, appearance] = await Promise.all([
        client.call('getSetupStatus'),
        client.call('getSessionUser').catch(nobody),
        client.call('getAppearance'),
      ]);
      return {
        needsSetup: setup.needs_setup,
        needsSetupCode: setup.code_required === true,
        publicMode: appearance.public_mode_enabled,
        user,
        appearance,
        // Without the operator's words the page has its own.
        texts: appearance.texts ?? {},
      };
    },
  });
}

/** Whether what went wrong says nothing of what was asked for: the connection, the server, or too much at once. */
export function isOfTheServer(error: unknown): boolean {
  return !(error instanceof CallError) || error.status === 0 || error.status === 429 || error.status >= 500;
}

/** What the server says of itself, which is of no use to people. */
const plainly: Readonly<Record<string, string>> = {
  'server error': 'Something went wrong on the server. Try again in a moment.',
  'too many requests': 'That was a lot in a short time. Wait a moment, then try again.',
};

/** What went wrong, in the server's words where it has any. */
export function problemText(error: unknown): string {
  const known = error instanceof CallError ? plainly[error.message] : undefined;
  if (known !== undefined) return known;
  if (error instanceof CallError && error.message !== '') return sentence(error.message);
  return 'The server cannot be reached. Check the connection and try again.';
}

function sentence(text: string): string {
  const [first = '', ...rest] = text;
  const written = first.toLocaleUpperCase() + rest.join('');
  return /[.!?]$/.test(written) ? written : `${written}.`;
}
