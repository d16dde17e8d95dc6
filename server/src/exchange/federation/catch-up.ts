import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { refreshGranted } from '../../access/mirrored-audience.ts';
import type { Deps } from '../../core/deps.ts';
import { enqueueAll, type JobHandler } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { targetKey } from './actors.ts';
import { MOST_CHANGES } from './changes.ts';
import { type Install, readInstall } from './identity.ts';
import { purgeUngranted } from './mirror/purge.ts';
import { getJson, OutboundError, postSigned } from './outbound.ts';
import { actorUri, objectUri } from './protocol/addresses.ts';

/** Peers with this capability list their changes. */
const CHANGES = 'changes-v1';

const Change = Type.Object({
  seq: Type.Integer({ minimum: 0 }),
  id: Type.String({ minLength: 1, maxLength: 500 }),
});
const changesAnswer = compileLater(
  Type.Object({
    reset: Type.Boolean(),
    latest: Type.Union([Type.Null(), Change]),
    shares: Type.Integer({ minimum: 0 }),
    changes: Type.Array(Change, { maxItems: MOST_CHANGES }),
  }),
);
const sharesAnswer = compileLater(
  Type.Object({
    shares: Type.Array(
      Type.Object({
        id: Type.String({ maxLength: 36 }),
        object: Type.String({ maxLength: 500 }),
        target: Type.Union([Type.Null(), Type.String({ maxLength: 500 })]),
      }),
      { maxItems: MOST_CHANGES },
    ),
  }),
);

interface Source {
  id: string;
  url: string;
  cursor_seq: number;
  cursor_id: string | null;
}

async function sourceOf(db: Deps['db'], peerId: string): Promise<Source | null> {
  const { rows } =
    await sql<Source>`select id, instance_url as url, cursor_seq, cursor_id from federation_peers
    where id = ${peerId} and state = 'connected' and ${CHANGES} = any(capabilities)`.execute(db);
  return rows[0] ?? null;
}

async function moveTo(db: Deps['db'], peerId: string, { seq, id }: { seq: number; id: string | null }) {
  await db
    .updateTable('federation_peers')
    .set({ cursor_seq: seq, cursor_id: id })
    .where('id', '=', peerId)
    .execute();
}

/** What one run may still read from a peer, which could answer for ever (FED-95). */
interface Allowance {
  pages: number;
  ids: number;
  /** Milliseconds since 1970. */
  until: number;
}

/** Counts a page with this many ids. Returns false when the allowance is spent. */
function spend(allowance: Allowance, ids: number): boolean {
  allowance.pages -= 1;
  allowance.ids -= ids;
  return allowance.pages >= 0 && allowance.ids >= 0 && Date.now() < allowance.until;
}

/** A short text in place of a long one, so that a long list takes little memory. */
function shareKey(object: string, target: string): string {
  return createHash('sha256')
    .update(`${object} ${targetKey(target)}`)
    .digest('base64url');
}

/** Returns the keys of the shares in force that the peer names; null if its list is malformed or too long. */
async function sharesAt(
  deps: Deps,
  install: Install,
  { url }: Source,
  allowance: Allowance,
): Promise<Set<string> | null> {
  const found = new Set<string>();
  let after = '';
  for (;;) {
    const query = after === '' ? '' : `?after=${after}`;
    const answer = await getJson(deps, `${url}/federation/changes/shares${query}`, install);
    if (!sharesAnswer().Check(answer) || !spend(allowance, answer.shares.length)) return null;
    for (const { object, target } of answer.shares) found.add(shareKey(object, target ?? ''));
    const last = answer.shares.at(-1)?.id;
    if (last === undefined || last <= after) return found;
    after = last;
  }
}

interface Grant {
  id: string;
  uri: string;
  kind: 'post' | 'asset' | 'collection';
  /** The ref of the recipient; null for everyone in this library. */
  username: string | null;
  /** The local team that receives it instead. */
  team: string | null;
}

/** Removes grants that the peer no longer has, and the objects that only they covered. */
async function dropOthers(
  tx: Tx,
  install: Install,
  source: Source,
  shares: Set<string>,
  since: string,
): Promise<void> {
  const rows = await tx
    .selectFrom('federation_grants as g')
    .leftJoin('users as u', 'u.ref', 'g.target_user_ref')
    .select(['g.id', 'g.uri', 'g.kind', 'g.target_team_id as team', 'u.username'])
    .where('g.peer_id', '=', source.id)
    .where('g.received_at', '<', since)
    .execute();
  const targetOf = ({ username, team }: Grant) => {
    if (team !== null) return objectUri(install.url, 'workspaces', team);
    return username === null ? '' : actorUri(install.url, username);
  };
  const dropped = rows.filter((grant) => !shares.has(shareKey(grant.uri, targetOf(grant))));
  if (dropped.length === 0) return;
  await tx
    .deleteFrom('federation_grants')
    .where('id', '=', sql<string>`any(${dropped.map(({ id }) => id)}::uuid[])`)
    .execute();
  await purgeUngranted(tx, source.id);
  for (const { kind, uri } of dropped) await refreshGranted(tx, source.id, kind, uri);
}

/** Removes what the peer no longer shares because it was restored from an older backup. */
async function compareShares(
  deps: Deps,
  install: Install,
  source: Source,
  allowance: Allowance,
): Promise<void> {
  const { rows } = await sql<{ now: string }>`select now() as now`.execute(deps.db);
  const shares = await sharesAt(deps, install, source, allowance);
  if (shares === null) return;
  await deps.db.transaction().execute(async (tx) => {
    await tx.selectFrom('federation_peers').where('id', '=', source.id).forNoKeyUpdate().execute();
    await dropOthers(tx, install, source, shares, rows[0]?.now ?? '');
  });
}

async function countGrants(db: Deps['db'], peerId: string): Promise<number> {
  const { rows } = await sql<{ grants: number }>`select count(*) as grants from federation_grants
    where peer_id = ${peerId} and (expires_at is null or expires_at > now())`.execute(db);
  return rows[0]?.grants ?? 0;
}

/** Returns the changes among these that were neither applied nor rejected here. */
async function missingOf(db: Deps['db'], ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`select x.id from unnest(${ids}::text[]) x (id)
    where not exists (select from federation_inbox i where i.activity_uri = x.id)
      and not exists (select from federation_rejections r where r.activity_uri = x.id)`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

async function catchUp(deps: Deps, install: Install, peerId: string): Promise<void> {
  const { catchUpPages: pages, catchUpIds: ids, catchUpSeconds: seconds } = deps.config.federation;
  const allowance = { pages, ids, until: Date.now() + seconds * 1000 };
  for (;;) {
    const source = await sourceOf(deps.db, peerId);
    if (source === null) return;
    const query = new URLSearchParams({ after: String(source.cursor_seq) });
    if (source.cursor_id !== null) query.set('id', source.cursor_id);
    const answer = await getJson(deps, `${source.url}/federation/changes?${query}`, install);
    // The next run continues where this one ends.
    if (!changesAnswer().Check(answer) || !spend(allowance, answer.changes.length)) return;
    if (answer.shares < (await countGrants(deps.db, peerId)))
      await compareShares(deps, install, source, allowance);
    if (answer.reset) {
      // The peer does not know the last change that we received from it.
      await compareShares(deps, install, source, allowance);
      await postSigned(deps, install, `${source.url}/federation/changes/resend`, { all: true });
      return moveTo(deps.db, peerId, answer.latest ?? { seq: 0, id: null });
    }
    const missing = await missingOf(
      deps.db,
      answer.changes.map(({ id }) => id),
    );
    const firstMissing = answer.changes.findIndex(({ id }) => missing.has(id));
    const known = firstMissing < 0 ? answer.changes : answer.changes.slice(0, firstMissing);
    const last = known.at(-1);
    if (last !== undefined) await moveTo(deps.db, peerId, last);
    if (missing.size > 0)
      await postSigned(deps, install, `${source.url}/federation/changes/resend`, { ids: [...missing] });
    if (missing.size > 0 || answer.changes.length < MOST_CHANGES) return;
  }
}

/**
 * Requests the list of changes from a peer and asks it to resend the missing ones, after an outage longer
 * than its retries or after one side was restored from a backup (FED-78).
 */
export function catchUpJob(deps: Deps): JobHandler<'catch-up'> {
  return async ({ peer }, { log }) => {
    const install = await readInstall(deps);
    if (install === null) return;
    try {
      await catchUp(deps, install, peer);
    } catch (error) {
      // The next run retries in a few minutes.
      if (!(error instanceof OutboundError)) throw error;
      log.info({ peer, reason: error.message }, 'a peer does not list its changes');
    }
  };
}

/** Asks every connected peer for its changes. */
export async function catchUpWithAll({ db }: Deps): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from federation_peers
    where state = 'connected' and ${CHANGES} = any(capabilities)`.execute(db);
  const jobs = rows.map(({ id }) => ({ payload: { peer: id }, key: `catch-up:${id}` }));
  await enqueueAll(db, 'catch-up', jobs);
}
