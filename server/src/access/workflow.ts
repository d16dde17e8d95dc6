import type { Capability } from '@vitrine/contract/capabilities';
import type { SignedIn } from './caller.ts';
import { checkHolds } from './door.ts';

/** WORKFLOW-2: throws 403 unless the caller holds what entering a workflow state needs. */
export function checkMayEnter(caller: SignedIn, capability: Capability | null): void {
  if (capability !== null) checkHolds(caller, capability);
}
