import type { ShareLinkCreate, TargetKind } from '@vitrine/contract/links';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { liveLink } from '../../access/links.ts';
import type { Deps } from '../../core/deps.ts';
import { readSiteName } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { findPresets } from '../downloads/presets.ts';
import { targetColumn } from './target.ts';

/** A generous limit on the working links of a target that keeps accounts from filling the table. */
const MOST_LINKS = 100;

/** How many more links to the target may work (LINK-16). The caller holds the row of the target. */
export function roomForLinks(kind: TargetKind, id: string): RawBuilder<number> {
  return sql`greatest(0, ${MOST_LINKS} - (select count(*) from share_links l where ${targetColumn(kind)} = ${id} and ${liveLink}))`;
}

/** The refusal of a link beyond the limit. */
export function tooManyLinks(kind: TargetKind): Error {
  return refuse('too-many-links', { max: MOST_LINKS, kind });
}

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
