import type { Deps } from '../../core/deps.ts';
import type { JobHandler } from '../../core/job-table.ts';
import { type Filled, fillAssets } from './fill.ts';
import { metadataOf, type Reuse } from './metadata.ts';
import { fits, readWiring, type WiredField } from './wiring.ts';

export type ExtractDeps = Pick<Deps, 'db' | 'storage' | 'metadata'>;

/** Reads a file and fills the wired fields of every asset that has it. */
export async function extractFile(
  deps: ExtractDeps,
  hash: string,
  { wiring, reuse }: { wiring: readonly WiredField[]; reuse: Reuse },
): Promise<'filled' | 'failed'> {
  const kept = await metadataOf(deps, hash, reuse);
  if (kept === null) return 'filled';
  await fillAssets(deps.db, { hash, asset: null }, wiring, kept.sources);
  return kept.error === null ? 'filled' : 'failed';
}

/** Fills an asset that is new or has a new version, which `renews` what was read from the previous one; reads its file only if a field needs it and it was not read before. */
async function extractNew(
  deps: ExtractDeps,
  { hash, asset, renews }: { hash: string; asset: string; renews: boolean },
): Promise<Filled> {
  const wiring = await readWiring(deps.db, null);
  const none = { assets: 0, values: 0 };
  if (wiring.length === 0) return none;
  const row = await deps.db
    .selectFrom('assets')
    .select('asset_type')
    .where('id', '=', asset)
    .executeTakeFirst();
  const fitting = row === undefined ? [] : wiring.filter((field) => fits(field, row.asset_type));
  const wanted = renews ? fitting.map((field) => ({ ...field, mode: 'renew' as const })) : fitting;
  if (wanted.length === 0) return none;
  const kept = await metadataOf(deps, hash, 'any');
  return kept === null ? none : fillAssets(deps.db, { hash, asset }, wanted, kept.sources);
}

/**
 * `asset` is the new asset of the job; null after an operator requested that the file be read again, for every asset
 * with it. Idempotent.
 */
export function extractJob(deps: ExtractDeps): JobHandler<'extract'> {
  return async ({ hash, asset, renews = false }, { log }) => {
    if (asset === null) {
      const outcome = await extractFile(deps, hash, {
        wiring: await readWiring(deps.db, null),
        reuse: 'none',
      });
      log.info({ hash, outcome }, 'read the metadata of a file again');
    } else {
      log.debug(
        { asset, ...(await extractNew(deps, { hash, asset, renews })) },
        'filled the fields of an asset',
      );
    }
  };
}
