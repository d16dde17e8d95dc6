import { sql } from 'kysely';
import type { Predicate } from './assets.ts';
import type { SignedIn } from './caller.ts';

/** UPLOAD-2: only the account that created an upload may access it, until it expires. Alias `up`. */
export function ownUploads(caller: SignedIn): Predicate {
  return sql`(up.owner_user_ref = ${caller.ref} and up.expires_at > now())`;
}
