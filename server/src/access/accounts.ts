import { refuse } from '../platform/http/refuse.ts';
import type { SignedIn } from './caller.ts';
import type { Capabilities } from './capabilities.ts';

/** Who administers whom: nobody reaches beyond what they may do themselves. */

function holdsAll(caller: SignedIn, codes: Iterable<string>): boolean {
  if (caller.capabilities.has('system.admin')) return true;
  return [...codes].every((code) => caller.capabilities.has(code));
}

/** Throws 403 when the account may do more than the caller: its password or role would be a way to that. */
export function checkMayAdminister(caller: SignedIn, account: Capabilities): void {
  if (!holdsAll(caller, [...account.everywhere, ...account.inTeams.keys()])) {
    throw refuse(403, 'that account may do more than you');
  }
}

/** Throws 403 when the caller would give what they do not hold everywhere themselves. */
export function checkMayGive(caller: SignedIn, codes: readonly string[]): void {
  if (!holdsAll(caller, codes)) throw refuse(403, 'you cannot give what you do not hold');
}
