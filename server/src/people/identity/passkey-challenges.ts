import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { hashToken } from './sessions.ts';

const MINUTES = 5;
export const CHALLENGE_MS = MINUTES * 60_000;

/** What a challenge for a new passkey belongs to. */
interface Adding {
  sessionId: string;
  userHandle: Buffer;
}

/** Stores a challenge; `adding` is null for signing in (PASSKEY-3). */
export async function keepChallenge(db: Database, challenge: string, adding: Adding | null): Promise<void> {
  await db
    .insertInto('passkey_challenges')
    .values({
      challenge_hash: hashToken(challenge),
      session_id: adding?.sessionId ?? null,
      user_handle: adding?.userHandle ?? null,
      expires_at: sql<string>`now() + make_interval(mins => ${MINUTES})`,
    })
    .execute();
}

const isClientData = compileLater(
  Type.Object({ challenge: Type.String(), crossOrigin: Type.Optional(Type.Boolean()) }),
);

/** Returns the challenge that a response names; null without one, and for a response from a frame of another site. */
function challengeIn(clientDataJson: string): string | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString());
    return isClientData().Check(data) && data.crossOrigin !== true ? data.challenge : null;
  } catch {
    return null;
  }
}

export interface TakenChallenge {
  challenge: string;
  userHandle: Buffer | null;
}

/**
 * Uses up the challenge that a response names, also for concurrent callers (PASSKEY-3). Returns null unless it is live
 * and of this session; `sessionId` is null for signing in.
 */
export async function takeChallenge(
  db: Database,
  { clientDataJSON }: { clientDataJSON: string },
  sessionId: string | null,
): Promise<TakenChallenge | null> {
  const challenge = challengeIn(clientDataJSON);
  if (challenge === null) return null;
  const taken = await db
    .deleteFrom('passkey_challenges')
    .where('challenge_hash', '=', hashToken(challenge))
    .where('session_id', 'is not distinct from', sessionId)
    .where('expires_at', '>', sql<string>`now()`)
    .returning('user_handle')
    .executeTakeFirst();
  return taken === undefined ? null : { challenge, userHandle: taken.user_handle };
}
