import type { Route } from '@vitrine/contract/client';
import { CallError, createClient } from '@vitrine/contract/client';
import type { BodyOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import { plural } from '#lib/languages/plural.ts';

export type Credentials = BodyOf<Operations['login']>;

/** The result of a sign-in attempt. */
export type SignInOutcome =
  | { readonly kind: 'signed in' }
  /** The password was correct, and the account has a second factor. */
  | { readonly kind: 'code wanted' }
  /** `wait` is in seconds, if the service requires a pause. */
  | {
      readonly kind: 'refused';
      readonly codeWrong: boolean;
      readonly wait: number | undefined;
      readonly error: unknown;
    };

/** Returns the seconds of a Retry-After header; undefined if it is missing or a date. */
export function secondsOf(retryAfter: string | null): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
}

/** Formats a duration for users: "40 seconds", "2 minutes". */
export function waitInWords(seconds: number): string {
  if (seconds < 60) return plural(seconds, ['a second', '# seconds']);
  return plural(Math.ceil(seconds / 60), ['a minute', '# minutes']);
}

/**
 * Signs in with a separate client, because a refusal here does not mean that a session ended, and because only the
 * header of a 429 contains the delay.
 */
export async function signIn(
  routes: Record<'login', Route>,
  credentials: Credentials,
  send: typeof fetch = fetch,
): Promise<SignInOutcome> {
  let wait: number | undefined;
  const client = createClient<Pick<Operations, 'login'>>(routes, {
    baseUrl: '/api/v1',
    fetch: async (address, init) => {
      const response = await send(address, init);
      if (response.status === 429) wait = secondsOf(response.headers.get('retry-after'));
      return response;
    },
  });
  try {
    await client.call('login', { body: credentials });
    return { kind: 'signed in' };
  } catch (error) {
    const code = error instanceof CallError ? error.code : null;
    if (code === 'two-factor-required') return { kind: 'code wanted' };
    return { kind: 'refused', codeWrong: code === 'two-factor-code-invalid', wait, error };
  }
}
