import { Rejection } from '../../../src/exchange/federation/protocol/rejection.ts';

/** Returns the reason with which `run` rejects what it reads, or `accepted`, and the detail. */
export function rejectionBy(run: () => unknown): { reason: string; detail: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof Rejection) return { reason: error.reason, detail: error.message };
    throw error;
  }
  return { reason: 'accepted', detail: '' };
}

export const reasonOf = (run: () => unknown): string => rejectionBy(run).reason;
