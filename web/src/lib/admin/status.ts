import type { SignInState, UserStatus } from '@vitrine/contract/users';

interface InWords {
  readonly label: string;
  /** The effect of the status on the account. */
  readonly explanation: string;
}

/** Labels and explanations of account statuses (USER-10). */
export const statusWords: Readonly<Record<UserStatus, InWords>> = {
  active: { label: 'Active', explanation: 'Can sign in.' },
  pending: { label: 'Pending', explanation: 'Waiting for approval. Cannot sign in until activated.' },
  disabled: {
    label: 'Disabled',
    explanation:
      'Blocked immediately, also where it is signed in; its posts stay. Its sessions work again once it is active, unless you end them.',
  },
  archived: {
    label: 'Archived',
    explanation: 'For people who have left. Blocked like a disabled account; its posts stay.',
  },
};

export const statuses: readonly UserStatus[] = ['active', 'pending', 'disabled', 'archived'];

/** Returns the filter of the list of accounts that a URL describes. */
export function readAccountFilter(search: Pick<URLSearchParams, 'get'>): {
  q: string;
  status: UserStatus | undefined;
  role: string | undefined;
} {
  const role = search.get('role') ?? undefined;
  return { q: search.get('q') ?? '', status: readStatus(search.get('status')), role };
}

/** Returns the status with this name, or undefined. */
function readStatus(text: string | null): UserStatus | undefined {
  return statuses.find((status) => status === text);
}

/** Why an account cannot sign in (USER-20). */
const obstacles: Readonly<Record<NonNullable<SignInState['obstacle']>, string>> = {
  no_password: 'No: it has no password yet',
  locked: 'Not now: locked after too many failures',
  expired: 'No: the account has expired',
  pending: 'No: it waits for approval',
  disabled: 'No: it is disabled',
  archived: 'No: it is archived',
};

/** Returns whether an account can sign in, and how or why not. */
export function signInWords({ by, obstacle }: SignInState): string {
  if (obstacle !== undefined) return obstacles[obstacle];
  const names = by.map((way) =>
    way === 'password' ? 'a password' : way === 'passkey' ? 'a passkey' : `“${way}”`,
  );
  return `Yes, with ${names.join(' or ')}`;
}
