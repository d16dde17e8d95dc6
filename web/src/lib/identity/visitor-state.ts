import { error } from '@sveltejs/kit';
import { CancelledError, queryOptions } from '@tanstack/svelte-query';
import { CallError } from '@vitrine/contract/client';
import type { SessionUser } from '@vitrine/contract/identity';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { Texts } from '@vitrine/contract/texts';
import { problemText } from '#lib/problems.ts';
import type { Service } from '#lib/service.ts';
import { invalidate } from '$app/navigation';
import type { TeamCapabilities } from './allowance.ts';
import type { VisitorState } from './gate.ts';

export type Appearance = AnswerOf<Operations['getAppearance']>;

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

/** Asks anew who is signed in and shows it on every page. Rejects with CallError, 401 when nobody is. */
export async function refreshUser({ client, queries }: Service): Promise<void> {
  const user = await client.call('getSessionUser');
  queries.setQueryData<VisitorState & { appearance: Appearance }>(['visitor-state'], (before) =>
    before === undefined ? undefined : { ...before, user },
  );
  await invalidate('vitrine:visitor-state');
}

/** Who looks on, null for a visitor. The pages are made anew for another caller, so it holds as long as they do. */
export function viewerIn({ queries }: Service): SessionUser | null {
  return queries.getQueryData<VisitorState>(['visitor-state'])?.user ?? null;
}

/** Asked for only where a thing of a team is shown to somebody who could not change it otherwise. */
export function teamCapabilitiesQuery({ client }: Service) {
  return queryOptions<TeamCapabilities>({
    queryKey: ['team-capabilities'],
    staleTime: 300_000,
    queryFn: async ({ signal }) =>
      (await client.call('getMyCapabilities', { signal })).team_capabilities ?? [],
  });
}
