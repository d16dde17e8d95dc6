import type { Capability } from '@vitrine/contract/capabilities';
import type { SessionUser } from '@vitrine/contract/identity';
import { holds } from '#lib/identity/allowance.ts';
import type { Place } from '#lib/shell/places.ts';

/** An entry of the side list, and the capability that opens it. */
export interface AdminSection extends Place {
  readonly capability: Capability;
}

const adminSections: readonly AdminSection[] = [
  { href: '/admin/users', label: 'Users', capability: 'users.read' },
  { href: '/admin/sign-ins', label: 'Sign-ins', capability: 'users.read' },
  { href: '/admin/invitations', label: 'Invitations', capability: 'users.write' },
  { href: '/admin/deletions', label: 'Deletion requests', capability: 'users.write' },
  { href: '/admin/registration', label: 'Registration', capability: 'system.config.read' },
  { href: '/admin/providers', label: 'Identity providers', capability: 'system.config.read' },
  { href: '/admin/roles', label: 'Roles', capability: 'roles.read' },
  { href: '/admin/fields', label: 'Fields', capability: 'fields.admin' },
  { href: '/admin/audit', label: 'Audit', capability: 'system.audit.read' },
  { href: '/admin/exposed', label: 'Widely visible files', capability: 'assets.admin' },
  { href: '/admin/links', label: 'Share links', capability: 'system.admin' },
  { href: '/admin/appearance', label: 'Appearance', capability: 'system.appearance.write' },
  { href: '/admin/texts', label: 'Texts', capability: 'system.config.read' },
  { href: '/admin/site', label: 'Site', capability: 'system.config.write' },
  { href: '/admin/peers', label: 'Peers', capability: 'system.config.read' },
  { href: '/admin/mail', label: 'Mail', capability: 'system.config.read' },
  { href: '/admin/previews', label: 'Previews', capability: 'system.config.read' },
  { href: '/admin/downloads', label: 'Downloads', capability: 'system.config.read' },
  { href: '/admin/storage', label: 'Storage', capability: 'system.config.read' },
  { href: '/admin/roots', label: 'Folders in place', capability: 'system.admin' },
  { href: '/admin/reviews', label: 'Reviews', capability: 'system.config.read' },
  { href: '/admin/jobs', label: 'Jobs', capability: 'jobs.read' },
  { href: '/admin/imports', label: 'Imports', capability: 'system.admin' },
  { href: '/admin/doctor', label: 'Doctor', capability: 'system.config.read' },
  // Not an administration page: teams are managed on the pages that everyone sees.
  { href: '/teams', label: 'Teams', capability: 'teams.write' },
];

/** Returns the sections that this user may open, in the order of the side list. */
export function sectionsFor(user: SessionUser | null): readonly AdminSection[] {
  return adminSections.filter((section) => holds(user, section.capability));
}

/** Returns the section of an address; undefined for `/admin` itself. */
export function sectionAt(pathname: string): AdminSection | undefined {
  return adminSections.find(({ href }) => pathname === href || pathname.startsWith(`${href}/`));
}
