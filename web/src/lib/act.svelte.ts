import { CallError } from '@vitrine/contract/client';
import { invalidate } from '$app/navigation';
import { readUserAnew } from './identity/standing.ts';
import { problemInWords } from './identity/words.ts';
import type { Service } from './service.ts';

/** Something a form or a button does, one at a time. */
export interface Act {
  readonly busy: boolean;
  /** Why the last time failed, for people. */
  readonly problem: string | undefined;
  /** Does it; false when it failed or the one before is still under way. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  forget(): void;
}

/** An act that shows as busy while it runs and keeps what went wrong. */
export function createAct(service: Service): Act {
  let busy = $state(false);
  let problem = $state<string>();
  return {
    get busy() {
      return busy;
    },
    get problem() {
      return problem;
    },
    forget() {
      problem = undefined;
    },
    async run(work) {
      if (busy) return false;
      busy = true;
      problem = undefined;
      try {
        await work();
        return true;
      } catch (error) {
        problem = problemInWords(error);
        // A wrong password or code is a 401 too, so whether the session ended is asked for.
        if (error instanceof CallError && error.status === 401) await leaveIfSignedOut(service);
        return false;
      } finally {
        busy = false;
      }
    },
  };
}

async function leaveIfSignedOut(service: Service): Promise<void> {
  try {
    await readUserAnew(service);
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 401) return;
    service.queries.clear();
    await invalidate('vitrine:standing');
  }
}
