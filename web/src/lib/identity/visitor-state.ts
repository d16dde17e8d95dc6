import { error } from '@sveltejs/kit';
import { CancelledError, queryOptions } from '@tanstack/svelte-query';
import { CallError } from '@vitrine/contract/client';
import type { SessionUser } from '@vitrine/contract/identity';
import type { VisitorState } from '@vitrine/contract/page-gate';
import { followLanguage } from '#lib/languages/follow.ts';
import { refusePage } from '#lib/page-problems.ts';
import { browserLayout } from '#lib/posts/layouts.ts';
import type { Layout } from '#lib/posts/sheet.ts';
import { problemText } from '#lib/problems.ts';
import type { Service } from '#lib/service.ts';
import { invalidate } from '$app/navigation';
import type { TeamCapabilities } from './allowance.ts';
import { type Appearance, askPageState, type PageState as FrontState } from './page-state.ts';

type PageState = FrontState & { browserLayout: Layout | '' };

/** Returns the signed-in user and the presentation of the library, cached until the cache is cleared. */
export async function readPageState(service: Service): Promise<PageState> {
  try {
    return await fetchPageState(service);
  } catch (failure) {
    // A concurrent response showed that the session has ended, and pending reads were discarded.
    if (failure instanceof CancelledError) return readPageState(service);
    // A library that waits for set-up refuses unknown host names. The error page says so.
    if (failure instanceof CallError && failure.status === 403) {
      error(403, problemText(failure), { heading: 'Not at this address' });
    }
    refusePage(failure);
  }
}

function fetchPageState({ client, queries }: Service): Promise<PageState> {
  return queries.fetchQuery({
    queryKey: ['visitor-state'],
    // The error page explains the problem and retries. Without it the page would stay empty.
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    queryFn: async () => ({ ...(await askPageState(client)), browserLayout: browserLayout() }),
  });
}

/** Reloads the signed-in user and updates every page. Rejects with CallError, with 401 if no one is signed in. */
export async function refreshUser({ client, queries }: Service): Promise<void> {
  const user = await client.call('getSessionUser');
  followLanguage(user.language);
  queries.setQueryData<VisitorState & { appearance: Appearance }>(['visitor-state'], (before) =>
    before === undefined ? undefined : { ...before, user },
  );
  await invalidate('vitrine:visitor-state');
}

/**
 * Returns the signed-in user, or null for a visitor. Pages are re-created for another caller, so the value stays
 * valid.
 */
export function viewerIn({ queries }: Service): SessionUser | null {
  return queries.getQueryData<VisitorState>(['visitor-state'])?.user ?? null;
}

/** Loaded only where team content is shown to a user who could not change it otherwise. */
export function teamCapabilitiesQuery({ client }: Service) {
  return queryOptions<TeamCapabilities>({
    queryKey: ['team-capabilities'],
    staleTime: 300_000,
    queryFn: async ({ signal }) =>
      (await client.call('getMyCapabilities', { signal })).team_capabilities ?? [],
  });
}
