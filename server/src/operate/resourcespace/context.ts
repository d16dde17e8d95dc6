import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import type { RunLog } from '../imports/runs.ts';
import type { Installation } from './installation.ts';
import type { Ledger } from './ledger.ts';
import type { Plan } from './plan.ts';
import type { Reporter } from './report.ts';
import type { Staging } from './staging.ts';

/** What every step of an import works with. */
export interface Context {
  deps: Deps;
  staging: Staging;
  installation: Installation;
  plan: Plan;
  ledger: Ledger;
  reporter: Reporter;
  /** The row of this run. */
  run: RunLog;
  /** The administrator who owns what belongs to no imported account. */
  owner: SignedIn;
  /** The day of the import; what ended before is not imported. */
  today: string;
  /** The teams of audiences, as this run has created or found them. */
  teams: Map<string, Promise<string>>;
  /** Whether the operator has asked to stop. */
  isStopped(): boolean;
}

/** What the ledger has for a user whose account is being created. */
export const CREATING = 'creating';

/** Returns the account of a user of the earlier system; null for one that was not imported. */
export function accountOf({ ledger }: Pick<Context, 'ledger'>, user: number | null): number | null {
  const entry = user === null ? undefined : ledger.find('user', user);
  return entry === undefined || entry.target === CREATING ? null : Number(entry.target);
}
