import type { Route } from '@vitrine/contract/client';
import { CallError, createClient } from '@vitrine/contract/client';
import type { BodyOf } from '@vitrine/contract/operation';
import type { OperationId, Operations } from '@vitrine/contract/operations';

export type Credentials = BodyOf<Operations['login']>;

/** How an attempt to sign in ended. */
export type SignInOutcome =
  | { readonly kind: 'signed in' }
  /** The password was right and the account has a second factor. */
  | { readonly kind: 'code wanted' }
  /** `wait` is in seconds, where the service says how long to hold off. */
  | {
      readonly kind: 'refused';
      readonly codeWrong: boolean;
      readonly wait: number | undefined;
      readonly error: unknown;
    };

/** Seconds of a Retry-After header; undefined when there is none or it is a date. */
export function secondsOf(retryAfter: string | null): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
}

/** A wait as people say it: "40 seconds", "2 minutes". */
export function waitInWords(seconds: number): string {
  if (seconds < 60) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}

/**
 * Signs in. It has a client of its own because a refusal here does not mean that a session ended, and because
 * only the header of a 429 says how long to wait.
 */
export async function signIn(
  routes: Record<OperationId, Route>,
  credentials: Credentials,
  send: typeof fetch = fetch,
): Promise<SignInOutcome> {
  let wait: number | undefined;
  const client = createClient<Operations>(routes, {
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
    const text = error instanceof CallError && error.status === 401 ? error.message : '';
    if (text === '2fa_required') return { kind: 'code wanted' };
    return { kind: 'refused', codeWrong: text === 'invalid_2fa_code', wait, error };
  }
}
