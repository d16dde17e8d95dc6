import type { UserStatus } from '@vitrine/contract/users';

interface InWords {
  readonly label: string;
  /** What the status does to the account. */
  readonly explanation: string;
}

/** What an account's status means, in words (USER-10). */
export const statusWords: Readonly<Record<UserStatus, InWords>> = {
  active: { label: 'Active', explanation: 'May sign in.' },
  pending: { label: 'Pending', explanation: 'Waits to be let in. Cannot sign in until it is made active.' },
  disabled: {
    label: 'Disabled',
    explanation: 'Kept out. It is signed out everywhere at once and cannot sign in again; its posts stay.',
  },
  archived: {
    label: 'Archived',
    explanation: 'For people who have left. Kept out like a disabled account; its posts stay.',
  },
};

export const statuses: readonly UserStatus[] = ['active', 'pending', 'disabled', 'archived'];

/** The status of that name, or undefined when there is none. */
export function readStatus(text: string | null): UserStatus | undefined {
  return statuses.find((status) => status === text);
}
