import type { Place } from '#lib/shell/places.ts';

const own: readonly Place[] = [
  { href: '/settings/profile', label: 'Profile' },
  { href: '/settings/security', label: 'Security' },
  { href: '/settings/sessions', label: 'Sessions' },
  { href: '/settings/links', label: 'Share links' },
  { href: '/settings/tokens', label: 'Access tokens' },
  { href: '/settings/preferences', label: 'Preferences' },
  { href: '/settings/notifications', label: 'Notifications' },
  { href: '/settings/data', label: 'Your data' },
];

/** The pages of the account area. */
export function placesFor(): readonly Place[] {
  return own;
}
