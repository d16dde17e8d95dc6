import { closed } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { recordEvent } from '../../audit/record.ts';
import type { Deps } from '../../deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { leavePeer } from '../mirror/purge.ts';
import { OutboundError } from '../outbound.ts';
import { Rejection } from '../protocol/rejection.ts';
import { fingerprint } from '../protocol/signature.ts';
import { revokeSharesWith } from '../shares/revoke.ts';
import type { SignedRequest } from '../wire.ts';
import { type FoundInstance, InstanceDocument, readInstance, readInstanceAt } from './instance.ts';

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
function readHandshake(
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

interface KnownPeer {
  id: string;
  public_key: Buffer;
  state: 'pending_inbound' | 'pending_outbound' | 'connected' | 'disabled';
  nonce: string;
  accepted_here: boolean;
}

/** Returns the one answer to offers that are refused: others would tell which addresses answer here (FED-95). */
function refusedOffer(logged: string): Rejection {
  return new Rejection('unknown_peer', 'the offer is refused', logged);
}

/** Throws Rejection if another install may not offer at present, because too many offers are open (FED-95). */
async function checkOpenOffers({ config }: Deps, db: Database, url: string): Promise<void> {
  const { rows } = await sql<{ open: number; known: boolean }>`select
    (select count(*) from federation_peers where state = 'pending_inbound')::int as open,
    exists (select from federation_peers where instance_url = ${url}) as known`.execute(db);
  const [found] = rows;
  if (found !== undefined && !found.known && found.open >= config.federation.openOffers)
    throw refusedOffer('too many offers are open');
}

/**
 * Receives an offer to pair (FED-10). Its key must be the one that the sender serves at its own address. A repeated
 * offer, even by a peer that was restored from a backup, changes only the nonce; one with another key is refused.
 */
export async function receiveOffer(deps: Deps, request: SignedRequest): Promise<{ state: string }> {
  const offer = readHandshake(request, 'aa:Offer');
  await checkOpenOffers(deps, deps.db, offer.url);
  let served: FoundInstance;
  try {
    served = await readInstanceAt(deps, offer.url);
  } catch (error) {
    if (error instanceof OutboundError || error instanceof Error)
      throw refusedOffer(`its own address does not answer: ${error.message}`);
    throw error;
  }
  if (!served.publicKey.equals(offer.publicKey)) throw refusedOffer('its address serves another key');
  return deps.db.transaction().execute(async (tx) => {
    // Offers that arrive at once are counted one after the other.
    await sql`select pg_advisory_xact_lock(hashtext('federation offers'))`.execute(tx);
    await checkOpenOffers(deps, tx, offer.url);
    const created =
      await sql`insert into federation_peers (instance_url, display_name, public_key, capabilities, state, nonce, accepted_there_at)
      values (${offer.url}, ${offer.name}, ${offer.publicKey}, ${offer.capabilities}::text[], 'pending_inbound',
        ${offer.nonce}, now())
      on conflict (instance_url) do nothing`.execute(tx);
    const { rows } =
      await sql<KnownPeer>`select id, public_key, state, nonce, accepted_here_at is not null as accepted_here
      from federation_peers where instance_url = ${offer.url} for no key update`.execute(tx);
    const [peer] = rows;
    if (peer === undefined || !peer.public_key.equals(offer.publicKey)) {
      throw refusedOffer('the address is known with another key');
    }
    // Both sides may have offered at once; then the offer is also the acceptance of the other side.
    const agreed = peer.state === 'pending_outbound' && peer.accepted_here;
    const state = agreed ? 'connected' : peer.state;
    await sql`update federation_peers set state = ${state}, accepted_there_at = coalesce(accepted_there_at, now()),
        nonce = case when state = 'pending_inbound' then ${offer.nonce} else nonce end,
        display_name = ${offer.name}, capabilities = ${offer.capabilities}::text[], last_seen_at = now(), updated_at = now()
      where id = ${peer.id}`.execute(tx);
    const metadata = { instance_url: offer.url, fingerprint: fingerprint(offer.publicKey) };
    if (created.numAffectedRows === 1n)
      await recordEvent(tx, null, { event: 'federation.peer.created', metadata });
    if (peer.state === 'pending_inbound' && peer.nonce === offer.nonce) {
      await recordEvent(tx, null, {
        event: 'federation.peer.offered',
        metadata,
      });
    }
    return { state: state === 'connected' ? 'connected' : 'pending' };
  });
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
    await sql`update federation_peers set state = 'connected', accepted_there_at = coalesce(accepted_there_at, now()),
        last_seen_at = now(), last_error = null, updated_at = now() where id = ${peer.id}`.execute(tx);
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
    await sql`update federation_peers set state = 'disabled', accepted_there_at = null, accepted_here_at = null,
        last_error = 'the peer ended the pairing', updated_at = now() where id = ${peerId}`.execute(tx);
  });
  return { state: 'unpaired' };
}
