import type { Capability } from '@vitrine/contract/capabilities';
import type { FirstStep } from '@vitrine/contract/first-steps';
import { holds, type SignedIn } from './caller.ts';

/** What the page of a step, and what is done there, need. */
const needed: Readonly<Record<FirstStep, readonly Capability[]>> = {
  people: ['users.write'],
  fields: ['fields.admin'],
  look: ['system.appearance.write'],
  mail: ['system.config.read', 'system.config.write'],
  backup: ['system.admin'],
  picture: [],
  upload: ['posts.create', 'assets.create'],
  follow: [],
};

/** Returns whether the caller may take a first step (SETUP-6). */
export function mayTake(caller: SignedIn, step: FirstStep): boolean {
  return needed[step].every((capability) => holds(caller, capability));
}
