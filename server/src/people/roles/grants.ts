import {
  type CapabilityChange,
  type CapabilityRecord,
  getMyCapabilities,
  getUserCapabilities,
  grantCapability,
  removeGrant,
  removeRevoke,
  revokeCapability,
} from '@vitrine/contract/roles';
import { type RawBuilder, sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import { administered } from '../../access/administered.ts';
import { capabilityShownFor, type SignedIn } from '../../access/caller.ts';
import { type Capabilities, loadCapabilities } from '../../access/capabilities.ts';
import { checkReadsUpTo, ownTeam } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { keepingAnAdministrator } from './last-administrator.ts';
import { sourcesOf } from './sources.ts';

/** A grant adds to the role, a revoke removes from role and grants; otherwise they are alike. */
interface Kind {
  table: RawBuilder<unknown>;
  by: RawBuilder<unknown>;
  event: 'grant' | 'revoke';
  /** The columns that identify a row: a grant from a request is separate from a manual one. */
  arbiter: RawBuilder<unknown>;
  /** The request that created the row, or null. */
  request: RawBuilder<string | null>;
}
const grants: Kind = {
  table: sql.table('user_capability_grants'),
  by: sql.ref('granted_by_user_ref'),
  event: 'grant',
  arbiter: sql`where request_ref is null`,
  request: sql.ref('request_ref'),
};
const revokes: Kind = {
  table: sql.table('user_capability_revokes'),
  by: sql.ref('revoked_by_user_ref'),
  event: 'revoke',
  arbiter: sql``,
  request: sql`null::uuid`,
};

/** A generous limit that bounds the response. */
const MOST = 200;

async function recordsOf(db: Database, { table, by }: Kind, userRef: number): Promise<CapabilityRecord[]> {
  const { rows } = await sql<CapabilityRecord>`
    select id, capability, team_id, note, ${by} as by_user_ref, created_at, expires_at from ${table}
    where user_ref = ${userRef} and (expires_at is null or expires_at > now())
    order by capability, created_at limit ${MOST}`.execute(db);
  return rows;
}

function shownInTeams(inTeams: Capabilities['inTeams']): ReadonlyMap<string, ReadonlySet<string>> {
  const shown = new Map<string, Set<string>>();
  for (const [held, teams] of inTeams) {
    const capability = capabilityShownFor(held);
    shown.set(capability, new Set([...(shown.get(capability) ?? []), ...teams]));
  }
  return shown;
}

async function effective(db: Database, userRef: number) {
  const account = await db
    .selectFrom('users')
    .innerJoin('roles', 'roles.id', 'users.role_id')
    .select('roles.code')
    .where('users.ref', '=', userRef)
    .executeTakeFirst();
  if (account === undefined) throw notFound();
  const { everywhere, inTeams } = await loadCapabilities(db, userRef);
  const ofTeams = [...shownInTeams(inTeams)]
    .filter(([capability]) => !everywhere.has(capability))
    .map(([capability, teams]) => ({ capability, team_ids: [...teams].sort() }))
    .sort((a, b) => (a.capability < b.capability ? -1 : 1));
  return {
    user_ref: userRef,
    role: account.code,
    capabilities: [...everywhere].sort(),
    ...(ofTeams.length === 0 ? {} : { team_capabilities: ofTeams }),
    grants: await recordsOf(db, grants, userRef),
    revokes: await recordsOf(db, revokes, userRef),
  };
}

export const ownCapabilities = handle(getMyCapabilities, async ({ db }, { caller }) => ({
  status: 200,
  body: await effective(db, caller.ref),
}));

export const capabilitiesOfUser = handle(getUserCapabilities, async ({ db }, { params }) => ({
  status: 200,
  body: { ...(await effective(db, params.ref)), why: await sourcesOf(db, params.ref) },
}));

async function checkTeam(tx: Tx, teamId: string | null): Promise<void> {
  if (teamId === null) return;
  const rows = await tx.selectFrom('teams as t').where('t.id', '=', teamId).where(ownTeam).execute();
  if (rows.length === 0) throw refuse('team-not-found');
}

/**
 * Writes a grant or revoke; repeating it for the same capability and team changes note and expiry of the existing one.
 */
async function put(db: Database, kind: Kind, asked: SignedIn, userRef: number, change: CapabilityChange) {
  const teamId = change.team_id ?? null;
  const expiresAt = change.expires_at ?? null;
  checkInFuture('expires_at', expiresAt);
  return keepingAnAdministrator(db, asked, async (tx, caller) => {
    const { ref } = await administered(tx, caller, userRef);
    checkMayGive(caller, [change.capability]);
    await checkTeam(tx, teamId);
    // ASSET-4: limited to a team, it opens files that it does not open everywhere.
    if (kind === grants && teamId !== null && change.capability === 'teams.write' && ref === caller.ref)
      await checkReadsUpTo(tx, caller, teamId);
    const { rows } = await sql<CapabilityRecord & { created: boolean }>`
      insert into ${kind.table} as r (user_ref, capability, team_id, note, ${kind.by}, expires_at)
      values (${ref}, ${change.capability}, ${teamId}, ${change.note ?? null}, ${caller.ref}, ${expiresAt})
      on conflict (user_ref, capability, team_id) ${kind.arbiter} do update set note = excluded.note,
        expires_at = excluded.expires_at, ${kind.by} = excluded.${kind.by}
      returning id, capability, team_id, note, ${kind.by} as by_user_ref, created_at, expires_at,
        xmax = 0 as created`.execute(tx);
    const row = rows[0];
    if (row === undefined) throw new Error('the created row does not exist');
    await recordEvent(tx, caller, {
      event: `capability.${kind.event}.added`,
      subjectUserRef: ref,
      metadata: {
        capability: change.capability,
        team_id: teamId,
        note: change.note ?? null,
        expires_at: expiresAt,
      },
    });
    const { created, ...record } = row;
    return created ? { status: 201 as const, body: record } : { status: 200 as const, body: record };
  });
}

/** REQUEST-15: requests whose grant was removed keep their expiry, because null would mean permanent. */
async function noteEnded(tx: Tx, requests: readonly (string | null)[]): Promise<void> {
  const ids = requests.filter((id) => id !== null);
  if (ids.length === 0) return;
  await tx
    .updateTable('resource_requests')
    .set({ grant_ended_at: sql<string>`now()` })
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
}

async function remove(
  db: Database,
  kind: Kind,
  asked: SignedIn,
  userRef: number,
  change: CapabilityChange,
): Promise<void> {
  const teamId = change.team_id ?? null;
  await keepingAnAdministrator(db, asked, async (tx, caller) => {
    const { ref } = await administered(tx, caller, userRef);
    // Removing a revoke gives as much as a grant does.
    checkMayGive(caller, [change.capability]);
    // REQUEST-14: the expiry job removes expired grants of requests together with the request.
    const { rows } = await sql<{ request: string | null }>`delete from ${kind.table} where user_ref = ${ref}
      and capability = ${change.capability} and team_id is not distinct from ${teamId}::uuid
      and (${kind.request} is null or expires_at is null or expires_at > now())
      returning ${kind.request} as request`.execute(tx);
    if (rows.length === 0) throw notFound();
    await noteEnded(
      tx,
      rows.map(({ request }) => request),
    );
    await recordEvent(tx, caller, {
      event: `capability.${kind.event}.removed`,
      subjectUserRef: ref,
      metadata: { capability: change.capability, team_id: teamId },
    });
  });
}

export const grant = handle(grantCapability, ({ db }, { caller, params, body }) =>
  put(db, grants, caller, params.ref, body),
);

export const revoke = handle(revokeCapability, ({ db }, { caller, params, body }) =>
  put(db, revokes, caller, params.ref, body),
);

export const revokeGrant = handle(removeGrant, async ({ db }, { caller, params, body }) => {
  await remove(db, grants, caller, params.ref, body);
  return { status: 204 };
});

export const liftRevoke = handle(removeRevoke, async ({ db }, { caller, params, body }) => {
  await remove(db, revokes, caller, params.ref, body);
  return { status: 204 };
});
