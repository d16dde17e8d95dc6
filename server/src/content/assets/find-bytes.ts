import type { Caller } from '../../access/caller.ts';
import type { Deps, RequestedBytes, ServedRow } from '../../core/deps.ts';
import { findServedVersion } from './served.ts';

/** Returns what the caller may get: of the asset as it is, or of one of its versions. */
export function findBytes(
  { db, served }: Pick<Deps, 'db' | 'served'>,
  caller: Caller,
  { version, ...wanted }: RequestedBytes & { version: number | undefined },
): Promise<ServedRow | null> {
  if (version === undefined) return served.find(caller, wanted);
  return findServedVersion(db, caller, { ...wanted, version });
}
