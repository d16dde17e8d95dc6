import { sql } from 'kysely';
import { refreshGranted } from '../../access/mirrored-audience.ts';
import type { Deps } from '../../core/deps.ts';
import { enqueueAll, type JobHandler } from '../../core/job-table.ts';
import { notifyPeer, wakeDelivery, withdrawCollections } from '../../core/outbox/enqueue.ts';
import { queuedJobs } from '../../platform/jobs/queue-tables.ts';
import { catchUpWithAll } from './catch-up.ts';
import { compareOffered, enqueueFieldValues } from './fields/offered.ts';
import { trimFetched } from './files/fetch.ts';
import { readInstall } from './identity.ts';
import { purgeUngranted } from './mirror/purge.ts';
import { refreshRecipients } from './mirror/recipients.ts';
import { keepOffers } from './peers/offers.ts';
import { objectUri } from './protocol/addresses.ts';
import { sendLapsed } from './shares/lapsed.ts';

/** How long ids of received envelopes and outcomes of sent ones are kept; longer than any delivery is retried. */
const KEPT_DAYS = 30;

/** Ends our expired shares and notifies the peers. */
async function expireShares(deps: Deps): Promise<void> {
  const install = await readInstall(deps);
  if (install === null) return;
  await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      kind: 'post' | 'asset' | 'collection';
      object_id: string;
      peer_id: string;
      target_actor: string | null;
      target_team: string | null;
      granted_by_user_ref: number;
      instance_url: string;
      encrypted: boolean;
    }>`update federation_shares s set revoked_at = now() from federation_peers pe
      where pe.id = s.peer_id and s.revoked_at is null and s.expires_at <= now()
      returning s.kind, s.object_id, s.peer_id, s.target_actor, s.target_team, s.granted_by_user_ref, pe.instance_url,
        cardinality(s.sensitive_assets) > 0 as encrypted`.execute(tx);
    for (const {
      kind,
      object_id,
      peer_id,
      target_actor,
      target_team,
      granted_by_user_ref,
      instance_url,
      encrypted,
    } of rows) {
      const details = {
        object_kind: kind,
        object: objectUri(install.url, `${kind}s`, object_id),
        target_peer: instance_url,
        ...(target_actor === null ? {} : { target_user: target_actor }),
        ...(target_team === null ? {} : { target_team }),
      };
      const change = {
        activity: 'unshare' as const,
        kind,
        objectId: object_id,
        actorRef: granted_by_user_ref,
        details,
      };
      await notifyPeer(tx, peer_id, change);
      if (encrypted)
        await notifyPeer(tx, peer_id, {
          activity: 'update',
          kind,
          objectId: object_id,
          actorRef: granted_by_user_ref,
        });
    }
  });
}

/** Withdraws shared collections that have expired, in the name of their owners. */
async function withdrawExpired({ db }: Deps): Promise<void> {
  await db
    .transaction()
    .execute((tx) => withdrawCollections(tx, sql`c.expires_at <= now()`, sql`c.owner_user_ref`));
}

/** Before grants end, sets when that is, also for those that arrived in an earlier version. */
async function refreshEnding({ db }: Deps): Promise<void> {
  const rows = await db
    .selectFrom('federation_grants')
    .select(['peer_id', 'kind', 'uri'])
    .distinct()
    .where('expires_at', '>', sql<string>`now()`)
    .where('expires_at', '<', sql<string>`now() + interval '10 minutes'`)
    .execute();
  for (const { peer_id, kind, uri } of rows)
    await db.transaction().execute(async (tx) => {
      await refreshGranted(tx, peer_id, kind, uri);
      await refreshRecipients(tx, uri);
    });
}

/** Purges objects whose grant has expired, even if the peer does not report it. */
async function purgeExpired({ db }: Deps): Promise<void> {
  const rows = await db
    .selectFrom('federation_grants')
    .select('peer_id')
    .distinct()
    .where('expires_at', '<=', sql<string>`now()`)
    .execute();
  for (const { peer_id } of rows) await db.transaction().execute((tx) => purgeUngranted(tx, peer_id));
}

/**
 * Wakes the delivery to peers with pending changes or an unannounced key, in case a worker died between two
 * attempts.
 */
async function wakeAll({ db }: Deps): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ peer_id: string }>`select distinct peer_id from federation_outbox
      where status = 'queued' and next_attempt_at <= now()
      union
      select pe.id from federation_peers pe where pe.state = 'connected' and pe.announced_key is distinct from (
        select next_key from federation_rotations where user_ref is null order by id desc limit 1)
        and exists (select from federation_rotations where user_ref is null)`.execute(tx);
    await wakeDelivery(
      tx,
      rows.map(({ peer_id }) => peer_id),
    );
  });
}

/** Updates the values of peer fields whose equivalence has changed with local definitions. */
async function compareFields({ db }: Deps): Promise<void> {
  const { rows } = await sql<{ peer_id: string }>`select distinct peer_id from federation_fields
    where decision is null and compared_epoch <> (select epoch from fields_epoch)`.execute(db);
  for (const { peer_id } of rows) {
    await db.transaction().execute(async (tx) => {
      const read = async () => {
        const agreeing = await tx
          .selectFrom('federation_fields')
          .select('code')
          .where('peer_id', '=', peer_id)
          .where('decision', 'is', null)
          .where('agrees', '=', true)
          .execute();
        return new Set(agreeing.map(({ code }) => code));
      };
      const before = await read();
      await compareOffered(tx, peer_id);
      await enqueueFieldValues(tx, peer_id, [...before.symmetricDifference(await read())]);
    });
  }
}

/**
 * Fetches renditions whose job has failed permanently, for example because the peer was unreachable during all
 * attempts.
 */
async function fetchMissing({ db }: Deps): Promise<void> {
  const { rows } = await sql<{ hash: string }>`select f.hash from files f
      join federation_peers pe on pe.id = f.origin_peer_id and pe.state = 'connected'
    where exists (select from assets a where a.file_hash = f.hash and a.processing_status = 'pending')
      and not exists (select from ${queuedJobs} j
        where j.key = 'fetch-renditions:' || f.hash and j.attempts < j.max_attempts)`.execute(db);
  const jobs = rows.map(({ hash }) => ({ payload: { hash }, key: `fetch-renditions:${hash}` }));
  await enqueueAll(db, 'fetch-renditions', jobs);
}

/**
 * Deletes former keys whose grace period has ended (FED-56, FED-57). The statements remain, for peers that were away.
 */
async function forgetKeys({ db }: Deps): Promise<void> {
  await db
    .updateTable('federation_rotations')
    .set({ previous_sealed: null })
    .where('previous_sealed', 'is not', null)
    .where('retained_until', '<=', sql<string>`now()`)
    .execute();
  await db.deleteFrom('federation_box_keys').where('retained_until', '<=', sql<string>`now()`).execute();
  await db.deleteFrom('federation_retired_keys').where('accepted_until', '<=', sql<string>`now()`).execute();
}

export function keepFederationJob(deps: Deps): JobHandler<'keep-federation'> {
  return async () => {
    await expireShares(deps);
    await withdrawExpired(deps);
    await sendLapsed(deps);
    await refreshEnding(deps);
    await purgeExpired(deps);
    await wakeAll(deps);
    await compareFields(deps);
    await fetchMissing(deps);
    await forgetKeys(deps);
    await keepOffers(deps);
    await catchUpWithAll(deps);
    await trimFetched(deps);
    await deps.db
      .deleteFrom('federation_inbox')
      .where('received_at', '<', sql<string>`now() - make_interval(days => ${KEPT_DAYS})`)
      .execute();
    // The last change is the position of the peer (FED-78).
    await sql`delete from federation_outbox o where status <> 'queued'
      and sent_at < now() - make_interval(days => ${KEPT_DAYS}) and exists (select from federation_outbox later
        where later.peer_id = o.peer_id and later.status in ('sent', 'failed') and later.seq > o.seq)`.execute(
      deps.db,
    );
  };
}
