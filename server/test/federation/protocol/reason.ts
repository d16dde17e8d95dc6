import { Rejection } from '../../../src/federation/protocol/rejection.ts';

/** Returns the reason with which `run` rejects what it reads, or `accepted`. */
export function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof Rejection) return error.reason;
    throw error;
  }
  return 'accepted';
}
