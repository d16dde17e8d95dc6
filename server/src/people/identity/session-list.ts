import {
  endAllSessions,
  endOtherSessions,
  endSession as endSessionOperation,
  endUserSession,
  endUserSessions,
  listSessions,
  listUserSessions,
  type Session,
} from '@vitrine/contract/sessions';
import { sql } from 'kysely';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import { seesWhereabouts } from '../../access/identities.ts';
import { checkUser } from '../../access/known-accounts.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { endSessionsOf } from './sessions.ts';

interface SessionRow extends Omit<Session, 'current'> {
  user_agent: string;
  address: string;
}

/** Returns the valid sessions of an account, newest first; addresses only for callers who may see them. */
async function pageOfSessions(db: Database, caller: SignedIn, userRef: number, query: PageQuery) {
  const personal = seesWhereabouts(caller, userRef);
  const page = newestFirst(query, 's.created_at', 's.id');
  const { rows } = await sql<SessionRow>`
    select s.id, s.user_agent, s.address, s.created_at, s.last_used_at, s.expires_at,
      case when i.ref is not null then json_build_object('ref', i.ref, 'username', i.username) end as impersonated_by
    from sessions s left join users i on i.ref = s.impersonator_user_ref
    where s.user_ref = ${userRef} and s.expires_at > now() and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return {
    items: cut.rows.map((row) => ({
      ...row,
      current: row.id === caller.sessionId,
      user_agent: personal ? row.user_agent : null,
      address: personal ? row.address : null,
    })),
    next_cursor: cut.next,
  };
}

export const ownSessions = handle(listSessions, async ({ db }, { caller, query }) => ({
  status: 200,
  body: await pageOfSessions(db, caller, caller.ref, query),
}));

/** Ends one session of an account; throws 404 for a session of another account. */
async function endOne(db: Database, caller: SignedIn, userRef: number, sessionId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom('sessions')
      .where('id', '=', sessionId)
      .where('user_ref', '=', userRef)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordEvent(tx, caller, {
      event: 'auth.session.ended',
      subjectUserRef: userRef,
      target: { kind: 'session', id: sessionId },
    });
  });
}

/** Ends every session of an account except `kept`. */
async function endAll(db: Database, caller: SignedIn, userRef: number, kept: string | null): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const ended = await endSessionsOf(tx, userRef, kept);
    await recordEvent(tx, caller, {
      event: 'auth.sessions.ended',
      subjectUserRef: userRef,
      metadata: { ended },
    });
  });
}

export const endOwnSession = handle(endSessionOperation, async ({ db }, { caller, params }) => {
  await endOne(db, caller, caller.ref, params.id);
  return { status: 204 };
});

export const endOwnOtherSessions = handle(endOtherSessions, async ({ db }, { caller }) => {
  await endAll(db, caller, caller.ref, caller.sessionId);
  return { status: 204 };
});

export const sessionsOfUser = handle(listUserSessions, async ({ db }, { caller, params, query }) => {
  await checkUser(db, params.ref);
  return { status: 200, body: await pageOfSessions(db, caller, params.ref, query) };
});

export const endSessionOfUser = handle(endUserSession, async ({ db }, { caller, params }) => {
  const { ref } = await administered(db, caller, params.ref);
  await endOne(db, caller, ref, params.id);
  return { status: 204 };
});

export const endSessionsOfUser = handle(endUserSessions, async ({ db }, { caller, params }) => {
  const { ref } = await administered(db, caller, params.ref);
  await endAll(db, caller, ref, ref === caller.ref ? caller.sessionId : null);
  return { status: 204 };
});

export const endSessionsOfAll = handle(endAllSessions, async ({ db }, { caller }) => {
  await db.transaction().execute(async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom('sessions')
      .where((eb) => eb.or([eb('user_ref', '<>', caller.ref), eb('impersonator_user_ref', 'is not', null)]))
      .executeTakeFirst();
    await recordEvent(tx, caller, {
      event: 'auth.all_sessions.ended',
      metadata: { ended: Number(numDeletedRows) },
    });
  });
  return { status: 204 };
});
