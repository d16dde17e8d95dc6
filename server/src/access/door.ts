import type { Door } from '@vitrine/contract/operation';
import { refuse } from '../platform/http/refuse.ts';
import { type Caller, holds } from './caller.ts';

/**
 * Lets the caller through an operation's door or throws.
 * spec part 5: without credentials 401, without the capability 403; anonymous only under public mode.
 */
export function passDoor(door: Door, caller: Caller, publicMode: boolean): void {
  if (door === 'open') return;
  if (caller.kind === 'anonymous') {
    if (door === 'public' && publicMode) return;
    throw refuse(401, 'sign in first');
  }
  if (typeof door === 'object' && !holds(caller, door.holds)) {
    throw refuse(403, `missing capability ${door.holds}`);
  }
}
