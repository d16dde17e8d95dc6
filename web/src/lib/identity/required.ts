import { error } from '@sveltejs/kit';
import type { Capability } from '@vitrine/contract/capabilities';
import type { SessionUser } from '@vitrine/contract/identity';
import { allowanceOf } from './allowance.ts';

/** Ends a `load` with the error page unless the user holds a capability. The service checks again. */
export function requireCapability(user: SessionUser | null, capability: Capability): void {
  const allowance = allowanceOf(user, capability);
  if (allowance === 'missing') error(403, 'You do not have access to this page.', {});
  if (allowance === 'unknown') {
    error(503, 'This page is available once they are loaded. Try again in a moment.', {
      heading: 'Your permissions could not be loaded',
      back: { href: '/', label: 'To the feed' },
    });
  }
}
