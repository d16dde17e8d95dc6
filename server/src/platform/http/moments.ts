import { refuse } from './refuse.ts';

/** Throws 400 unless the time, if there is one, lies ahead; a leap second is in no calendar of ours. */
export function checkAhead(name: string, at: string | null): void {
  if (at !== null && !(Date.parse(at) > Date.now())) throw refuse(400, `${name} is in the past`);
}
