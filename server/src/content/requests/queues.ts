import { listAllRequests, listIncomingRequests, listMyRequests } from '@vitrine/contract/requests';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { incomingRequests } from '../../access/requests.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { showRequests } from './show.ts';

/** Lists a queue, newest first, with whether the caller may decide each row now (REQUEST-17). */
async function queue(
  db: Database,
  caller: SignedIn,
  which: RawBuilder<boolean>,
  query: PageQuery & { state?: string },
) {
  const page = newestFirst(query, 'q.requested_at', 'q.id');
  const state = query.state === undefined ? sql<boolean>`true` : sql<boolean>`q.state = ${query.state}`;
  const rows = await showRequests(db, caller, sql`${which} and ${state} and ${page.after}`, {
    rest: page.order,
    onQueue: true,
  });
  const cut = page.cut(rows, (row) => ({ at: row.requested_at, id: row.id }));
  return { items: cut.rows, next_cursor: cut.next };
}

export const mine = handle(listMyRequests, async ({ db }, { caller, query }) => ({
  status: 200,
  body: await queue(db, caller, sql`q.requester_user_ref = ${caller.ref}`, query),
}));

export const incoming = handle(listIncomingRequests, async ({ db }, { caller, query }) => ({
  status: 200,
  body: await queue(db, caller, incomingRequests(caller.ref), query),
}));

export const all = handle(listAllRequests, async ({ db }, { caller, query }) => ({
  status: 200,
  body: await queue(db, caller, sql`true`, query),
}));
