import type { FirstStep } from '@vitrine/contract/first-steps';
import type { Place } from '#lib/shell/places.ts';

/** The page on which each step is taken. */
export const stepPlaces: Readonly<Record<FirstStep, Place>> = {
  people: { href: '/admin/invitations', label: 'Invite people' },
  fields: { href: '/admin/fields', label: 'Adjust the fields to your files' },
  look: { href: '/admin/appearance', label: 'Choose a logo and colours' },
  mail: { href: '/admin/mail', label: 'Set up mail' },
  backup: { href: '/admin/doctor', label: 'Make the first backup' },
  picture: { href: '/settings/profile', label: 'Add a profile picture' },
  upload: { href: '/new', label: 'Upload your first files' },
  follow: { href: '/people', label: 'Follow people' },
};
