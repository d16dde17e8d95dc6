import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import type { Ledger } from './ledger.ts';
import type { Reporter } from './report.ts';
import type { RunLog } from './runs.ts';

/** What every import from another system works with. */
export interface ImportTools {
  deps: Deps;
  /** The name of the earlier system, for people. */
  source: string;
  ledger: Ledger;
  reporter: Reporter;
  /** The row of this run. */
  run: RunLog;
  /** The account that owns what belongs to no imported account. */
  owner: SignedIn;
  /** Whether the operator has asked to stop. */
  isStopped(): boolean;
}
