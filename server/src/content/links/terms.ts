import type { ShareLinkCreate } from '@vitrine/contract/links';
import type { Deps } from '../../core/deps.ts';
import { readSiteName } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';

/** A generous limit on the working links of a target that keeps accounts from filling the table. */
export const MOST_LINKS = 100;

/** The watermark text; `true` means the library's current name. */
export async function watermarkText(
  db: Database,
  given: NonNullable<ShareLinkCreate['watermark']>,
): Promise<string | null> {
  if (given === false) return null;
  return given === true ? readSiteName(db) : given.trim();
}

/** Hashes a link's password, salted with the link, so that equal passwords of two links differ. */
export function hashLinkPassword({ passwords }: Pick<Deps, 'passwords'>, linkId: string, password: string) {
  return passwords.hash(linkId, password);
}
