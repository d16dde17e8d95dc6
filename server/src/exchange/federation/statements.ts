import type { Database } from '../../platform/database/pool.ts';
import { MOST_ROTATIONS, type Rotation } from './protocol/rotation.ts';

/** Returns the statements of this install, or of an account, in their order; the latest ones if there are many. */
export async function readRotations(db: Database, userRef: number | null): Promise<Rotation[]> {
  const rows = await db
    .selectFrom('federation_rotations')
    .select(['previous_key', 'next_key', 'published', 'signature'])
    .where('user_ref', 'is not distinct from', userRef)
    .orderBy('id', 'desc')
    .limit(MOST_ROTATIONS)
    .execute();
  return rows.reverse().map(({ previous_key, next_key, published, signature }) => ({
    previous: previous_key.toString('base64url'),
    next: next_key.toString('base64url'),
    published: new Date(published).toISOString(),
    signature: signature.toString('base64url'),
  }));
}
