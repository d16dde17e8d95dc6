import {
  type DeletionRequest,
  decideDeletionRequest,
  listDeletionRequests,
} from '@vitrine/contract/account-data';
import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson, readerOfNames } from '../../access/identities.ts';
import { live } from '../../access/live.ts';
import type { Config } from '../../core/config.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import { keepingAnAdministrator } from '../../people/roles/last-administrator.ts';
import { writeStatus } from '../../people/users/status.ts';
import type { Columns, Database, Tx } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { preferredLanguage } from '../../platform/language/preferred.ts';
import { removeAccount } from '../admin/remove-account.ts';
import { shownRequest } from './deletion-request.ts';

interface RequestRow
  extends Columns<
    'deletion_requests',
    'id' | 'user_ref' | 'note' | 'requested_at' | 'decided_at' | 'decided_by_user_ref' | 'decision_reason'
  > {
  state: Exclude<DeletionRequest['state'], 'deleted'>;
  user: PostAuthor | null;
  assets: number;
  posts: number;
}

/** Returns requests that meet a condition on `deletion_requests d`. */
async function readRequests(
  db: Database,
  caller: SignedIn,
  which: RawBuilder<unknown>,
): Promise<DeletionRequest[]> {
  const { rows } = await sql<RequestRow>`
    select d.id, d.user_ref, ${identityJson(readerOfNames(caller), 'u')} as user, d.note, d.state, d.requested_at,
      d.decided_at, d.decided_by_user_ref, d.decision_reason,
      (select count(*) from assets a where a.owner_user_ref = d.user_ref and ${live('a')}) as assets,
      (select count(*) from posts p where p.author_user_ref = d.user_ref and ${live('p')}) as posts
    from deletion_requests d join users u on u.ref = d.user_ref where ${which}`.execute(db);
  return rows.map(({ user, decided_by_user_ref, user_ref, assets, posts, ...row }) => ({
    ...shownRequest(row),
    user_ref,
    assets,
    posts,
    ...(user === null ? {} : { user }),
    ...(decided_by_user_ref === null ? {} : { decided_by_user_ref }),
  }));
}

/** `GET /admin/deletion-requests` (DELETION-2). */
export const list = handle(listDeletionRequests, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'd.requested_at', 'd.id');
  const state = query.state === undefined ? sql`true` : sql`d.state = ${query.state}`;
  const rows = await readRequests(db, caller, sql`${state} and ${page.after} ${page.order}`);
  const cut = page.cut(rows, ({ requested_at, id }) => ({ at: requested_at, id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

interface Decision {
  decision: 'delete' | 'archive' | 'refuse';
  reason: string | null;
}

interface Account {
  ref: number;
  username: string;
  email: string | null;
  preferences: object;
}

const outcomes = { delete: 'deleted', archive: 'archived', refuse: 'refused' } as const;

/** Locks a pending request whose account the caller may administer. */
async function lockPending(tx: Tx, caller: SignedIn, id: string): Promise<Account> {
  const { rows } = await sql<Pick<Account, 'email' | 'preferences'> & { user_ref: number; state: string }>`
    select d.user_ref, d.state, u.email, u.preferences from deletion_requests d join users u on u.ref = d.user_ref
    where d.id = ${id} for update of d`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw notFound();
  const { ref, username } = await administered(tx, caller, row.user_ref);
  if (ref === caller.ref) throw refuse('cannot-delete-yourself');
  if (row.state !== 'pending') throw refuse('request-already-decided');
  return { ref, username, email: row.email, preferences: row.preferences };
}

/** Mails the member, whose account can no longer be signed in with (DELETION-4). */
async function mailOutcome(
  tx: Tx,
  id: string,
  { ref, username, email, preferences }: Account,
  notice: 'account-deleted' | 'account-archived',
): Promise<void> {
  if (email === null || email === '') return;
  await enqueue(
    tx,
    'mail-account-notice',
    { user: ref, to: email, notice, id, username, language: preferredLanguage(preferences) ?? 'en' },
    { key: `notice:${id}` },
  );
}

async function carryOut(
  tx: Tx,
  config: Config,
  caller: SignedIn,
  { id, account, decision, reason }: Decision & { id: string; account: Account },
): Promise<void> {
  if (decision === 'refuse') {
    await announce(tx, { what: 'deletion_decision', request: id, user: account.ref, actor: caller.ref });
    return;
  }
  await mailOutcome(tx, id, account, decision === 'delete' ? 'account-deleted' : 'account-archived');
  if (decision === 'delete') await removeAccount(tx, config, caller, account);
  else await writeStatus(tx, caller, [account.ref], { status: 'archived', reason });
}

/** `POST /admin/deletion-requests/{id}/decide` (DELETION-3). */
export const decide = handle(
  decideDeletionRequest,
  async ({ db, config }, { caller: asked, params, body }) => {
    const decision = { decision: body.decision, reason: body.reason?.trim() || null };
    if (decision.decision === 'refuse' && decision.reason === null) throw refuse('refusal-without-reason');
    const decided = await keepingAnAdministrator(db, asked, async (tx, caller) => {
      const account = await lockPending(tx, caller, params.id);
      const state = outcomes[decision.decision];
      await sql`update deletion_requests set state = ${state === 'deleted' ? 'pending' : state}, decided_at = now(),
          decided_by_user_ref = ${caller.ref}, decision_reason = ${decision.reason}
        where id = ${params.id}`.execute(tx);
      await recordEvent(tx, caller, {
        event: `user.deletion-request.${state}`,
        subjectUserRef: account.ref,
        metadata: { username: account.username, reason: decision.reason },
      });
      // Read before the row is deleted with its account.
      const [shown] = await readRequests(tx, caller, sql`d.id = ${params.id}`);
      if (shown === undefined) throw new Error('the decided request does not exist');
      await carryOut(tx, config, caller, { ...decision, id: params.id, account });
      return { ...shown, state };
    });
    return { status: 200, body: decided };
  },
);
