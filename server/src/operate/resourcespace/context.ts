import type { ImportTools } from '../imports/tools.ts';
import type { Installation } from './installation.ts';
import type { Plan } from './plan.ts';
import type { Staging } from './staging.ts';

/** What every step of an import works with. */
export interface Context extends ImportTools {
  staging: Staging;
  installation: Installation;
  plan: Plan;
  /** The day of the import; what ended before is not imported. */
  today: string;
  /** The teams of audiences, as this run has created or found them. */
  teams: Map<string, Promise<string>>;
}

/** What the ledger has for a user whose account is being created. */
export const CREATING = 'creating';

/** Returns the account of a user of the earlier system; null for one that was not imported. */
export function accountOf({ ledger }: Pick<Context, 'ledger'>, user: number | null): number | null {
  const entry = user === null ? undefined : ledger.find('user', user);
  return entry === undefined || entry.target === CREATING ? null : Number(entry.target);
}
