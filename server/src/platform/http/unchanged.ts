import { type RawBuilder, sql } from 'kysely';
import { Refusal } from './refuse.ts';

/** HTTP-19: throws 409 with the row's `updated_at` when it has moved on since the client read it. */
export function checkUnchanged(since: string | null | undefined, updatedAt: string): void {
  if (since == null || Date.parse(updatedAt) <= Date.parse(since)) return;
  throw new Refusal(409, { error: 'it was changed meanwhile', updated_at: updatedAt });
}

/** The time of a change to a row under its lock: later than the one before, whichever transaction began first. */
export const nextUpdatedAt: RawBuilder<string> = sql`greatest(clock_timestamp(), updated_at + interval '1 millisecond')`;

/** Whether a PATCH body asks for anything: absent and null leave alone, and so does a `clear_*` of false (HTTP-18). */
export function asksForChange({
  if_unchanged_since: _,
  ...body
}: object & { if_unchanged_since?: unknown }): boolean {
  return Object.entries(body).some(
    ([key, value]) => value != null && !(key.startsWith('clear_') && value === false),
  );
}
