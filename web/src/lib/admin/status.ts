import type { SignInState, UserStatus } from '@vitrine/contract/users';
import { listOf } from '#lib/languages/list.ts';
import { phrase } from '#lib/languages/phrase.ts';

interface InWords {
  readonly label: string;
  /** The effect of the status on the account. */
  readonly explanation: string;
}

/** Labels and explanations of account statuses (USER-10). */
export const statusWords: Readonly<Record<UserStatus, InWords>> = {
  active: { label: 'Active', explanation: 'Can sign in once it has a password, a passkey or a provider.' },
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

/** The filters of the list of accounts, as the service has them. */
export interface AccountFilter {
  readonly q?: string;
  readonly status?: UserStatus;
  /** The code of a role. */
  readonly role?: string;
  readonly team_id?: string;
  readonly provider?: string;
  readonly can_sign_in?: boolean;
  readonly obstacle?: Obstacle;
}

type Obstacle = NonNullable<SignInState['obstacle']>;

/** Returns the filter of the list of accounts that a URL describes; invalid parts are ignored. */
export function readAccountFilter(search: Pick<URLSearchParams, 'get'>): AccountFilter {
  const text = (name: string) => search.get(name) ?? '';
  const status = statuses.find((one) => one === text('status'));
  const obstacle = obstacleNames.find((one) => one === text('obstacle'));
  const canSignIn = ['true', 'false'].includes(text('can_sign_in'))
    ? text('can_sign_in') === 'true'
    : undefined;
  const [q, role, team, provider] = ['q', 'role', 'team_id', 'provider'].map(text);
  return {
    ...(q ? { q } : {}),
    ...(status === undefined ? {} : { status }),
    ...(role ? { role } : {}),
    ...(team && /^[0-9a-f-]{36}$/.test(team) ? { team_id: team } : {}),
    ...(provider ? { provider } : {}),
    ...(canSignIn === undefined ? {} : { can_sign_in: canSignIn }),
    ...(obstacle === undefined ? {} : { obstacle }),
  };
}

/** Returns the address of the list of accounts with this filter. */
export function accountsAddress(filter: AccountFilter): string {
  const search = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? '/admin/users' : `/admin/users?${search}`;
}

/** Why an account cannot sign in (USER-20). */
const obstacles: Readonly<Record<Obstacle, string>> = {
  no_password: 'No: it has no password yet',
  locked: 'Not now: locked after too many failures',
  expired: 'No: the account has expired',
  pending: 'No: it waits for approval',
  disabled: 'No: it is disabled',
  archived: 'No: it is archived',
};

const obstacleNames: readonly Obstacle[] = [
  'no_password',
  'locked',
  'expired',
  'pending',
  'disabled',
  'archived',
];

/** Short words for what keeps an active account from signing in; undefined if its status says it. */
export function obstacleWords({ obstacle }: SignInState): string | undefined {
  if (obstacle === 'no_password') return 'No password yet';
  if (obstacle === 'locked') return 'Locked';
  return obstacle === 'expired' ? 'Expired' : undefined;
}

/** Returns whether an account can sign in, and how or why not. */
export function signInWords({ by, obstacle }: SignInState): string {
  if (obstacle !== undefined) return obstacles[obstacle];
  const names = by.map((way) =>
    way === 'password' ? phrase('a password') : way === 'passkey' ? phrase('a passkey') : phrase(`“${way}”`),
  );
  return `Yes, with ${listOf(names, 'disjunction')}`;
}

/** Choices of a filter by the reason why an account cannot sign in. The empty value matches every account. */
export const signInChoices: readonly { value: string; label: string }[] = [
  { value: '', label: 'Can sign in or not' },
  { value: 'can_sign_in=true', label: 'Can sign in' },
  { value: 'can_sign_in=false', label: 'Cannot sign in' },
  { value: 'obstacle=no_password', label: 'No password yet' },
  { value: 'obstacle=locked', label: 'Locked' },
  { value: 'obstacle=expired', label: 'Expired' },
];
