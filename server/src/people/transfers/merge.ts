import { type MergeCounts, mergeUser } from '@vitrine/contract/account-transfers';
import { type RawBuilder, sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { endSessionsOf } from '../identity/sessions.ts';
import { hasAdministrator, keepingAnAdministrator } from '../roles/last-administrator.ts';
import { changedRows, checkMove, type Move, moveContent, tryOut } from './transfer.ts';

/** A table of which an account has at most one row for the same columns. */
interface Personal {
  table: string;
  account?: string;
  same: readonly string[];
  /** Rows that do not move. */
  without?: (move: Move) => RawBuilder<boolean>;
}

/** Moves the rows of a table that the other account does not have already; the others are removed. */
async function movePersonal(
  tx: Tx,
  move: Move,
  { table, account = 'user_ref', same, without }: Personal,
): Promise<number> {
  const { from, to } = move;
  const column = sql.ref(account);
  const isSame = sql.join(
    same.map((name) => sql`${sql.ref(`t.${name}`)} is not distinct from ${sql.ref(`o.${name}`)}`),
    sql` and `,
  );
  const moved = await changedRows(
    tx,
    sql`update ${sql.table(table)} t set ${column} = ${to} where t.${column} = ${from}
      and not exists (select from ${sql.table(table)} o where o.${column} = ${to} and ${isSame})
      ${without === undefined ? sql`` : sql`and not ${without(move)}`}`,
  );
  await sql`delete from ${sql.table(table)} where ${column} = ${from}`.execute(tx);
  return moved;
}

async function moveAll(tx: Tx, move: Move, tables: readonly Personal[]): Promise<number> {
  let moved = 0;
  for (const table of tables) moved += await movePersonal(tx, move, table);
  return moved;
}

const likes: readonly Personal[] = [
  { table: 'post_likes', same: ['post_id'] },
  { table: 'comment_likes', same: ['comment_id'] },
];

/** Followers of the account do not move: they would see what the other account shows its followers (MERGE-3). */
const follows: readonly Personal[] = [
  { table: 'tag_follows', same: ['tag'] },
  { table: 'team_follows', same: ['team_id'] },
  { table: 'post_watches', same: ['post_id'] },
  {
    table: 'user_follows',
    account: 'follower_user_ref',
    same: ['followed_user_ref'],
    without: ({ to }) => sql`(t.followed_user_ref = ${to})`,
  },
];

const shares: readonly Personal[] = [
  { table: 'post_shares', same: ['post_id'] },
  { table: 'asset_shares', same: ['asset_id'] },
  { table: 'collection_shares', same: ['collection_id'] },
];

const searches: readonly Personal[] = [
  { table: 'saved_searches', same: ['name_key'] },
  { table: 'feed_views', same: ['name_key'] },
];

/**
 * Moves the reviews that the account was asked for, with its decisions, unless the other account was asked, too. Decisions about
 * files refer to the reviewer, so they move after a copy of it, and before it is removed.
 */
async function moveReviews(tx: Tx, { from, to }: Move): Promise<void> {
  await sql`with moved as (
      insert into review_reviewers (review_id, user_ref, position, decision, note, version, decided_at)
      select review_id, ${to}, position, decision, note, version, decided_at from review_reviewers
      where user_ref = ${from} on conflict do nothing returning review_id)
    insert into review_file_decisions (review_id, user_ref, asset_id, decision, note)
    select d.review_id, ${to}, d.asset_id, d.decision, d.note from review_file_decisions d
      join moved m on m.review_id = d.review_id where d.user_ref = ${from}`.execute(tx);
  await sql`delete from review_reviewers where user_ref = ${from}`.execute(tx);
}

/**
 * Makes the other account the user of the directory that made both, with its groups; the directory finds it by name or by its
 * own id, and the merged account is gone for it (MERGE-5).
 */
async function moveProvisioning(tx: Tx, move: Move): Promise<void> {
  const { from, to } = move;
  const { rows } = await sql<{ provider: string }>`
    select f.provider from users f join users t on t.provider = f.provider
    where f.ref = ${from} and t.ref = ${to} and f.provider in (select provider from scim_tokens)`.execute(tx);
  const [directory] = rows;
  if (directory === undefined) return;
  await movePersonal(tx, move, { table: 'scim_members', same: ['group_id'] });
  // An own id of the directory is not used twice, not even for a moment.
  const removed = await tx
    .deleteFrom('scim_users')
    .where('user_ref', '=', from)
    .returning('external_id')
    .execute();
  await sql`insert into scim_users (user_ref, provider, external_id)
    values (${to}, ${directory.provider}, ${removed[0]?.external_id ?? null})
    on conflict (user_ref) do update set external_id = coalesce(scim_users.external_id, excluded.external_id)`.execute(
    tx,
  );
  await sql`update users set status_provider = ${directory.provider} where ref = ${from}`.execute(tx);
  // A person has archived it, so it stays so if the directory creates a user of its name (SCIM-15).
  const left = { user_ref: from, provider: directory.provider, status_before: 'archived' } as const;
  await tx.insertInto('scim_users').values(left).execute();
}

/** Moves what belongs to the person (MERGE-1). */
async function movePerson(tx: Tx, move: Move) {
  const { from, to } = move;
  const teams = await movePersonal(tx, move, { table: 'team_members', same: ['team_id'] });
  const byCapability = ['capability', 'team_id'];
  const grants = await movePersonal(tx, move, { table: 'user_capability_grants', same: byCapability });
  const revokes = await movePersonal(tx, move, { table: 'user_capability_revokes', same: byCapability });
  const identities = await changedRows(
    tx,
    sql`update user_identities set user_ref = ${to} where user_ref = ${from}`,
  );
  await sql`update comments set assignee_user_ref = ${to} where assignee_user_ref = ${from}`.execute(tx);
  await sql`update reviews set requested_by_user_ref = ${to} where requested_by_user_ref = ${from}`.execute(
    tx,
  );
  await moveReviews(tx, move);
  await moveProvisioning(tx, move);
  // What an account hides from visitors stays hidden.
  await sql`update users set hide_from_anonymous = true where ref = ${to}
    and exists (select from users where ref = ${from} and hide_from_anonymous)`.execute(tx);
  return {
    teams,
    grants,
    revokes,
    identities,
    shares: await moveAll(tx, move, shares),
    likes: await moveAll(tx, move, likes),
    follows: await moveAll(tx, move, follows),
    searches: await moveAll(tx, move, searches),
  };
}

/** Archives the account and ends what opens it; its passkeys stay with it (MERGE-4). */
async function retire(tx: Tx, { from }: Move) {
  await tx
    .updateTable('users')
    .set({ status: 'archived', updated_at: sql`now()` })
    .where('ref', '=', from)
    .execute();
  await tx.deleteFrom('account_links').where('user_ref', '=', from).execute();
  const tokens = sql`delete from access_tokens where user_ref = ${from}`;
  return {
    ended_tokens: await changedRows(tx, tokens),
    ended_sessions: await endSessionsOf(tx, from, null),
  };
}

/** MERGE-1 to MERGE-4. */
async function mergeAccounts(tx: Tx, move: Move): Promise<MergeCounts> {
  // First, so that the account changes nothing more.
  const ended = await retire(tx, move);
  const content = await moveContent(tx, move);
  return { ...content, ...(await movePerson(tx, move)), ...ended };
}

export const merge = handle(mergeUser, async ({ db }, { caller: asked, params, body }) => {
  const counts = await keepingAnAdministrator(
    db,
    asked,
    async (tx, caller) => {
      const { ref: from, username } = await administered(tx, caller, params.ref);
      const move = { from, to: body.into, by: caller.ref };
      await checkMove(tx, move);
      return tryOut(tx, body.dry_run === true, async () => {
        const moved = await mergeAccounts(tx, move);
        await recordEvent(tx, caller, {
          event: 'user.merged',
          subjectUserRef: move.to,
          metadata: { from, username, ...moved },
        });
        // Also before a dry run is taken back.
        if (!(await hasAdministrator(tx))) throw refuse('last-administrator');
        return moved;
      });
    },
    'system.admin',
  );
  return { status: 200, body: counts };
});
