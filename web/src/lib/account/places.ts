import type { SessionUser } from '@vitrine/contract/identity';
import { holds } from '../identity/allowance.ts';
import type { Place } from '../layout/place.ts';

const own: readonly Place[] = [
  { href: '/settings/profile', label: 'Profile' },
  { href: '/settings/security', label: 'Security' },
  { href: '/settings/sessions', label: 'Sessions' },
  { href: '/settings/tokens', label: 'Access tokens' },
  { href: '/settings/preferences', label: 'Preferences' },
  { href: '/settings/notifications', label: 'Notifications' },
];

/** The pages of the account area this person may use. */
export function placesFor(user: SessionUser | null): readonly Place[] {
  return holds(user, 'system.config.write') ? [...own, { href: '/settings/library', label: 'Library' }] : own;
}
