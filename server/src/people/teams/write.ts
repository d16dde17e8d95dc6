import { createTeam, deleteTeam, setTeamHero, type Team, updateTeam } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { refreshTeamAudience } from '../../access/mirrored-audience.ts';
import { choosableHero, liveTeam, writableTeams } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeersOfTeam } from '../../core/outbox/enqueue.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { asksForChange, nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { recordEvent } from '../audit/record.ts';
import { showTeams } from './show.ts';

/** Locks a team the caller may change: 404 when it does not exist, 403 when they may not change it. */
export async function lockTeam(tx: Tx, caller: SignedIn, id: string): Promise<void> {
  const { rows } = await sql<{ writable: boolean }>`
    select ${writableTeams(caller)} as writable from teams t where t.id = ${id} and ${liveTeam}
    for no key update of t`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!row.writable) throw refuse('capability-missing', { capability: 'teams.write' });
}

async function showTeam(db: Database, id: string): Promise<Team> {
  const [team] = await showTeams(db, sql`t.id = ${id} and ${liveTeam}`);
  if (team === undefined) throw notFound();
  return team;
}

/** Derives a slug from a name: letters without accents, digits and hyphens; `team` when nothing is left. */
function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 70)
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'team' : plain;
}

/** Returns the slug, with a number if it is taken; under the lock of creating teams. */
async function freeSlug(tx: Tx, wanted: string): Promise<string> {
  const { rows } = await sql<{ slug: string }>`
    select slug from teams
    where origin_server_id is null and (slug = ${wanted} or slug like ${`${wanted}-%`})`.execute(tx);
  const taken = new Set(rows.map((row) => row.slug));
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}-${number}`)) number += 1;
  return `${wanted}-${number}`;
}

/** `POST /teams`: the creator becomes the first member. */
export const create = handle(createTeam, async ({ db }, { caller, body }) => {
  const team = await db.transaction().execute(async (tx) => {
    await takeLock(tx, 'teamSlugs');
    const slug = body.slug ?? (await freeSlug(tx, slugOf(body.name)));
    const row = await tx
      .insertInto('teams')
      .values({ slug, name: body.name, description: body.description ?? '' })
      .onConflict((conflict) => conflict.columns(['origin_server_id', 'slug']).doNothing())
      .returning('id')
      .executeTakeFirst();
    if (row === undefined) throw refuse('slug-taken');
    await tx.insertInto('team_members').values({ team_id: row.id, user_ref: caller.ref }).execute();
    await recordEvent(tx, caller, {
      event: 'team.created',
      target: { kind: 'team', id: row.id },
      metadata: { name: body.name },
    });
    return showTeam(tx, row.id);
  });
  return { status: 201, body: team };
});

export const edit = handle(updateTeam, async ({ db }, { caller, params, body }) => {
  const team = await db.transaction().execute(async (tx) => {
    await takeLock(tx, 'teamSlugs');
    await lockTeam(tx, caller, params.id);
    if (body.slug != null) {
      const { rows } = await sql`select from teams other join teams own
        on own.id = ${params.id} and other.origin_server_id is not distinct from own.origin_server_id
        where other.slug = ${body.slug} and other.id <> own.id`.execute(tx);
      if (rows.length > 0) throw refuse('slug-taken');
    }
    if (!asksForChange(body)) return showTeam(tx, params.id);
    await tx
      .updateTable('teams')
      .set({
        ...patchOf(body, ['name', 'slug', 'description']),
        updated_at: nextUpdatedAt,
      })
      .where('id', '=', params.id)
      .execute();
    await notifyPeersOfTeam(tx, params.id, caller.ref);
    await recordEvent(tx, caller, { event: 'team.updated', target: { kind: 'team', id: params.id } });
    return showTeam(tx, params.id);
  });
  return { status: 200, body: team };
});

/** Closes a team: it disappears from lists and keeps what it owns. */
export const close = handle(deleteTeam, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    await lockTeam(tx, caller, params.id);
    await tx
      .updateTable('teams')
      .set({ deleted_at: sql`now()`, deleted_by_user_ref: caller.ref })
      .where('id', '=', params.id)
      .execute();
    await refreshTeamAudience(tx, params.id);
    await notifyPeersOfTeam(tx, params.id, caller.ref);
    await recordEvent(tx, caller, { event: 'team.deleted', target: { kind: 'team', id: params.id } });
  });
  return { status: 204 };
});

/** TEAM-7: only public assets of the team qualify; any other is not found. */
export const setHero = handle(setTeamHero, async ({ db }, { caller, params, body }) => {
  const team = await db.transaction().execute(async (tx) => {
    await lockTeam(tx, caller, params.id);
    if (body.asset_id !== null) {
      const { rows } = await sql`select from assets a, teams t
        where a.id = ${body.asset_id} and t.id = ${params.id} and ${choosableHero} and ${shownAssets(caller)}`.execute(
        tx,
      );
      if (rows.length === 0) throw refuse('team-asset-not-found');
    }
    await tx
      .updateTable('teams')
      .set({ hero_asset_id: body.asset_id, updated_at: nextUpdatedAt })
      .where('id', '=', params.id)
      .execute();
    await recordEvent(tx, caller, {
      event: 'team.updated',
      target: { kind: 'team', id: params.id },
      metadata: { hero_asset_id: body.asset_id },
    });
    return showTeam(tx, params.id);
  });
  return { status: 200, body: team };
});
