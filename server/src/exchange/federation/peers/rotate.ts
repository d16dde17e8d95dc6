import { closed } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Deps } from '../../../core/deps.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { compileLater } from '../../../platform/http/compile-later.ts';
import type { Install } from '../identity.ts';
import { type OutboundError, postSigned } from '../outbound.ts';
import { PROTOCOL } from '../protocol/envelope.ts';
import { Rejection } from '../protocol/rejection.ts';
import { followRotations, Rotations } from '../protocol/rotation.ts';
import { fingerprint } from '../protocol/signature.ts';
import { Time } from '../protocol/values.ts';
import { readKeyGraceDays } from '../settings.ts';
import type { SignedRequest } from '../signed-request.ts';
import { readRotations } from '../statements.ts';

const CLOCK_TOLERANCE_MS = 5 * 60_000;

const Announcement = closed({
  '@context': Type.Literal(PROTOCOL),
  type: Type.Literal('aa:KeyRotation'),
  rotations: Rotations,
  published: Time,
});
const announcement = compileLater(Announcement);

/** Whether the key of this install that a peer has pinned may be a former one. */
export async function needsKeyAnnouncement(db: Database, install: Install, peerId: string): Promise<boolean> {
  const { rows } = await sql`select from federation_peers where id = ${peerId}
    and announced_key is distinct from ${install.key.publicKey}
    and exists (select from federation_rotations where user_ref is null)`.execute(db);
  return rows.length > 0;
}

/** Remembers which key of this install a peer has pinned. */
export async function recordAnnouncedKey(db: Database, install: Install, peerUrl: string): Promise<void> {
  await db
    .updateTable('federation_peers')
    .set({ announced_key: install.key.publicKey })
    .where('instance_url', '=', peerUrl)
    .execute();
}

/**
 * Schedules another announcement of the current key to a peer, which has pinned a former key if it was
 * restored from a backup. Returns false if no key was ever replaced, or an announcement is already pending.
 */
export async function scheduleKeyAnnouncement(db: Database, peerId: string): Promise<boolean> {
  const { rows } = await sql`update federation_peers set announced_key = null
    where id = ${peerId} and announced_key is not null and exists (select from federation_rotations where user_ref is null)
    returning id`.execute(db);
  return rows.length > 0;
}

/**
 * Sends a peer the statements of this install's former keys, signed as a request with the current one (FED-56). Throws
 * OutboundError.
 */
export async function announceKey(deps: Deps, install: Install, peerUrl: string): Promise<void> {
  const body = {
    '@context': PROTOCOL,
    type: 'aa:KeyRotation',
    rotations: await readRotations(deps.db, null),
    published: new Date().toISOString(),
  };
  await postSigned(deps, { ...install, former: new Map() }, `${peerUrl}/federation/peers/rotate`, body);
  await recordAnnouncedKey(deps.db, install, peerUrl);
}

/** Returns whether a failure is temporary: no response, or one that does not come from the peer itself. */
export function isTemporaryFailure(error: OutboundError): boolean {
  return error.status === null || error.status >= 500 || error.status === 429;
}

interface PinnedPeer {
  id: string;
  state: string;
  public_key: Buffer;
}

async function pinnedPeer(db: Database, url: string): Promise<PinnedPeer | null> {
  const row = await db
    .selectFrom('federation_peers')
    .select(['id', 'state', 'public_key'])
    .where('instance_url', '=', url)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Receives a new key of a peer (FED-56). Only statements that lead from the pinned key count; requests with the former
 * key are then accepted until the grace period ends. A repeated announcement changes nothing. Throws Rejection.
 */
export async function receiveRotation(deps: Deps, request: SignedRequest): Promise<{ state: string }> {
  const body = request.json();
  if (!announcement().Check(body)) throw new Rejection('malformed', 'not an announcement of a key');
  if (!(Math.abs(Date.now() - Date.parse(body.published)) <= CLOCK_TOLERANCE_MS))
    throw new Rejection('stale_request', 'the clocks differ by more than five minutes');
  const url = /^(.*)\/federation\/instance#main-key$/.exec(request.keyId)?.[1] ?? '';
  const owner = `${url}/federation/instance`;
  return deps.db.transaction().execute(async (tx) => {
    const peer = await pinnedPeer(tx, url);
    if (peer === null) throw new Rejection('unknown_peer', 'this install is not a peer');
    const next = followRotations(owner, peer.public_key, body.rotations);
    if (next === null)
      throw new Rejection('unknown_key', 'the pinned key does not state that this key follows it');
    request.verify(`${owner}#main-key`, [next]);
    // It announces the key again once it is enabled (FED-12).
    if (peer.state === 'disabled') throw new Rejection('peer_disabled', 'the pairing is not in force');
    if (next.equals(peer.public_key)) return { state: 'known' };
    await tx
      .insertInto('federation_retired_keys')
      .values({
        owner,
        peer_id: peer.id,
        public_key: peer.public_key,
        accepted_until: sql<string>`now() + make_interval(days => ${await readKeyGraceDays(tx)})`,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['owner', 'public_key'])
          .doUpdateSet((eb) => ({ accepted_until: eb.ref('excluded.accepted_until') })),
      )
      .execute();
    await tx
      .deleteFrom('federation_retired_keys')
      .where('owner', '=', owner)
      .where('public_key', '=', next)
      .execute();
    await tx
      .updateTable('federation_peers')
      .set({ public_key: next, updated_at: sql<string>`now()` })
      .where('id', '=', peer.id)
      .execute();
    await recordEvent(tx, null, {
      event: 'federation.peer.key_rotated',
      metadata: { instance_url: url, before: fingerprint(peer.public_key), after: fingerprint(next) },
    });
    return { state: 'accepted' };
  });
}
