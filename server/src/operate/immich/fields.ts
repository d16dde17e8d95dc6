import { readWiring } from '../../content/extraction/wiring.ts';
import type { ExtractedValues } from '../../media/metadata/source.ts';
import type { Database } from '../../platform/database/pool.ts';
import { describedBy } from './described.ts';
import type { ImmichLibrary } from './library.ts';

/** Returns what Immich knows and no field here is filled from, with the number of assets. */
export async function unwiredSources(
  db: Database,
  { assets }: Pick<ImmichLibrary, 'assets'>,
): Promise<Map<string, number>> {
  const wired = new Set((await readWiring(db, null)).map(({ source }) => source));
  const unwired = new Map<string, number>();
  // The keys of the object are the sources of its type.
  for (const asset of assets.values())
    for (const source of Object.keys(describedBy(asset).sources) as (keyof ExtractedValues)[])
      if (!wired.has(source)) unwired.set(source, (unwired.get(source) ?? 0) + 1);
  return unwired;
}
