import { type RawBuilder, sql } from 'kysely';
import { holds, type SignedIn } from './caller.ts';

/** Who sees the export of whose data. Predicates refer to `account_exports e`. */
type Predicate = RawBuilder<boolean>;

/** EXPORT-18: exports are for the account whose data they have, until they expire. */
export function ownExport(caller: SignedIn): Predicate {
  return sql`(e.user_ref = ${caller.ref} and (e.expires_at is null or e.expires_at > now()))`;
}

/** EXPORT-17: the progress of an export is for its account and holders of `jobs.read`. */
export function readableExports(caller: SignedIn): Predicate {
  return holds(caller, 'jobs.read') ? sql`(e.user_ref is not null)` : ownExport(caller);
}
