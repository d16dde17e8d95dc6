import { type RawBuilder, sql } from 'kysely';
import { holds, type SignedIn } from './caller.ts';

/** Who sees and steers which batch. Predicates refer to a row of `batches b`. */
type Predicate = RawBuilder<boolean>;

/** BATCH-6: the account that started the batch, and holders of `jobs.read`. */
export function readableBatches(caller: SignedIn): Predicate {
  return holds(caller, 'jobs.read') ? sql`true` : ownBatches(caller);
}

/** The caller's own batches, which they may cancel and undo. */
export function ownBatches(caller: SignedIn): Predicate {
  return sql`(b.user_ref = ${caller.ref})`;
}
