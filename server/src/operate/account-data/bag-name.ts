import type { SignedIn } from '../../access/caller.ts';
import { pathPart } from '../export/bag/names.ts';

/** Returns the name of the ZIP of an export and of the folder in it. */
export function nameOfBag({ username }: SignedIn, createdAt: string): string {
  return `${pathPart(username, 'account')} ${createdAt.slice(0, 10)}`;
}
