import type { Capability } from '@vitrine/contract/capabilities';
import { refuse } from '../platform/http/refuse.ts';
import { holds, type SignedIn } from './caller.ts';

/** WORKFLOW-2: throws 403 unless the caller holds what entering a workflow state needs. */
export function checkMayEnter(caller: SignedIn, capability: Capability | null): void {
  if (capability !== null && !holds(caller, capability)) throw refuse('capability-missing', { capability });
}
