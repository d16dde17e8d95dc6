import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Deps } from '../../core/deps.ts';
import { enqueue, type JobHandler } from '../../core/job-table.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { type Sentence, sentence, storedForm } from '../../platform/language/sentence.ts';
import { rememberAnnounced } from './announced.ts';
import { rememberSent } from './fields/send.ts';
import { type Install, readInstall } from './identity.ts';
import { OutboundError, postSigned } from './outbound.ts';
import type { OutboxRow } from './outbox-row.ts';
import {
  announceKey,
  isTemporaryFailure,
  needsKeyAnnouncement,
  scheduleKeyAnnouncement,
} from './peers/rotate.ts';
import { renderChange } from './render.ts';

/** How long delivery of a change is retried (FED-21). */
export const GIVE_UP_AFTER_MS = 3 * 24 * 3600 * 1000;
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3 * 3600 * 1000;
/**
 * The lease of a worker on a peer, renewed before every change, which takes at most 30 seconds to send. After
 * a crash, delivery resumes when the lease expires.
 */
const LEASE_SECONDS = 60;
/** Limits of one request that receivers accept (FED-77). */
const MOST_OF_BATCH = 50;
const MOST_BATCH_BYTES = 1024 ** 2 - 2;
/** How often a change that was refused because of a key is retried with current keys. */
const MOST_REPAIRS = 3;
/** The retry delay while another worker holds the lease. */
const RETRY_LEASE_MS = 2000;

/** Returns how long to wait after this many failed attempts before the last one, in milliseconds. */
export function pauseAfter(attempts: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);
}

/** Rejections that are retried; all others are final. */
const passing = new Set(['stale_request', 'peer_disabled', 'unknown_peer', 'unshared_object_pending']);

/** The receiver of a delivery. */
interface ConnectedPeer {
  id: string;
  url: string;
  takesBatches: boolean;
}

async function renewLease(db: Database, peerId: string): Promise<void> {
  await db
    .updateTable('federation_peers')
    .set({ delivering_until: sql<string>`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .where('id', '=', peerId)
    .execute();
}

async function lease(db: Database, peerId: string): Promise<ConnectedPeer | 'taken' | null> {
  const { rows } = await sql<ConnectedPeer & { state: string; taken: boolean }>`
    with leased as (
      update federation_peers set delivering_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where id = ${peerId} and state = 'connected' and (delivering_until is null or delivering_until < now())
      returning id)
    select id, instance_url as url, state, 'batched-inbox-v1' = any(capabilities) as "takesBatches", not exists (select from leased) as taken from federation_peers where id = ${peerId}`.execute(
    db,
  );
  const [peer] = rows;
  if (peer === undefined || peer.state !== 'connected') return null;
  return peer.taken ? 'taken' : peer;
}

/** Returns the oldest pending changes in order; none once the peer is disabled, also during a delivery (FED-12). */
async function nextRows(db: Database, peerId: string, most: number): Promise<OutboxRow[]> {
  const { rows } =
    await sql<OutboxRow>`select seq, peer_id, activity_id, activity, kind, object_id, actor_ref, details,
      envelope, preludes, attempts, created_at, greatest(0, extract(epoch from next_attempt_at - now()) * 1000)::float8 as wait_ms
    from federation_outbox where peer_id = ${peerId} and status = 'queued'
      and exists (select from federation_peers pe where pe.id = ${peerId} and pe.state = 'connected') order by seq limit ${most}`.execute(
      db,
    );
  return rows;
}

async function recordOutcome(
  db: Database,
  row: OutboxRow,
  status: 'sent' | 'failed' | 'skipped',
  error: Sentence | null,
): Promise<void> {
  // Deletes the envelopes, because they would preserve withdrawn content. A change that is tried again is rendered anew.
  await db
    .updateTable('federation_outbox')
    .set({
      status,
      last_error: error === null ? null : storedForm(error),
      attempts: (eb) => eb('attempts', '+', 1),
      sent_at: sql<string>`now()`,
      envelope: null,
      preludes: [],
    })
    .where('seq', '=', row.seq)
    .where('status', '=', sql.lit('queued'))
    .execute();
  // The definitions may not have arrived, so they are sent with the next change.
  if (status === 'failed' && row.preludes.length > 0)
    await db.deleteFrom('federation_sent_fields').where('peer_id', '=', row.peer_id).execute();
}

/** Records that a change was not sent: its object is gone, or the peer may not have it (any more). */
async function skip(db: Database, row: OutboxRow): Promise<void> {
  const { activity, kind, object_id: object } = row;
  await db.transaction().execute(async (tx) => {
    await recordOutcome(tx, row, 'skipped', null);
    const rows = await tx
      .selectFrom('federation_peers')
      .select('instance_url as url')
      .where('id', '=', row.peer_id)
      .execute();
    const target = kind === 'comment' ? {} : { target: { kind, id: object } };
    const metadata = { instance_url: rows[0]?.url ?? null, activity, kind, object };
    await recordEvent(tx, null, { event: 'federation.emission.skipped', ...target, metadata });
  });
}

/** Returns when to try again, or null when the change is given up. */
async function postpone(
  db: Database,
  row: OutboxRow,
  { explanation, retryAfterMs }: Fault,
): Promise<number | null> {
  const error = storedForm(explanation);
  await db.updateTable('federation_peers').set({ last_error: error }).where('id', '=', row.peer_id).execute();
  if (Date.now() - Date.parse(row.created_at) > GIVE_UP_AFTER_MS) {
    await recordOutcome(db, row, 'failed', explanation);
    return null;
  }
  const wait = retryAfterMs === null ? pauseAfter(row.attempts) : Math.min(retryAfterMs, LONGEST_WAIT_MS);
  await db
    .updateTable('federation_outbox')
    .set({
      attempts: (eb) => eb('attempts', '+', 1),
      last_error: error,
      next_attempt_at: sql<string>`now() + make_interval(secs => ${wait / 1000})`,
    })
    .where('seq', '=', row.seq)
    .execute();
  return wait;
}

/** Whether an envelope carries content that is encrypted for persons. */
function isEncrypted(envelope: string | null): boolean {
  return envelope !== null && 'encrypted' in JSON.parse(envelope);
}

/**
 * Returns the envelopes of a change: every attempt sends the same bytes, so that the peer recognises what it has
 * already. Encrypted content is rendered anew under the same id, since the right to send it may have ended (FED-58).
 */
async function keptEnvelopes(
  deps: Deps,
  install: Install,
  row: OutboxRow,
): Promise<{ preludes: string[]; envelope: string | null }> {
  if (!isEncrypted(row.envelope) && (row.envelope !== null || row.preludes.length > 0)) return row;
  const { sent, announcement, ...fresh } = await renderChange(deps, install, row, () =>
    renewLease(deps.db, row.peer_id),
  );
  const rendered = { ...fresh, preludes: [...row.preludes, ...fresh.preludes] };
  await deps.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('federation_outbox')
      .set({ envelope: rendered.envelope, preludes: rendered.preludes })
      .where('seq', '=', row.seq)
      .execute();
    await rememberSent(tx, row.peer_id, sent);
    await rememberAnnounced(tx, row.peer_id, row.activity_id, announcement);
  });
  return rendered;
}

/** Why an envelope was not delivered; `final`: retrying is pointless. */
interface Fault {
  explanation: Sentence;
  final: boolean;
  /** The requested delay in milliseconds; null if the peer requested none. */
  retryAfterMs: number | null;
  /** The protocol's reason code, if the peer sent one. */
  reason: string | null;
}

function faultOf(error: OutboundError): Fault {
  const { status, reason, sentence: explanation, retryAfterMs } = error;
  const refused = status !== null && status >= 400 && status < 500 && status !== 429;
  return { explanation, final: refused && !passing.has(reason ?? ''), retryAfterMs, reason };
}

/** Sends one envelope. Returns null if the peer accepted it. */
async function post(deps: Deps, install: Install, peer: ConnectedPeer, text: string): Promise<Fault | null> {
  await renewLease(deps.db, peer.id);
  try {
    await postSigned(deps, install, `${peer.url}/federation/inbox`, text);
    return null;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return faultOf(error);
  }
}

const BatchAnswer = Type.Object({
  results: Type.Array(
    Type.Object({ status: Type.String(), reason: Type.Optional(Type.String({ maxLength: 100 })) }),
  ),
});
const batchAnswer = compileLater(BatchAnswer);

/**
 * Sends envelopes in one request. Returns the outcome of each, or null if the peer accepts only single
 * envelopes.
 */
async function postBatch(
  deps: Deps,
  install: Install,
  peer: ConnectedPeer,
  texts: readonly string[],
): Promise<(Fault | null)[] | null> {
  await renewLease(deps.db, peer.id);
  let answer: unknown;
  try {
    answer = await postSigned(deps, install, `${peer.url}/federation/inbox/batch`, `[${texts.join(',')}]`);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const fault = faultOf(error);
    return fault.final ? null : texts.map(() => fault);
  }
  if (!batchAnswer().Check(answer) || answer.results.length !== texts.length) return null;
  return answer.results.map(({ status, reason = 'no reason' }) =>
    status === 'rejected'
      ? {
          explanation: sentence('it refuses the change ({reason})', { reason }),
          final: !passing.has(reason),
          retryAfterMs: null,
          reason,
        }
      : null,
  );
}

/** A change with its envelopes: the definitions that it needs, followed by its own envelope, if any. */
interface Prepared {
  row: OutboxRow;
  preludes: readonly string[];
  envelope: string | null;
}

const textsOf = ({ preludes, envelope }: Prepared) => [...preludes, ...(envelope === null ? [] : [envelope])];

/** Renders the envelopes of as many changes as fit into one request, but at least one change (FED-77). */
async function prepare(deps: Deps, install: Install, rows: readonly OutboxRow[]): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  let count = 0;
  let bytes = 0;
  for (const row of rows) {
    const change = { row, ...(await keptEnvelopes(deps, install, row)) };
    const texts = textsOf(change);
    count += texts.length;
    bytes += texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
    if (prepared.length > 0 && (count > MOST_OF_BATCH || bytes > MOST_BATCH_BYTES)) break;
    prepared.push(change);
  }
  return prepared;
}

/** Re-encrypts a change with fresh keys of its recipients, because the stored ones no longer decrypt. */
async function encryptAgain(db: Database, row: OutboxRow): Promise<void> {
  await db
    .updateTable('federation_outbox')
    .set({ envelope: null, preludes: [] })
    .where('seq', '=', row.seq)
    .execute();
  await db
    .updateTable('remote_actors')
    .set({ fetched_at: '-infinity' })
    .where('peer_id', '=', row.peer_id)
    .execute();
}

/**
 * Records the outcome of one change. Returns how long to wait before the next attempt, or null when it is
 * settled.
 */
async function record(
  db: Database,
  change: Prepared,
  faults: readonly (Fault | null)[],
): Promise<number | null> {
  const { row, preludes, envelope } = change;
  if (faults.length === 0) {
    await skip(db, row);
    return null;
  }
  // A peer that does not support definitions still gets the change itself.
  const passingFault = faults.find((fault) => fault?.final === false);
  if (passingFault != null) return postpone(db, row, passingFault);
  const fault = envelope === null ? null : (faults.at(-1) ?? null);
  if (fault?.reason === 'decrypt_failed' && row.attempts < MOST_REPAIRS) {
    await encryptAgain(db, row);
    return postpone(db, row, fault);
  }
  if (
    fault?.reason === 'sig_invalid' &&
    row.attempts < MOST_REPAIRS &&
    (await scheduleKeyAnnouncement(db, row.peer_id))
  )
    return postpone(db, row, fault);
  if (fault === null) await recordOutcome(db, row, 'sent', null);
  else await recordOutcome(db, { ...row, preludes: [...preludes] }, 'failed', fault.explanation);
  return null;
}

/** Sends the envelopes of one change in requests of their own, up to the first that has to wait. */
async function sendSingly(
  deps: Deps,
  install: Install,
  peer: ConnectedPeer,
  change: Prepared,
): Promise<number | null> {
  const faults: (Fault | null)[] = [];
  for (const text of textsOf(change)) {
    faults.push(await post(deps, install, peer, text));
    if (faults.at(-1)?.final === false) break;
  }
  return record(deps.db, change, faults);
}

/**
 * Sends changes in order, in one request if the peer accepts batches. Returns how long to wait before the next attempt,
 * or null if no change has to be retried.
 */
async function send(
  deps: Deps,
  install: Install,
  peer: ConnectedPeer,
  rows: readonly OutboxRow[],
): Promise<number | null> {
  const prepared = await prepare(deps, install, rows);
  const texts = prepared.flatMap(textsOf);
  const faults = texts.length > 1 && peer.takesBatches ? await postBatch(deps, install, peer, texts) : null;
  let wait: number | null = null;
  let at = 0;
  for (const change of prepared) {
    const count = textsOf(change).length;
    const waited =
      faults === null
        ? await sendSingly(deps, install, peer, change)
        : await record(deps.db, change, faults.slice(at, at + count));
    at += count;
    wait ??= waited;
    if (faults === null && wait !== null) return wait;
  }
  if (wait === null) {
    await deps.db
      .updateTable('federation_peers')
      .set({ last_error: null, last_seen_at: sql<string>`now()` })
      .where('id', '=', peer.id)
      .execute();
  }
  return wait;
}

/**
 * Announces a new key of this install to a peer before sending anything else (FED-56). Returns how long to wait before
 * the next attempt, or null to continue: a peer that rejects the key still accepts pending changes until the former key
 * expires.
 */
async function announceNewKey(
  deps: Deps,
  install: Install,
  { id, url }: ConnectedPeer,
): Promise<number | null> {
  if (!(await needsKeyAnnouncement(deps.db, install, id))) return null;
  const [row] = await nextRows(deps.db, id, 1);
  if (row !== undefined && row.wait_ms > 0) return row.wait_ms;
  try {
    await announceKey(deps, install, url);
    return null;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const explanation = sentence('it has not accepted the new key of this library: {reason}', {
      reason: error.sentence,
    });
    await deps.db
      .updateTable('federation_peers')
      .set({ last_error: storedForm(explanation) })
      .where('id', '=', id)
      .execute();
    if (!isTemporaryFailure(error)) return null;
    return row === undefined ? LONGEST_WAIT_MS : postpone(deps.db, row, { ...faultOf(error), explanation });
  }
}

/**
 * Sends the pending changes of a peer in order, and stops at the first that cannot be delivered, because
 * later ones must not overtake it (FED-21). After a crash, the same envelope is sent again, which the peer
 * ignores.
 */
export function deliverJob(deps: Deps): JobHandler<'deliver'> {
  return async ({ peer }) => {
    const { db } = deps;
    const later = (ms: number) =>
      enqueue(
        db,
        'deliver',
        { peer },
        { key: `deliver:${peer}`, runAt: new Date(Date.now() + ms).toISOString() },
      );
    const install = await readInstall(deps);
    const leased = install === null ? null : await lease(db, peer);
    if (install === null || leased === null) return;
    if (leased === 'taken') return later(RETRY_LEASE_MS);
    let wait: number | null = null;
    try {
      wait = await announceNewKey(deps, install, leased);
      if (wait !== null) return later(wait);
      // The previous call may have announced the current key.
      const own = (await readInstall(deps)) ?? install;
      for (;;) {
        const rows = await nextRows(db, peer, leased.takesBatches ? MOST_OF_BATCH : 1);
        const [first] = rows;
        if (first === undefined) break;
        wait = first.wait_ms > 0 ? first.wait_ms : await send(deps, own, leased, rows);
        if (wait !== null) break;
      }
    } finally {
      await db
        .updateTable('federation_peers')
        .set({ delivering_until: null })
        .where('id', '=', peer)
        .execute();
    }
    if (wait !== null) await later(wait);
  };
}
