import { type RawBuilder, sql } from 'kysely';
import { servedAssets } from './assets.ts';
import type { SignedIn } from './caller.ts';

/** Who downloads which archive, and which files it has. Predicates refer to `archives z` and `assets a`. */
type Predicate = RawBuilder<boolean>;

/** ARCHIVE-3: archives are for the account that prepared them, until they expire. */
export function ownArchives(caller: SignedIn): Predicate {
  return sql`(z.user_ref = ${caller.ref} and z.expires_at > now())`;
}

/** ARCHIVE-4: files that are packed for this account, by the content rule. */
export function packedAssets(caller: SignedIn): Predicate {
  return servedAssets(caller);
}
