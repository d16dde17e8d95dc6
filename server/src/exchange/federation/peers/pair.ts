import { randomBytes } from 'node:crypto';
import { acceptPeer, addPeer, disablePeer, removePeer, updatePeer } from '@vitrine/contract/federation';
import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { refreshPublic } from '../../../access/mirrored-audience.ts';
import type { Deps } from '../../../core/deps.ts';
import { handle } from '../../../core/handle.ts';
import { enqueue } from '../../../core/job-table.ts';
import { wakeDelivery } from '../../../core/outbox/enqueue.ts';
import { readerLanguage } from '../../../core/reader-language.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { storedForm } from '../../../platform/language/sentence.ts';
import { type Install, instanceDocument, readInstall, requireInstall } from '../identity.ts';
import { leavePeer } from '../mirror/purge.ts';
import { OutboundError, postSigned } from '../outbound.ts';
import { objectUri } from '../protocol/addresses.ts';
import { fingerprint } from '../protocol/signature.ts';
import { type RevokedShare, revokeSharesWith } from '../shares/revoke.ts';
import { hasEnded } from './handshake.ts';
import { readInstanceAt } from './instance.ts';
import { announceKey, needsKeyAnnouncement, recordAnnouncedKey } from './rotate.ts';
import { readPeer } from './show.ts';

/** A peer's row, read under its lock. */
interface LockedPeer {
  id: string;
  instance_url: string;
  public_key: Buffer;
  state: 'pending_inbound' | 'pending_outbound' | 'connected' | 'disabled';
  nonce: string;
  accepted_here: boolean;
  accepted_there: boolean;
}

async function lockPeer(tx: Tx, id: string): Promise<LockedPeer> {
  const { rows } = await sql<LockedPeer>`select id, instance_url, public_key, state, nonce,
      accepted_here_at is not null as accepted_here, accepted_there_at is not null as accepted_there
    from federation_peers where id = ${id} for no key update`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row;
}

function record(tx: Tx, caller: SignedIn, event: string, peer: { instance_url: string; public_key: Buffer }) {
  return recordEvent(tx, caller, {
    event: `federation.peer.${event}`,
    metadata: { instance_url: peer.instance_url, fingerprint: fingerprint(peer.public_key) },
  });
}

function freshNonce(): string {
  return randomBytes(16).toString('base64url');
}

/** Reads and pins the key of the install at this address (FED-10). */
export const add = handle(addPeer, async (deps, { caller, body, http }) => {
  const own = await requireInstall(deps);
  const found = await readInstanceAt(deps, body.address);
  if (found.url === own.url) throw refuse('peer-is-this-library');
  const id = await deps.db.transaction().execute(async (tx) => {
    const rows = await tx
      .insertInto('federation_peers')
      .values({
        instance_url: found.url,
        display_name: found.name,
        public_key: found.publicKey,
        capabilities: found.capabilities,
        state: 'pending_outbound',
        nonce: freshNonce(),
        created_by_user_ref: caller.ref,
      })
      .onConflict((conflict) => conflict.column('instance_url').doNothing())
      .returning('id')
      .execute();
    const row = rows[0];
    if (row === undefined) throw refuse('peer-exists');
    await record(tx, caller, 'created', { instance_url: found.url, public_key: found.publicKey });
    return row.id;
  });
  return { status: 201, body: await readPeer(deps.db, readerLanguage(caller, http), id) };
});

/**
 * Announces the current key first, since the peer may have pinned a former one; it may not know this library at all.
 */
async function announceKeyFirst(deps: Deps, own: Install, peer: LockedPeer): Promise<void> {
  if (!(await needsKeyAnnouncement(deps.db, own, peer.id))) return;
  try {
    await announceKey(deps, own, peer.instance_url);
  } catch (error) {
    // The response to the step itself shows whether the peer accepts the key.
    if (!(error instanceof OutboundError)) throw error;
  }
}

/** Sends our side of the pairing; throws 422 when the peer cannot be reached or refuses it. */
async function sendHandshake(deps: Deps, own: Install, peer: LockedPeer): Promise<'connected' | 'pending'> {
  const step = peer.state === 'pending_outbound' ? 'offer' : 'confirm';
  const body = {
    '@context': 'https://artist-alley.org/protocol/v1',
    type: step === 'offer' ? 'aa:Offer' : 'aa:Confirm',
    instance: instanceDocument(own),
    nonce: peer.nonce,
    published: new Date().toISOString(),
  };
  try {
    await announceKeyFirst(deps, own, peer);
    const answer = await postSigned(
      deps,
      { ...own, former: new Map() },
      `${peer.instance_url}/federation/peers/${step}`,
      body,
    );
    await recordAnnouncedKey(deps.db, own, peer.instance_url);
    const state = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'state') : null;
    return state === 'connected' ? 'connected' : 'pending';
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    await deps.db
      .updateTable('federation_peers')
      .set({ last_error: storedForm(error.sentence) })
      .where('id', '=', peer.id)
      .execute();
    throw refuse('peer-did-not-take-part', { reason: error.sentence });
  }
}

/** Turns a pairing that the peer has ended into a new offer, which its administrator accepts again (FED-14). */
async function offerAgain(tx: Tx, peer: LockedPeer): Promise<LockedPeer> {
  const fresh = { state: 'pending_outbound', nonce: freshNonce() } as const;
  await tx
    .updateTable('federation_peers')
    .set({
      ...fresh,
      accepted_here_at: sql<string>`now()`,
      accepted_there_at: null,
      last_error: null,
      updated_at: sql<string>`now()`,
    })
    .where('id', '=', peer.id)
    .execute();
  return { ...peer, ...fresh };
}

/**
 * States that an administrator here compared the fingerprints (FED-11). The peer is connected once both sides have
 * accepted. Repeatable: when the peer could not be reached, the next call sends the step again.
 */
export const accept = handle(acceptPeer, async (deps, { caller, params, http }) => {
  const own = await requireInstall(deps);
  const peer = await deps.db.transaction().execute(async (tx) => {
    const locked = await lockPeer(tx, params.id);
    if (!locked.accepted_here) await record(tx, caller, 'accepted', locked);
    if (hasEnded(locked)) return offerAgain(tx, locked);
    if (locked.state === 'disabled') {
      await record(tx, caller, 'enabled', locked);
      await tx
        .updateTable('federation_peers')
        .set({ state: 'connected', updated_at: sql<string>`now()` })
        .where('id', '=', locked.id)
        .execute();
      await wakeDelivery(tx, [locked.id]);
    } else {
      await tx
        .updateTable('federation_peers')
        .set({
          accepted_here_at: (eb) => eb.fn.coalesce('accepted_here_at', sql<string>`now()`),
          updated_at: sql<string>`now()`,
        })
        .where('id', '=', locked.id)
        .execute();
    }
    return locked;
  });
  if (peer.state === 'pending_inbound' || peer.state === 'pending_outbound') {
    const answer = await sendHandshake(deps, own, peer);
    // The other administrator accepts an offer later; a confirmation completes the pairing on both sides.
    if (peer.state === 'pending_inbound' || answer === 'connected') {
      await deps.db
        .updateTable('federation_peers')
        .set({
          state: 'connected',
          last_error: null,
          last_seen_at: sql<string>`now()`,
          accepted_there_at: (eb) => eb.fn.coalesce('accepted_there_at', sql<string>`now()`),
          updated_at: sql<string>`now()`,
        })
        .where('id', '=', peer.id)
        .where('state', 'in', ['pending_inbound', 'pending_outbound'])
        .execute();
    }
  }
  return { status: 200, body: await readPeer(deps.db, readerLanguage(caller, http), params.id) };
});

export const disable = handle(disablePeer, async ({ db }, { caller, params, http }) => {
  await db.transaction().execute(async (tx) => {
    const peer = await lockPeer(tx, params.id);
    if (peer.state === 'disabled') return;
    if (peer.state !== 'connected') throw refuse('peer-not-connected');
    await tx
      .updateTable('federation_peers')
      .set({ state: 'disabled', updated_at: sql<string>`now()` })
      .where('id', '=', peer.id)
      .execute();
    await record(tx, caller, 'disabled', peer);
  });
  return { status: 200, body: await readPeer(db, readerLanguage(caller, http), params.id) };
});

/** Changes whether posts that are public at the peer are public here, also those that arrived before. */
export const update = handle(updatePeer, async ({ db }, { caller, params, body, http }) => {
  const { accept_public: acceptPublic } = body;
  if (acceptPublic != null) {
    await db.transaction().execute(async (tx) => {
      const peer = await lockPeer(tx, params.id);
      const { numUpdatedRows } = await tx
        .updateTable('federation_peers')
        .set({ accept_public: acceptPublic, updated_at: sql<string>`now()` })
        .where('id', '=', peer.id)
        .where('accept_public', '<>', acceptPublic)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return;
      await refreshPublic(tx, peer.id);
      await recordEvent(tx, caller, {
        event: 'federation.peer.changed',
        metadata: { instance_url: peer.instance_url, accept_public: acceptPublic },
      });
    });
  }
  return { status: 200, body: await readPeer(db, readerLanguage(caller, http), params.id) };
});

/** Returns the shares that end, for the request to the peer; none if it was not connected, or without an address. */
function unsharesOf(own: Install | null, peer: LockedPeer, revoked: readonly RevokedShare[]) {
  if (own === null || peer.state !== 'connected') return [];
  return revoked.map(({ kind, object_id, target_actor, target_team, granted_by: grantedBy }) => ({
    grantedBy,
    details: {
      object_kind: kind,
      object: objectUri(own.url, `${kind}s`, object_id),
      target_peer: peer.instance_url,
      ...(target_actor === null ? {} : { target_user: target_actor }),
      ...(target_team === null ? {} : { target_team }),
    },
  }));
}

/**
 * Ends the pairing (FED-14): nothing more is sent or received, the peer is asked to purge what it has, and everything
 * received from it is removed here.
 */
export const remove = handle(removePeer, async (deps, { caller, params }) => {
  const own = await readInstall(deps);
  await deps.db.transaction().execute(async (tx) => {
    const peer = await lockPeer(tx, params.id);
    const { instance_url: url } = peer;
    const revoked = await revokeSharesWith(tx, caller, { id: peer.id, url });
    await leavePeer(tx, peer.id);
    await tx.deleteFrom('federation_peers').where('id', '=', peer.id).execute();
    await tx.deleteFrom('federation_offers').where('instance_url', '=', url).execute();
    await record(tx, caller, 'removed', peer);
    await enqueue(tx, 'unpair', { url, unshares: unsharesOf(own, peer, revoked) }, { key: `unpair:${url}` });
  });
  return { status: 204 };
});
