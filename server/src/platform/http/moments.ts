import { refuse } from './refuse.ts';

/** Throws 400 unless the time is absent or in the future. Leap seconds are not supported. */
export function checkInFuture(name: string, at: string | null): void {
  if (at !== null && !(Date.parse(at) > Date.now())) throw refuse('time-in-the-past', { property: name });
}
