import { CallError } from '@vitrine/contract/client';
import { invalidate } from '$app/navigation';
import { refreshUser } from './identity/visitor-state.ts';
import { problemText } from './problems.ts';
import type { Service } from './service.ts';

/** An action of a form or a button; runs one at a time. */
export interface ServiceMutation {
  readonly busy: boolean;
  /** Why the last run failed, in words for the user. */
  readonly problem: string | undefined;
  /** The error of the last run, whose code tells what is wrong. */
  readonly error: unknown;
  /** Runs `work`; false if it failed or if the previous run has not finished. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  forget(): void;
}

/** Creates an action that exposes whether it is running and why it failed last. */
export function createServiceMutation(service: Service): ServiceMutation {
  let busy = $state(false);
  let failure = $state.raw<unknown>();
  return {
    get busy() {
      return busy;
    },
    get problem() {
      return failure === undefined ? undefined : problemText(failure);
    },
    get error() {
      return failure;
    },
    forget() {
      failure = undefined;
    },
    async run(work) {
      if (busy) return false;
      busy = true;
      failure = undefined;
      try {
        await work();
        return true;
      } catch (error) {
        failure = error;
        // A wrong password or code is also a 401, so check whether the session has ended.
        if (error instanceof CallError && error.status === 401) await leaveIfSignedOut(service);
        return false;
      } finally {
        busy = false;
      }
    },
  };
}

/** Shows the page to a visitor, which may lead to the sign-in page, if the session has ended. */
export async function leaveIfSignedOut(service: Service): Promise<void> {
  try {
    await refreshUser(service);
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 401) return;
    service.queries.clear();
    await invalidate('vitrine:visitor-state');
  }
}
