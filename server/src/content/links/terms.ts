import type { ShareLinkCreate } from '@vitrine/contract/links';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { readSiteName } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { findPresets } from '../downloads/presets.ts';

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

/** Returns each key of a link's presets once; null for a link without presets. */
export function presetKeys(given: readonly string[] | null | undefined): string[] | null {
  return given == null ? null : [...new Set(given)];
}

/** Throws 404 for a preset that the caller does not have. */
export async function checkPresets(db: Database, caller: SignedIn, keys: readonly string[]): Promise<void> {
  const found = await findPresets(db, caller, keys);
  const missing = keys.find((key) => !found.some((preset) => preset.key === key));
  if (missing !== undefined) throw refuse('preset-not-found', { key: missing });
}

/** Hashes a link's password, salted with the link, so that equal passwords of two links differ. */
export function hashLinkPassword({ passwords }: Pick<Deps, 'passwords'>, linkId: string, password: string) {
  return passwords.hash(linkId, password);
}
