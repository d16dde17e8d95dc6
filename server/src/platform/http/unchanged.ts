import { type RawBuilder, sql } from 'kysely';
import { Refusal } from './refuse.ts';

/** HTTP-19: throws 409 with the row's `updated_at` when it changed after `since`. */
export function checkUnchanged(since: string | null | undefined, updatedAt: string): void {
  if (since == null || Date.parse(updatedAt) <= Date.parse(since)) return;
  throw new Refusal('changed', {}, { updatedAt });
}

/** The new `updated_at` of a locked row: always later than the previous one, even if this transaction began earlier. */
export const nextUpdatedAt: RawBuilder<string> = sql`greatest(clock_timestamp(), updated_at + interval '1 millisecond')`;

/** Returns whether a PATCH body changes anything: absent, null and a `clear_*` of false do not (HTTP-18). */
export function asksForChange({
  if_unchanged_since: _,
  ...body
}: object & { if_unchanged_since?: unknown }): boolean {
  return Object.entries(body).some(
    ([key, value]) => value != null && !(key.startsWith('clear_') && value === false),
  );
}
