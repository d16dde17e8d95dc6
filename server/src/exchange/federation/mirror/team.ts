import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/pool.ts';
import type { AaWorkspace } from '../protocol/objects.ts';
import { findMirrored, isLater, rememberMirrored } from './objects.ts';

/**
 * Creates or updates the mirror of the team that a shared object names, and returns its id; null if it names none
 * (FED-64).
 */
export async function mirrorTeam(
  tx: Tx,
  peerId: string,
  team: AaWorkspace | undefined,
): Promise<string | null> {
  if (team === undefined) return null;
  const known = await findMirrored(tx, peerId, 'team', team.id);
  if (known !== null && isLater(known, team.updated)) return known.local_id;
  // Another team of the peer had this slug; it was renamed, and its own update will follow.
  await sql`update teams set slug = left(slug, 43) || '-' || id where origin_server_id = ${peerId} and slug = ${team.slug}
    and id is distinct from ${known?.local_id ?? null}::uuid`.execute(tx);
  const rows =
    known === null
      ? await tx
          .insertInto('teams')
          .values({
            slug: team.slug,
            name: team.name,
            description: team.description,
            origin_server_id: peerId,
          })
          .returning('id')
          .execute()
      : await tx
          .updateTable('teams')
          .set({
            slug: team.slug,
            name: team.name,
            description: team.description,
            updated_at: sql<string>`now()`,
          })
          .where('id', '=', known.local_id)
          .returning('id')
          .execute();
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('a mirrored team was not stored');
  await rememberMirrored(tx, peerId, 'team', team.id, id, team.updated);
  return id;
}

/** Removes the mirrored teams of a peer that no object names any more. */
export async function removeUnnamedTeams(tx: Tx, peerId: string): Promise<void> {
  await sql`with gone as (
      delete from teams t where t.origin_server_id = ${peerId} and not exists (select from posts p where p.team_id = t.id)
        and not exists (select from assets a where a.team_id = t.id) returning t.id)
    delete from federated_objects o using gone where o.kind = 'team' and o.local_id = gone.id`.execute(tx);
}
