import { sql } from 'kysely';
import type { Deps } from '../core/deps.ts';
import type { JobHandler } from '../core/job-table.ts';
import { recordEvents } from '../people/audit/record.ts';
import type { Columns, Database } from '../platform/database/pool.ts';
import { removeExports } from './account-data/remove-exports.ts';

interface ExpiredRow
  extends Columns<'user_capability_grants', 'user_ref' | 'capability' | 'team_id' | 'request_ref'> {
  expires_at: string;
}

/** Rows per transaction. */
const BATCH = 1000;

/** Expired grants or revokes; they have had no effect since they expired (access/capabilities.ts). */
async function expireRecords(db: Database, kind: 'grant' | 'revoke'): Promise<number> {
  let removed = 0;
  for (let count = BATCH; count === BATCH; removed += count) count = await expireSome(db, kind);
  return removed;
}

async function expireSome(db: Database, kind: 'grant' | 'revoke'): Promise<number> {
  const table = sql.table(kind === 'grant' ? 'user_capability_grants' : 'user_capability_revokes');
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<ExpiredRow>`delete from ${table} where id in (
        select id from ${table} where expires_at <= now() order by expires_at limit ${BATCH} for update skip locked)
      returning user_ref, capability, team_id, expires_at, ${kind === 'grant' ? sql`request_ref` : sql`null as request_ref`}`.execute(
      tx,
    );
    if (kind === 'grant') {
      // REQUEST-14: the grant and the linked request expire together.
      await sql`update resource_requests q set state = 'expired', grant_ended_at = x.at
        from unnest(${rows.map((row) => row.request_ref)}::uuid[], ${rows.map((row) => row.expires_at)}::timestamptz[])
          x (id, at)
        where q.id = x.id and q.state = 'granted'`.execute(tx);
    }
    const events = rows.map((row) => ({
      event: `capability.${kind}.expired`,
      subjectUserRef: row.user_ref,
      metadata: { capability: row.capability, team_id: row.team_id },
    }));
    await recordEvents(tx, null, events);
    return rows.length;
  });
}

/**
 * Removes what has expired: grants, revokes, shares of assets, archives, copies for downloads, sessions, tokens (shown to their owner for another
 * month), sign-in failures, sign-ins with providers, mailed links, registrations that were not confirmed,
 * challenges of passkeys and rate budgets. Keeps an impersonation for a day, so that a browser with its cookie gets a
 * 401 (IMPERSONATION-6). Returns the number of rows removed.
 */
export async function expire(db: Database): Promise<number> {
  const counted = [
    await sql`delete from sessions where expires_at < now()
      - case when impersonator_user_ref is null then interval '0' else interval '1 day' end`.execute(db),
    await sql`delete from access_tokens where expires_at < now() - interval '30 days'`.execute(db),
    await sql`delete from scim_tokens where expires_at < now() - interval '30 days'`.execute(db),
    await sql`delete from asset_shares where expires_at <= now()`.execute(db),
    // A download that runs is completed.
    await sql`delete from archives where expires_at <= now()
      and coalesce(reported_at < now() - interval '1 minute', true)`.execute(db),
    await sql`delete from converted_files where used_at < now() - interval '7 days'`.execute(db),
    // BATCH-10.
    await sql`delete from batches where created_at < now() - interval '30 days'`.execute(db),
    await sql`delete from sign_in_failures where last_at < now() - interval '1 day'`.execute(db),
    // The page of an expired sign-in can say so for a day.
    await sql`delete from sign_in_flows where expires_at < now() - interval '1 day'`.execute(db),
    await sql`delete from used_logout_tokens where expires_at < now()`.execute(db),
    await sql`delete from passkey_challenges where expires_at < now()`.execute(db),
    await sql`delete from account_links where expires_at < now()`.execute(db),
    await sql`delete from mail_counts where since < now() - interval '1 day'`.execute(db),
    // REGISTER-5.
    await sql`delete from users where registration = 'unverified' and status = 'pending'
      and created_at < now() - interval '3 days'`.execute(db),
    await sql`delete from rate_budgets where key in (
      select key from rate_budgets where ends_at < now() for update skip locked)`.execute(db),
  ];
  const records = (await expireRecords(db, 'grant')) + (await expireRecords(db, 'revoke'));
  return counted.reduce((sum, { numAffectedRows }) => sum + Number(numAffectedRows ?? 0n), records);
}

export function expireJob(deps: Pick<Deps, 'db' | 'storage'>): JobHandler<'expire'> {
  return async () => {
    await expire(deps.db);
    await removeExports(deps);
  };
}
