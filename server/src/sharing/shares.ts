import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import type { Caller, SignedIn } from '../access/caller.ts';
import { identityJson } from '../access/identities.ts';
import { recordEvent } from '../audit/record.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { readRefCursor, refCursorAfter } from '../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../platform/http/page.ts';
import { notFound } from '../platform/http/refuse.ts';
import { checkUser } from '../users/known.ts';

/** What can be shared with people one by one, and how it is locked for whoever may change it, or 404. */
export interface Shareable {
  kind: 'post' | 'collection';
  lock(tx: Tx, caller: SignedIn, id: string): Promise<unknown>;
}

interface Share {
  user_ref: number;
  user?: PostAuthor;
  created_at: string;
}

interface Row {
  user_ref: number;
  user: PostAuthor | null;
  created_at: string;
}

const tables = {
  post: { shares: sql.table('post_shares'), id: sql.ref('post_id') },
  collection: { shares: sql.table('collection_shares'), id: sql.ref('collection_id') },
};

async function read(
  db: Database,
  caller: Caller,
  { kind }: Shareable,
  id: string,
  rest: RawBuilder<unknown>,
): Promise<Share[]> {
  const { rows } = await sql<Row>`
    select s.user_ref, ${identityJson(caller, 'u')} as user, s.created_at
    from ${tables[kind].shares} s left join users u on u.ref = s.user_ref
    where s.${tables[kind].id} = ${id} ${rest}`.execute(db);
  return rows.map(({ user, ...share }) => (user === null ? share : { ...share, user }));
}

/** A page of whom something is shared with, by account: its owner's to know and to change. */
export async function listShares(
  db: Database,
  caller: SignedIn,
  thing: Shareable,
  id: string,
  query: { limit?: number; cursor?: string },
) {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = readRefCursor(query.cursor) ?? 0;
  const rows = await db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    const rest = sql`and s.user_ref > ${after} order by s.user_ref limit ${limit + 1}`;
    return read(tx, caller, thing, id, rest);
  });
  return cutPage(rows, limit, (last) => refCursorAfter(last.user_ref));
}

async function readOne(
  tx: Tx,
  caller: SignedIn,
  thing: Shareable,
  id: string,
  userRef: number,
): Promise<Share> {
  const [share] = await read(tx, caller, thing, id, sql`and s.user_ref = ${userRef}`);
  if (share === undefined) throw notFound();
  return share;
}

/** One share, or 404. */
export function getShare(
  db: Database,
  caller: SignedIn,
  thing: Shareable,
  id: string,
  userRef: number,
): Promise<Share> {
  return db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    return readOne(tx, caller, thing, id, userRef);
  });
}

/** Shares something with an account; `created` is false when it was shared before. */
export function putShare(
  db: Database,
  caller: SignedIn,
  thing: Shareable,
  id: string,
  userRef: number,
): Promise<{ created: boolean; share: Share }> {
  const { shares, id: column } = tables[thing.kind];
  return db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    await checkUser(tx, userRef);
    const { rows } = await sql`insert into ${shares} (${column}, user_ref) values (${id}, ${userRef})
      on conflict do nothing returning user_ref`.execute(tx);
    const created = rows.length > 0;
    if (created) await record(tx, caller, thing, id, userRef, 'shared');
    return { created, share: await readOne(tx, caller, thing, id, userRef) };
  });
}

/** Takes a share away, or 404 when there is none. */
export function removeShare(
  db: Database,
  caller: SignedIn,
  thing: Shareable,
  id: string,
  userRef: number,
): Promise<void> {
  const { shares, id: column } = tables[thing.kind];
  return db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    const { rows } = await sql`delete from ${shares} where ${column} = ${id} and user_ref = ${userRef}
      returning user_ref`.execute(tx);
    if (rows.length === 0) throw notFound();
    await record(tx, caller, thing, id, userRef, 'unshared');
  });
}

function record(
  tx: Tx,
  caller: SignedIn,
  { kind }: Shareable,
  id: string,
  userRef: number,
  what: 'shared' | 'unshared',
): Promise<void> {
  return recordEvent(tx, caller, {
    event: `${kind}.${what}`,
    subjectUserRef: userRef,
    target: { kind, id },
  });
}
