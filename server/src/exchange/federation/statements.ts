import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import { MOST_ROTATIONS, type Rotation } from './protocol/rotation.ts';

/** Returns the statements of this install, or of an account, in their order; the latest ones if there are many. */
export async function readRotations(db: Database, userRef: number | null): Promise<Rotation[]> {
  const { rows } = await sql<{
    previous_key: Buffer;
    next_key: Buffer;
    published: string;
    signature: Buffer;
  }>`
    select previous_key, next_key, published, signature from federation_rotations
    where user_ref is not distinct from ${userRef}::bigint order by id desc limit ${MOST_ROTATIONS}`.execute(
    db,
  );
  return rows.reverse().map(({ previous_key, next_key, published, signature }) => ({
    previous: previous_key.toString('base64url'),
    next: next_key.toString('base64url'),
    published: new Date(published).toISOString(),
    signature: signature.toString('base64url'),
  }));
}
