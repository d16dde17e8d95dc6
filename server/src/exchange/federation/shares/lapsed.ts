import { sql } from 'kysely';
import { confirmedWith } from '../../../access/federation.ts';
import type { Deps } from '../../../core/deps.ts';
import { notifyPeer } from '../../../core/outbox/enqueue.ts';

/**
 * Sends objects again whose encrypted content is no longer confirmed, or is again, because the right of the account that
 * confirmed it has ended or returned (FED-58). Such an end is no change of the object itself.
 */
export async function sendLapsed({ db }: Deps): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      kind: 'post' | 'asset' | 'collection';
      object_id: string;
      peer_id: string;
      by: number;
    }>`update federation_shares s set sensitive_lapsed = x.lapsed
      from (select s.id, array(select a.id from assets a where a.id = any(s.sensitive_assets)
          and not ${confirmedWith('s')} order by a.id) as lapsed
        from federation_shares s where s.revoked_at is null and cardinality(s.sensitive_assets) > 0) x
      where x.id = s.id and x.lapsed <> s.sensitive_lapsed
      returning s.kind, s.object_id, s.peer_id, s.granted_by_user_ref as by`.execute(tx);
    for (const { kind, object_id: objectId, peer_id, by } of rows)
      await notifyPeer(tx, peer_id, { activity: 'update', kind, objectId, actorRef: by });
  });
}
