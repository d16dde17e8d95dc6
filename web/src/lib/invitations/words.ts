import type { Invitation, InvitationState } from '@vitrine/contract/invitations';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';
import { shortDayOf } from '#lib/time/moments.ts';

/** Labels of the states of invitations. */
export const stateLabels: Readonly<Record<InvitationState, string>> = {
  open: 'Valid',
  used: 'Accepted',
  revoked: 'Revoked',
  expired: 'Expired',
};

/** The times for which an invitation can be open, in days. */
const lifetimes = ['1', '7', '30', '90'] as const;
export type Lifetime = (typeof lifetimes)[number];

/** Returns the times for which an invitation can be open, as choices. */
export const lifetimeChoices = () =>
  lifetimes.map((value) => ({ value, label: plural(Number(value), ['# day', '# days']) }));

/** Returns the time at which an invitation that is created now expires. */
export function expiryAfter(days: Lifetime, now: Date): string {
  return new Date(now.getTime() + Number(days) * 86_400_000).toISOString();
}

/** Returns whom an invitation is for. */
export function inviteeOf({ email, max_uses }: Pick<Invitation, 'email' | 'max_uses'>): string {
  if (email !== undefined && email !== null) return email;
  return plural(max_uses, ['Anyone with the link, once', 'Anyone with the link, # times']);
}

/** Returns how an invitation is used and how long it is open. */
export function useOf({ state, uses, max_uses, expires_at }: Invitation): string {
  const used = max_uses === 1 ? [] : [`${uses} of ${max_uses} accounts created`];
  const until = state === 'open' ? [`open until ${shortDayOf(expires_at)}`] : [];
  return [...used, ...until].join(' · ');
}

/** Returns when and by whom an invitation was created. */
export function originOf({ created_at, created_by, mailed }: Invitation): string {
  const day = shortDayOf(created_at);
  const created =
    created_by === undefined ? `Created ${day}` : `Created ${day} by ${created_by.display_name}`;
  return mailed ? `${created} · ${phrase('mailed')}` : created;
}

const roleNames: Readonly<Record<string, string>> = {
  admin: phrase('an administrator'),
  member: phrase('a member'),
  viewer: phrase('a viewer'),
};

/** Returns the words for a role by its code, as in "You will be a member". */
export function roleWords(code: string): string {
  return roleNames[code] ?? phrase(`“${code}”`);
}
