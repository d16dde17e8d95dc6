import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { readSite } from '../../core/settings.ts';

/** Returns the address of this library for browsers: the public one, else the one that was addressed. */
export async function ownAddress(
  deps: Pick<Deps, 'db' | 'config'>,
  http: Pick<HttpFacts, 'ownOrigin'>,
): Promise<string> {
  return (await readSite(deps)).base_url ?? http.ownOrigin;
}
