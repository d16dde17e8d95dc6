import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import { enqueue, type JobHandler } from '../../../core/job-table.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { takeLock } from '../../../platform/database/take-lock.ts';
import { Refusal } from '../../../platform/http/refuse.ts';
import { Rejection } from '../protocol/rejection.ts';
import { fingerprint } from '../protocol/signature.ts';
import { logRefused } from '../rejections.ts';
import type { SignedRequest } from '../signed-request.ts';
import { hasEnded, readHandshake } from './handshake.ts';
import { type FoundInstance, readInstanceAt } from './instance.ts';

/** An offer counts as open for at least this long, so that the bounds do not tell how its look-up ended. */
const COUNTED_MINUTES = 15;

/** The timeout of a look-up, and the time from the start of a round of look-ups to that of the next, which is longer. */
const LOOK_UP_MS = 5000;
const ROUND_MS = 6000;

interface Offer extends FoundInstance {
  nonce: string;
}

/** Returns the one answer to offers that are refused (FED-95); the log has the reason. */
function refusedOffer(logged: string): Rejection {
  return new Rejection('unknown_peer', 'the offer is refused', logged);
}

const isCounted = sql<boolean>`(o.settled_at is null or o.received_at > now() - make_interval(mins => ${COUNTED_MINUTES}))`;

/** Throws Rejection if too many offers are open, in total or of this address (FED-95). */
async function checkOpenOffers({ config }: Deps, tx: Tx, address: string): Promise<void> {
  const { rows } = await sql<{ total: number; own: number }>`
    with open as (
      select o.offered_from from federation_offers o where ${isCounted}
      union all
      select p.offered_from from federation_peers p where p.state = 'pending_inbound'
        and not exists (select from federation_offers o where o.instance_url = p.instance_url and ${isCounted}))
    select count(*) as total, count(*) filter (where offered_from = ${address}) as own from open`.execute(tx);
  const { openOffers, openOffersPerAddress } = config.federation;
  const [{ total, own } = { total: 0, own: 0 }] = rows;
  if (total >= openOffers) throw refusedOffer('too many offers are open');
  if (own >= openOffersPerAddress) throw refusedOffer(`too many offers of ${address} are open`);
}

/** Enqueues the next round of look-ups. Rounds begin at fixed intervals, however long a look-up takes. */
async function enqueueRound(db: Database): Promise<void> {
  const { rows } = await sql<{
    at: string;
  }>`select greatest(now(), max(started_at) + make_interval(secs => ${ROUND_MS / 1000})) as at
    from federation_offers`.execute(db);
  await enqueue(db, 'verify-offers', {}, { key: 'verify-offers', ...(rows[0] && { runAt: rows[0].at }) });
}

/** Stores an offer until it is looked up. The same one of the same key waits once, with its latest nonce. */
async function storeOffer(deps: Deps, tx: Tx, offer: Offer, address: string): Promise<void> {
  // Offers that arrive at once are counted one after the other.
  await takeLock(tx, 'pairingOffers');
  const { numUpdatedRows } = await tx
    .updateTable('federation_offers')
    .set({ nonce: offer.nonce })
    .where('instance_url', '=', offer.url)
    .where('public_key', '=', offer.publicKey)
    .where('settled_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 0n) return;
  await checkOpenOffers(deps, tx, address);
  await tx
    .insertInto('federation_offers')
    .values({
      instance_url: offer.url,
      display_name: offer.name,
      public_key: offer.publicKey,
      capabilities: offer.capabilities,
      nonce: offer.nonce,
      offered_from: address,
    })
    .execute();
  await enqueueRound(tx);
}

interface KnownPeer {
  id: string;
  state: 'pending_inbound' | 'pending_outbound' | 'connected' | 'disabled';
  nonce: string;
  accepted_here: boolean;
  accepted_there: boolean;
}

/** Returns the peer with this address and key under its lock; null if there is none. */
async function lockKnown(tx: Tx, { url, publicKey }: Offer): Promise<KnownPeer | null> {
  const { rows } =
    await sql<KnownPeer>`select id, state, nonce, accepted_here_at is not null as accepted_here,
      accepted_there_at is not null as accepted_there
    from federation_peers where instance_url = ${url} and public_key = ${publicKey} for no key update`.execute(
      tx,
    );
  return rows[0] ?? null;
}

/** Records what a known peer offers. It has the pinned key, so it needs no look-up. */
async function repeatOffer(tx: Tx, peer: KnownPeer, offer: Offer): Promise<{ state: string }> {
  // Both sides may have offered at once; then the offer is also the acceptance of the other side.
  const agreed = peer.state === 'pending_outbound' && peer.accepted_here;
  // The peer had ended the pairing; this one is new, and an administrator here accepts it like any other.
  const isNew = hasEnded(peer);
  const state = agreed ? 'connected' : isNew ? 'pending_inbound' : peer.state;
  await sql`update federation_peers set state = ${state}, accepted_there_at = coalesce(accepted_there_at, now()),
      accepted_here_at = case when ${isNew} then null else accepted_here_at end,
      last_error = case when ${isNew} then null else last_error end,
      nonce = case when ${isNew} or state = 'pending_inbound' then ${offer.nonce} else nonce end,
      display_name = ${offer.name}, capabilities = ${offer.capabilities}::text[], last_seen_at = now(), updated_at = now()
    where id = ${peer.id}`.execute(tx);
  if (isNew || (peer.state === 'pending_inbound' && peer.nonce === offer.nonce))
    await recordEvent(tx, null, { event: 'federation.peer.offered', metadata: metadataOf(offer) });
  return { state: state === 'connected' ? 'connected' : 'pending' };
}

function metadataOf({ url, publicKey }: Offer) {
  return { instance_url: url, fingerprint: fingerprint(publicKey) };
}

/**
 * Receives an offer to pair (FED-10). A repeated offer, even by a peer that was restored from a backup, changes only the
 * nonce. An offer of an install that is not known is answered before its address is looked up, and becomes a peer once
 * that address serves the key that signed it (FED-95).
 */
export async function receiveOffer(
  deps: Deps,
  request: SignedRequest,
  address: string,
): Promise<{ state: string }> {
  const offer = readHandshake(request, 'aa:Offer');
  return deps.db.transaction().execute(async (tx) => {
    const known = await lockKnown(tx, offer);
    if (known !== null) return repeatOffer(tx, known, offer);
    await storeOffer(deps, tx, offer, address);
    return { state: 'pending' };
  });
}

/** Throws Rejection unless the address of an offer serves the key that signed it. */
async function lookUp({ config }: Deps, offer: Offer): Promise<void> {
  const patience = { headersMs: LOOK_UP_MS, totalMs: LOOK_UP_MS };
  let served: FoundInstance;
  try {
    served = await readInstanceAt({ config, patience }, offer.url);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw refusedOffer(`its own address does not answer: ${error.message}`);
  }
  if (!served.publicKey.equals(offer.publicKey)) throw refusedOffer('its address serves another key');
}

interface WaitingOffer {
  id: string;
  instance_url: string;
  display_name: string;
  public_key: Buffer;
  capabilities: string[];
  offered_from: string;
}

/** Adds the peer of an offer that was verified; throws Rejection if its address is known with another key. */
async function addOffered(tx: Tx, offer: Offer, address: string): Promise<void> {
  const created =
    await sql`insert into federation_peers (instance_url, display_name, public_key, capabilities, state, nonce, accepted_there_at, offered_from)
    values (${offer.url}, ${offer.name}, ${offer.publicKey}, ${offer.capabilities}::text[], 'pending_inbound',
      ${offer.nonce}, now(), ${address})
    on conflict (instance_url) do nothing`.execute(tx);
  if (created.numAffectedRows === 1n) {
    await recordEvent(tx, null, { event: 'federation.peer.created', metadata: metadataOf(offer) });
    await recordEvent(tx, null, { event: 'federation.peer.offered', metadata: metadataOf(offer) });
    return;
  }
  if ((await lockKnown(tx, offer)) === null) throw refusedOffer('the address is known with another key');
  await sql`update federation_peers set accepted_there_at = coalesce(accepted_there_at, now()),
    nonce = case when state = 'pending_inbound' then ${offer.nonce} else nonce end, updated_at = now()
    where instance_url = ${offer.url}`.execute(tx);
}

/** Looks up one offer, and adds its peer or logs why it is refused. Repeatable after a crash. */
async function verify(deps: Deps, waiting: WaitingOffer): Promise<void> {
  const { id, instance_url: url, display_name: name, public_key: publicKey, capabilities } = waiting;
  const settle = (tx: Tx) =>
    sql<{
      nonce: string;
    }>`update federation_offers set settled_at = now() where id = ${id} and settled_at is null
      returning nonce`.execute(tx);
  try {
    await lookUp(deps, { url, name, publicKey, capabilities, nonce: '' });
    await deps.db.transaction().execute(async (tx) => {
      const [settled] = (await settle(tx)).rows;
      if (settled === undefined) return;
      await addOffered(tx, { url, name, publicKey, capabilities, ...settled }, waiting.offered_from);
    });
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    await logRefused(deps.db, error, {
      peerId: null,
      instanceUrl: url,
      activityUri: null,
      type: 'POST /federation/peers/offer',
    });
    await deps.db.transaction().execute(settle);
  }
}

/** Looks up all waiting offers at the same time, so that one that takes long does not hold up the others. */
export function verifyOffersJob(deps: Deps): JobHandler<'verify-offers'> {
  return async () => {
    const rows = await deps.db
      .updateTable('federation_offers')
      .set({ started_at: sql<string>`now()` })
      .where('settled_at', 'is', null)
      .returning(['id', 'instance_url', 'display_name', 'public_key', 'capabilities', 'offered_from'])
      .execute();
    await Promise.all(rows.map((waiting) => verify(deps, waiting)));
  };
}

/** Deletes offers that no longer count, and starts look-ups whose job has failed for good. */
export async function keepOffers({ db }: Deps): Promise<void> {
  await sql`delete from federation_offers o where not ${isCounted}`.execute(db);
  const rows = await db
    .selectFrom('federation_offers')
    .where('settled_at', 'is', null)
    .limit(sql.lit(1))
    .execute();
  if (rows.length > 0) await enqueueRound(db);
}
