import {
  getDeletionRequest,
  type OwnDeletionRequest,
  requestDeletion,
  withdrawDeletionRequest,
} from '@vitrine/contract/account-data';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Columns, Database, Tx } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';

interface OwnRow
  extends Columns<'deletion_requests', 'id' | 'note' | 'requested_at' | 'decided_at' | 'decision_reason'> {
  state: Exclude<OwnDeletionRequest['state'], 'deleted'>;
}

/** Returns a request without the properties that it does not have yet. */
export function shownRequest({ decided_at, decision_reason, ...row }: OwnRow): OwnDeletionRequest {
  return {
    ...row,
    ...(decided_at === null ? {} : { decided_at }),
    ...(decision_reason === null ? {} : { decision_reason }),
  };
}

async function findOwn(db: Database, caller: SignedIn): Promise<OwnDeletionRequest | null> {
  const { rows } = await sql<OwnRow>`
    select d.id, d.note, d.state, d.requested_at, d.decided_at, d.decision_reason from deletion_requests d
    where d.user_ref = ${caller.ref}`.execute(db);
  const [row] = rows;
  return row === undefined ? null : shownRequest(row);
}

/** Stores a request in place of one that was decided. Returns its id; null if one is pending. */
async function storeRequest(tx: Tx, caller: SignedIn, note: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    insert into deletion_requests as d (user_ref, note) values (${caller.ref}, ${note})
    on conflict (user_ref) do update set id = gen_random_uuid(), note = excluded.note, state = 'pending',
      requested_at = now(), decided_at = null, decided_by_user_ref = null, decision_reason = null
      where d.state <> 'pending'
    returning d.id`.execute(tx);
  return rows[0]?.id ?? null;
}

/** `POST /account/deletion-request` (DELETION-1). */
export const request = handle(requestDeletion, async ({ db }, { caller, body }) => {
  return db.transaction().execute(async (tx) => {
    const id = await storeRequest(tx, caller, body?.note?.trim() ?? '');
    if (id !== null) {
      await recordEvent(tx, caller, { event: 'user.deletion-request.created', subjectUserRef: caller.ref });
      await announce(tx, { what: 'deletion_request', request: id, actor: caller.ref });
    }
    const stored = await findOwn(tx, caller);
    if (stored === null) throw new Error('the stored request does not exist');
    return id === null ? { status: 200 as const, body: stored } : { status: 201 as const, body: stored };
  });
});

/** `GET /account/deletion-request`. */
export const show = handle(getDeletionRequest, async ({ db }, { caller }) => {
  const body = await findOwn(db, caller);
  if (body === null) throw notFound();
  return { status: 200, body };
});

/** `DELETE /account/deletion-request`. */
export const withdraw = handle(withdrawDeletionRequest, async ({ db }, { caller }) => {
  await db.transaction().execute(async (tx) => {
    const { numAffectedRows } = await sql`delete from deletion_requests d
      where d.user_ref = ${caller.ref} and d.state = 'pending'`.execute(tx);
    if (numAffectedRows === 0n) throw notFound();
    await recordEvent(tx, caller, { event: 'user.deletion-request.withdrawn', subjectUserRef: caller.ref });
  });
  return { status: 204 };
});
