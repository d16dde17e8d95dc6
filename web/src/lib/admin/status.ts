import type { UserStatus } from '@vitrine/contract/users';

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
} {
  return { q: search.get('q') ?? '', status: readStatus(search.get('status')) };
}

/** Returns the status with this name, or undefined. */
function readStatus(text: string | null): UserStatus | undefined {
  return statuses.find((status) => status === text);
}
