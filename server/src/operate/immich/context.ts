import type { ImportTools } from '../imports/tools.ts';
import type { Immich } from './client.ts';
import type { ImmichLibrary } from './library.ts';

/** What every step of an import from Immich works with. */
export interface Context extends ImportTools {
  immich: Immich;
  library: ImmichLibrary;
  /** The account here of each account there, by the id there: the one with the same confirmed address. */
  accounts: ReadonlyMap<string, number>;
}
