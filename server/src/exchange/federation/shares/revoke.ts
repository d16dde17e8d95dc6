import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import type { Tx } from '../../../platform/database/pool.ts';

/** A share that was revoked. */
export interface RevokedShare {
  kind: 'post' | 'asset' | 'collection';
  object_id: string;
  target_actor: string | null;
  target_team: string | null;
  granted_by: number;
}

/** The events of one statement. */
const MOST_EVENTS = 5000;

/**
 * Revokes every share with a peer that is left, and audits each (FED-14). Returns those of which the
 * peer has the object (FED-79).
 */
export async function revokeSharesWith(
  tx: Tx,
  actor: SignedIn | null,
  { id, url }: { id: string; url: string },
): Promise<RevokedShare[]> {
  const { rows } = await sql<RevokedShare & { announced: boolean }>`
    update federation_shares s set revoked_at = now() where s.peer_id = ${id} and s.revoked_at is null
    returning s.kind, s.object_id, s.target_actor, s.target_team, s.granted_by_user_ref as granted_by,
      (s.expires_at is null or s.expires_at > now()) and exists (select from federation_announced f
        where f.peer_id = s.peer_id and f.kind = s.kind and f.object_id = s.object_id and f.withdrawn_by is null) as announced`.execute(
    tx,
  );
  const events = rows.map(({ kind, object_id, target_actor, target_team }) => ({
    event: 'federation.share.revoked',
    target: { kind, id: object_id },
    metadata: { instance_url: url, person: target_actor, team: target_team, reason: 'unpaired' },
  }));
  for (let at = 0; at < events.length; at += MOST_EVENTS)
    await recordEvents(tx, actor, events.slice(at, at + MOST_EVENTS));
  return rows.filter(({ announced }) => announced);
}
