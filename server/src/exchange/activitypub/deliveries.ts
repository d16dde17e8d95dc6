import { type RawBuilder, sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { enqueue, enqueueAll, type JobHandler } from '../../core/job-table.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { OutboundError } from '../federation/outbound.ts';
import { readKeys } from './actors.ts';
import { keyUri } from './addresses.ts';
import { noteContext } from './notes.ts';
import { postActivity } from './signing.ts';
import { readActivityPub } from './site.ts';

/** How long delivery of an activity is retried (AP-10). */
const GIVE_UP_AFTER_MS = 3 * 24 * 3600 * 1000;
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3 * 3600 * 1000;
/**
 * The lease of a worker on an inbox, renewed before every activity. Two attempts to send take at most 60
 * seconds.
 */
const LEASE_SECONDS = 90;
const RETRY_LEASE_MS = 2000;

interface Delivery {
  id: number;
  actor_id: string;
  activity: string;
  attempts: number;
  created_at: string;
  wait_ms: number;
}

/** Wakes the deliveries to these inboxes when the transaction commits. */
export async function wakeInboxes(db: Database, inboxes: readonly string[]): Promise<void> {
  const jobs = [...new Set(inboxes)].map((inbox) => ({
    payload: { inbox },
    key: `deliver-activities:${inbox}`,
  }));
  await enqueueAll(db, 'deliver-activities', jobs);
}

async function queue(tx: Tx, actorId: string, activity: object, inboxes: RawBuilder<unknown>): Promise<void> {
  const text = JSON.stringify({ '@context': noteContext, ...activity });
  const { rows } = await sql<{ inbox: string }>`
    with targets as (select distinct x.inbox from (${inboxes}) x),
      known as (insert into activitypub_inboxes (inbox) select inbox from targets on conflict do nothing)
    select inbox from targets`.execute(tx);
  if (rows.length === 0) return;
  await sql`insert into activitypub_deliveries (actor_id, inbox, activity)
    select ${actorId}, inbox, ${text} from unnest(${rows.map(({ inbox }) => inbox)}::text[]) inbox`.execute(
    tx,
  );
  await wakeInboxes(
    tx,
    rows.map(({ inbox }) => inbox),
  );
}

/** Queues an activity for every follower of an actor, once for followers that share an inbox, in the transaction. */
export async function queueActivity(tx: Tx, actorId: string, activity: object): Promise<void> {
  await queue(
    tx,
    actorId,
    activity,
    sql`select inbox from activitypub_followers where actor_id = ${actorId}`,
  );
}

/** Queues an activity for one inbox. */
export async function queueActivityFor(
  tx: Tx,
  actorId: string,
  inbox: string,
  activity: object,
): Promise<void> {
  await queue(tx, actorId, activity, sql`select ${inbox}::text as inbox`);
}

async function lease(db: Database, inbox: string): Promise<boolean> {
  const rows = await db
    .updateTable('activitypub_inboxes')
    .set({ delivering_until: sql<string>`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .where('inbox', '=', inbox)
    .where((eb) =>
      eb.or([eb('delivering_until', 'is', null), eb('delivering_until', '<', sql<string>`now()`)]),
    )
    .returning('inbox')
    .execute();
  return rows.length > 0;
}

async function release(db: Database, inbox: string): Promise<void> {
  await db
    .updateTable('activitypub_inboxes')
    .set({ delivering_until: null })
    .where('inbox', '=', inbox)
    .execute();
}

async function next(db: Database, inbox: string): Promise<Delivery | null> {
  const { rows } = await sql<Delivery>`select id, actor_id, activity, attempts, created_at,
      greatest(0, extract(epoch from next_attempt_at - now()) * 1000)::float8 as wait_ms
    from activitypub_deliveries where inbox = ${inbox} order by id limit 1`.execute(db);
  return rows[0] ?? null;
}

async function recordOutcome(
  db: Database,
  delivery: Delivery,
  inbox: string,
  error: string | null,
): Promise<void> {
  await db.deleteFrom('activitypub_deliveries').where('id', '=', delivery.id).execute();
  await db.updateTable('activitypub_inboxes').set({ last_error: error }).where('inbox', '=', inbox).execute();
}

/** Returns how long to wait before the next attempt, or null once the activity is delivered or given up. */
async function send(deps: Deps, base: string, inbox: string, delivery: Delivery): Promise<number | null> {
  const { db, log } = deps;
  const keys = await readKeys(deps, delivery.actor_id);
  if (keys === null) {
    await recordOutcome(db, delivery, inbox, null);
    return null;
  }
  try {
    const key = { keyId: new URL(keyUri(base, delivery.actor_id)), privateKey: keys.privateKey };
    await postActivity(deps, key, inbox, delivery.activity);
    await recordOutcome(db, delivery, inbox, null);
    return null;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const status = error.status ?? 0;
    // The inbox is permanently gone, so its followers are removed.
    if (status === 410) {
      await db.deleteFrom('activitypub_followers').where('inbox', '=', inbox).execute();
      await db.deleteFrom('activitypub_inboxes').where('inbox', '=', inbox).execute();
      return null;
    }
    const final = error.fault === 'refused_address' || (status >= 400 && status < 500 && status !== 429);
    if (final || Date.now() - Date.parse(delivery.created_at) > GIVE_UP_AFTER_MS) {
      log.info({ inbox, reason: error.message }, 'an activity was not delivered');
      await recordOutcome(db, delivery, inbox, error.message);
      return null;
    }
    const wait = Math.min(FIRST_WAIT_MS * 2 ** delivery.attempts, LONGEST_WAIT_MS);
    await db
      .updateTable('activitypub_deliveries')
      .set({
        attempts: (eb) => eb('attempts', '+', 1),
        next_attempt_at: sql<string>`now() + make_interval(secs => ${wait / 1000})`,
      })
      .where('id', '=', delivery.id)
      .execute();
    await db
      .updateTable('activitypub_inboxes')
      .set({ last_error: error.message })
      .where('inbox', '=', inbox)
      .execute();
    return wait;
  }
}

/**
 * Sends the pending activities of an inbox, oldest first. An activity that cannot be delivered delays the
 * later ones.
 */
export function deliverActivitiesJob(deps: Deps): JobHandler<'deliver-activities'> {
  const { db } = deps;
  const again = (inbox: string, waitMs: number) =>
    enqueue(
      db,
      'deliver-activities',
      { inbox },
      {
        key: `deliver-activities:${inbox}`,
        runAt: new Date(Date.now() + waitMs).toISOString(),
      },
    );
  return async ({ inbox }) => {
    const readSite = async () => (await readActivityPub(db, deps.config)).site;
    // Pending activities are kept until ActivityPub is enabled again.
    if ((await readSite()) === null || (await next(db, inbox)) === null) return;
    if (!(await lease(db, inbox))) return again(inbox, RETRY_LEASE_MS);
    let wait: number | null = null;
    try {
      for (let delivery = await next(db, inbox); delivery !== null; delivery = await next(db, inbox)) {
        // It may be disabled while a long queue is sent (AP-1).
        const site = await readSite();
        if (site === null) return;
        wait = delivery.wait_ms > 0 ? delivery.wait_ms : await send(deps, site.url, inbox, delivery);
        if (wait !== null) break;
        await db
          .updateTable('activitypub_inboxes')
          .set({ delivering_until: sql<string>`now() + make_interval(secs => ${LEASE_SECONDS})` })
          .where('inbox', '=', inbox)
          .execute();
      }
    } finally {
      await release(db, inbox);
    }
    if (wait !== null) await again(inbox, wait);
  };
}
