import type { Collection } from '@vitrine/contract/collections';
import type { SessionUser } from '@vitrine/contract/identity';
import { holds } from '#lib/identity/allowance.ts';

/** Whether to show what changes a collection: to its owner and to administrators. The service decides again. */
export function mayEdit(collection: Collection, user: SessionUser | null): boolean {
  return user !== null && (collection.owner_user_ref === user.ref || holds(user, 'system.admin'));
}
