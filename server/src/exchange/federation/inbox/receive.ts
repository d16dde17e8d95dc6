import type { PeerCaller } from '../../../access/federation.ts';
import type { Deps } from '../../../core/deps.ts';
import { formerKeys, type RemoteActor, resolveActor } from '../actors.ts';
import { type Install, requireInstall } from '../identity.ts';
import { type Envelope, type PlainEnvelope, readEnvelope } from '../protocol/envelope.ts';
import { Rejection } from '../protocol/rejection.ts';
import { verifyEnvelope } from '../protocol/signature.ts';
import { logRefused } from '../rejections.ts';
import { apply } from './apply.ts';
import { openEnvelope } from './decrypt.ts';

/** The outcome of an envelope: applied, or a duplicate. */
export interface Received {
  status: 'accepted' | 'replayed';
}

type Sender = PeerCaller & { url: string };

/** Maximum number of envelopes in one batch. */
const MOST_OF_BATCH = 50;

/**
 * Verifies the envelope with the key of its actor or a former one in its grace period; if none fits, with the key in
 * their document (§5.3).
 */
async function verifiedActor(
  deps: Deps,
  install: Install,
  sender: Sender,
  envelope: Envelope,
): Promise<RemoteActor> {
  const actor = await resolveActor(deps, install, sender, envelope.actor);
  for (const key of [actor.signing_key, ...(await formerKeys(deps.db, actor.uri))]) {
    try {
      verifyEnvelope(envelope.received, key);
      return actor;
    } catch (error) {
      if (!(error instanceof Rejection) || error.reason !== 'sig_invalid') throw error;
    }
  }
  const fresh = await resolveActor(deps, install, sender, envelope.actor, { fresh: true });
  verifyEnvelope(envelope.received, fresh.signing_key);
  return fresh;
}

/** Returns the owner of the object of an envelope: often, but not always, the actor. */
async function ownerOf(
  deps: Deps,
  install: Install,
  sender: Sender,
  envelope: PlainEnvelope,
  actor: RemoteActor,
): Promise<RemoteActor> {
  if (envelope.type !== 'Create' && envelope.type !== 'Update') return actor;
  const attributedTo = 'attributedTo' in envelope.object ? envelope.object.attributedTo : undefined;
  return attributedTo === undefined || attributedTo === actor.uri
    ? actor
    : resolveActor(deps, install, sender, attributedTo);
}

/**
 * Verifies one envelope and applies it with its id in one transaction (FED-22). A replay, even of an envelope whose
 * first delivery was interrupted, changes nothing. Throws Rejection.
 */
async function receive(deps: Deps, install: Install, sender: Sender, value: unknown): Promise<Received> {
  const envelope = readEnvelope(value);
  const known = await deps.db
    .selectFrom('federation_inbox')
    .where('activity_uri', '=', envelope.id)
    .execute();
  if (known.length > 0) return { status: 'replayed' };
  const actor = await verifiedActor(deps, install, sender, envelope);
  const { envelope: opened, recipients } = await openEnvelope(deps, install, envelope);
  const owner = await ownerOf(deps, install, sender, opened, actor);
  return deps.db.transaction().execute(async (tx) => {
    // Serialises the envelopes of a peer, which depend on each other.
    const rows = await tx
      .selectFrom('federation_peers')
      .where('id', '=', sender.peerId)
      .where('state', '=', 'connected')
      .forNoKeyUpdate()
      .execute();
    if (rows.length === 0) throw new Rejection('peer_disabled', 'the pairing is not in force');
    const added = await tx
      .insertInto('federation_inbox')
      .values({ activity_uri: envelope.id, peer_id: sender.peerId, type: opened.type })
      .onConflict((conflict) => conflict.doNothing())
      .returning('activity_uri')
      .execute();
    if (added.length === 0) return { status: 'replayed' as const };
    await apply(tx, { install, sender, actor, owner, recipients }, opened);
    return { status: 'accepted' as const };
  });
}

function textOf(value: unknown, key: string): string | null {
  const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : null;
  return typeof text === 'string' ? text : null;
}

async function receiveLogged(
  deps: Deps,
  install: Install,
  sender: Sender,
  value: unknown,
): Promise<Received> {
  try {
    return await receive(deps, install, sender, value);
  } catch (error) {
    if (error instanceof Rejection) {
      await logRefused(deps.db, error, {
        peerId: sender.peerId,
        instanceUrl: sender.url,
        activityUri: textOf(value, 'id'),
        type: textOf(value, 'type'),
      });
    }
    throw error;
  }
}

/** Receives one envelope; throws Rejection. */
export async function receiveOne(deps: Deps, sender: Sender, value: unknown): Promise<Received> {
  return receiveLogged(deps, await requireInstall(deps), sender, value);
}

/** Receives envelopes in order; a rejection affects only its own envelope. */
export async function receiveBatch(deps: Deps, sender: Sender, value: unknown) {
  if (!Array.isArray(value) || value.length > MOST_OF_BATCH) {
    throw new Rejection('malformed', `a batch is a list of at most ${MOST_OF_BATCH} envelopes`);
  }
  const install = await requireInstall(deps);
  const results: ({ id: string | null } & (Received | { status: 'rejected'; reason: string }))[] = [];
  for (const envelope of value) {
    const id = textOf(envelope, 'id');
    try {
      results.push({ id, ...(await receiveLogged(deps, install, sender, envelope)) });
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      results.push({ id, status: 'rejected', reason: error.reason });
    }
  }
  return { results };
}
