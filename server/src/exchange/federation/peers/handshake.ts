import { closed } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Deps } from '../../../core/deps.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import { compileLater } from '../../../platform/http/compile-later.ts';
import { sentence, storedForm } from '../../../platform/language/sentence.ts';
import { leavePeer } from '../mirror/purge.ts';
import { Rejection } from '../protocol/rejection.ts';
import { fingerprint } from '../protocol/signature.ts';
import { revokeSharesWith } from '../shares/revoke.ts';
import type { SignedRequest } from '../signed-request.ts';
import { type FoundInstance, InstanceDocument, readInstance } from './instance.ts';

/** The tolerated clock difference to a peer. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

const Handshake = closed({
  '@context': Type.Literal('https://artist-alley.org/protocol/v1'),
  type: Type.Enum(['aa:Offer', 'aa:Confirm']),
  instance: InstanceDocument,
  nonce: Type.String({ pattern: '^[A-Za-z0-9_-]{22,86}$' }),
  published: Type.String({ format: 'date-time' }),
});
const handshake = compileLater(Handshake);

/** Reads a step of the pairing and checks that the sender signed it with the key it announces; throws Rejection. */
export function readHandshake(
  request: SignedRequest,
  type: 'aa:Offer' | 'aa:Confirm',
): FoundInstance & { nonce: string } {
  const body = request.json();
  if (!handshake().Check(body)) throw new Rejection('malformed', 'not a step of the pairing');
  const step: Static<typeof Handshake> = body;
  const instance = readInstance(step.instance);
  if (step.type !== type || instance === null) throw new Rejection('malformed', 'not a step of the pairing');
  if (Math.abs(Date.now() - Date.parse(step.published)) > CLOCK_TOLERANCE_MS) {
    throw new Rejection('stale_request', 'the clocks differ by more than five minutes');
  }
  request.verify(`${instance.url}/federation/instance#main-key`, [instance.publicKey]);
  return { ...instance, nonce: step.nonce };
}

/** Returns whether the peer has ended the pairing (FED-14): one that was disabled here is still accepted on both sides. */
export function hasEnded(peer: { state: string; accepted_here: boolean; accepted_there: boolean }): boolean {
  return peer.state === 'disabled' && !(peer.accepted_here && peer.accepted_there);
}

interface KnownPeer {
  id: string;
  public_key: Buffer;
  state: 'pending_inbound' | 'pending_outbound' | 'connected' | 'disabled';
  nonce: string;
  accepted_here: boolean;
}

/** Receives the acceptance of our offer (FED-11), which must have the pinned key and the nonce of the offer. */
export async function receiveConfirm(deps: Deps, request: SignedRequest): Promise<{ state: string }> {
  const confirm = readHandshake(request, 'aa:Confirm');
  return deps.db.transaction().execute(async (tx) => {
    const { rows } =
      await sql<KnownPeer>`select id, public_key, state, nonce, accepted_here_at is not null as accepted_here
      from federation_peers where instance_url = ${confirm.url} for no key update`.execute(tx);
    const [peer] = rows;
    if (peer === undefined) throw new Rejection('unknown_peer', 'there is no pairing with this install');
    if (!peer.public_key.equals(confirm.publicKey))
      throw new Rejection('unknown_key', 'another key was pinned');
    if (peer.nonce !== confirm.nonce) throw new Rejection('malformed', 'the nonce is not that of the offer');
    if (!peer.accepted_here) throw new Rejection('unknown_peer', 'the pairing was not accepted here');
    if (peer.state === 'disabled') throw new Rejection('peer_disabled', 'the peer is disabled');
    await tx
      .updateTable('federation_peers')
      .set({
        state: 'connected',
        accepted_there_at: (eb) => eb.fn.coalesce('accepted_there_at', sql<string>`now()`),
        last_seen_at: sql<string>`now()`,
        last_error: null,
        updated_at: sql<string>`now()`,
      })
      .where('id', '=', peer.id)
      .execute();
    return { state: 'connected' };
  });
}

/**
 * Receives the end of the pairing (FED-14): purges everything that the peer shared, and revokes what was shared with
 * it.
 */
export async function receiveUnpair(
  deps: Deps,
  { peerId, url }: { peerId: string; url: string },
): Promise<{ state: string }> {
  await deps.db.transaction().execute(async (tx) => {
    await revokeSharesWith(tx, null, { id: peerId, url });
    await leavePeer(tx, peerId);
    const ended = await tx
      .updateTable('federation_peers')
      .set({
        state: 'disabled',
        accepted_there_at: null,
        accepted_here_at: null,
        last_error: storedForm(sentence('the peer ended the pairing')),
        updated_at: sql<string>`now()`,
      })
      .where('id', '=', peerId)
      .returning('public_key')
      .executeTakeFirstOrThrow();
    await recordEvent(tx, null, {
      event: 'federation.peer.ended',
      metadata: { instance_url: url, fingerprint: fingerprint(ended.public_key) },
    });
  });
  return { state: 'unpaired' };
}
