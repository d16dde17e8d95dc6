import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import type { Database } from '../platform/database/pool.ts';
import { enqueue } from '../platform/jobs/enqueue.ts';
import type { JobHandler } from '../platform/jobs/worker.ts';
import { rememberSent } from './fields/send.ts';
import { type Install, readInstall } from './identity.ts';
import { OutboundError, postSigned } from './outbound.ts';
import { renderChange } from './render.ts';

/** A change that waits for a peer. */
export interface OutboxRow {
  seq: number;
  peer_id: string;
  activity_id: string;
  activity: 'create' | 'update' | 'delete' | 'like' | 'unlike' | 'share' | 'unshare';
  kind: 'post' | 'asset' | 'collection' | 'comment' | 'field';
  object_id: string;
  actor_ref: number | null;
  details: Record<string, unknown>;
  envelope: string | null;
  /** Envelopes that are sent before it. */
  preludes: string[];
  attempts: number;
  created_at: string;
  wait_ms: number;
}

/** After this long a change is given up (FED-21). */
const GIVE_UP_AFTER_MS = 3 * 24 * 3600 * 1000;
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3 * 3600 * 1000;
/**
 * How long one worker alone sends to a peer; renewed before every change, which takes at most 30 seconds to send. After a crash
 * the peer waits for the rest of it.
 */
const LEASE_SECONDS = 60;
/** Another worker has the lease: look again after this long. */
const RETRY_LEASE_MS = 2000;

/** Returns how long to wait after this many failed attempts before the last one, in milliseconds. */
function pauseAfter(attempts: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);
}

/** Reasons that a later attempt may overcome; every other rejection is final. */
const passing = new Set(['stale_request', 'peer_disabled', 'unknown_peer', 'unshared_object_pending']);

async function lease(db: Database, peerId: string): Promise<{ url: string } | 'taken' | null> {
  const { rows } = await sql<{ url: string; state: string; taken: boolean }>`
    with leased as (
      update federation_peers set delivering_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where id = ${peerId} and state = 'connected' and (delivering_until is null or delivering_until < now())
      returning id)
    select instance_url as url, state, not exists (select from leased) as taken from federation_peers where id = ${peerId}`.execute(
    db,
  );
  const [peer] = rows;
  if (peer === undefined || peer.state !== 'connected') return null;
  return peer.taken ? 'taken' : { url: peer.url };
}

async function nextRow(db: Database, peerId: string): Promise<OutboxRow | null> {
  const { rows } =
    await sql<OutboxRow>`select seq, peer_id, activity_id, activity, kind, object_id, actor_ref, details,
      envelope, preludes, attempts, created_at, greatest(0, extract(epoch from next_attempt_at - now()) * 1000)::float8 as wait_ms
    from federation_outbox where peer_id = ${peerId} and status = 'queued' order by seq limit 1`.execute(db);
  return rows[0] ?? null;
}

async function settle(
  db: Database,
  row: OutboxRow,
  status: 'sent' | 'failed' | 'skipped',
  error: string | null,
): Promise<void> {
  // What was sent is not kept: words that were withdrawn would stay in it.
  await sql`update federation_outbox set status = ${status}, last_error = ${error}, attempts = attempts + 1, sent_at = now(),
      envelope = case when ${status} = 'failed' then envelope end,
      preludes = case when ${status} = 'failed' then preludes else '{}' end
    where seq = ${row.seq} and status = 'queued'`.execute(db);
  // The definitions may not have arrived, and go with what is sent next.
  if (status === 'failed' && row.preludes.length > 0)
    await sql`delete from federation_sent_fields where peer_id = ${row.peer_id}`.execute(db);
}

/** Returns when to try again, or null when the change is given up. */
async function postpone(db: Database, row: OutboxRow, error: string): Promise<number | null> {
  await sql`update federation_peers set last_error = ${error} where id = ${row.peer_id}`.execute(db);
  if (Date.now() - Date.parse(row.created_at) > GIVE_UP_AFTER_MS) {
    await settle(db, row, 'failed', error);
    return null;
  }
  const wait = pauseAfter(row.attempts);
  await sql`update federation_outbox set attempts = attempts + 1, last_error = ${error},
      next_attempt_at = now() + make_interval(secs => ${wait / 1000})
    where seq = ${row.seq}`.execute(db);
  return wait;
}

/** Returns the envelopes of a change: every attempt sends the same bytes, so that the peer recognises what it has already. */
async function keptEnvelopes(
  deps: Deps,
  install: Install,
  row: OutboxRow,
): Promise<{ preludes: string[]; envelope: string | null }> {
  if (row.envelope !== null || row.preludes.length > 0) return row;
  const { sent, ...rendered } = await renderChange(deps, install, row);
  await deps.db.transaction().execute(async (tx) => {
    await sql`update federation_outbox set envelope = ${rendered.envelope}, preludes = ${rendered.preludes}::text[]
      where seq = ${row.seq}`.execute(tx);
    await rememberSent(tx, row.peer_id, sent);
  });
  return rendered;
}

/** Sends one envelope. Returns null once the peer has it, otherwise why not; `final`: no later attempt will succeed. */
async function post(
  deps: Deps,
  install: Install,
  { url, peerId }: { url: string; peerId: string },
  text: string,
): Promise<{ message: string; final: boolean } | null> {
  await sql`update federation_peers set delivering_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = ${peerId}`.execute(deps.db);
  try {
    await postSigned(deps, install, `${url}/federation/inbox`, text);
    return null;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const refused =
      error.status !== null && error.status >= 400 && error.status < 500 && error.status !== 429;
    return { message: error.message, final: refused && !passing.has(error.reason ?? '') };
  }
}

/** Sends one change. Returns how long to wait before the next attempt, or null when it is settled. */
async function send(deps: Deps, install: Install, url: string, row: OutboxRow): Promise<number | null> {
  const { db } = deps;
  const { preludes, envelope } = await keptEnvelopes(deps, install, row);
  const to = { url, peerId: row.peer_id };
  for (const prelude of preludes) {
    // A peer that has no use for definitions is still sent what follows.
    const fault = await post(deps, install, to, prelude);
    if (fault !== null && !fault.final) return postpone(db, row, fault.message);
  }
  if (envelope !== null) {
    const fault = await post(deps, install, to, envelope);
    if (fault !== null && !fault.final) return postpone(db, row, fault.message);
    if (fault !== null) {
      await settle(db, { ...row, preludes }, 'failed', fault.message);
      return null;
    }
  }
  if (envelope === null && preludes.length === 0) {
    await settle(db, row, 'skipped', null);
    return null;
  }
  await settle(db, row, 'sent', null);
  await sql`update federation_peers set last_error = null, last_seen_at = now() where id = ${row.peer_id}`.execute(
    db,
  );
  return null;
}

/**
 * Sends a peer what waits for it, oldest first, until nothing is left or one change cannot be delivered: what follows must
 * not overtake it (FED-21). A crash after sending repeats the same envelope, which the peer ignores.
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
      for (let row = await nextRow(db, peer); row !== null; row = await nextRow(db, peer)) {
        wait = row.wait_ms > 0 ? row.wait_ms : await send(deps, install, leased.url, row);
        if (wait !== null) break;
      }
    } finally {
      await sql`update federation_peers set delivering_until = null where id = ${peer}`.execute(db);
    }
    if (wait !== null) await later(wait);
  };
}

/**
 * Tells an install that the pairing has ended, for up to three days (FED-14). An install that was paired again meanwhile is
 * told nothing: that would end the new pairing.
 */
export function unpairJob(deps: Deps): JobHandler<'unpair'> {
  return async ({ url, since = new Date().toISOString(), attempts = 0 }) => {
    const { db } = deps;
    const install = await readInstall(deps);
    if (install === null) return;
    const { rows } = await sql`select from federation_peers where instance_url = ${url}`.execute(db);
    if (rows.length > 0) return;
    try {
      await postSigned(deps, install, `${url}/federation/peers/unpair`, '{}');
    } catch (error) {
      // It has forgotten us already.
      if (!(error instanceof OutboundError)) throw error;
      if (error.status === 403 || error.status === 404) return;
      if (Date.now() - Date.parse(since) > GIVE_UP_AFTER_MS) return;
      const runAt = new Date(Date.now() + pauseAfter(attempts)).toISOString();
      await enqueue(db, 'unpair', { url, since, attempts: attempts + 1 }, { key: `unpair:${url}`, runAt });
    }
  };
}
