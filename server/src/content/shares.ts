import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import type { Caller, SignedIn } from '../access/caller.ts';
import { identityJson } from '../access/identities.ts';
import { checkUser } from '../access/known-accounts.ts';
import { recordEvent } from '../people/audit/record.ts';
import type { Columns, Database, Tx } from '../platform/database/pool.ts';
import { refCursor } from '../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../platform/http/page.ts';
import { notFound } from '../platform/http/refuse.ts';

/** Kinds of things that can be shared with accounts. */
export interface Shareable<S extends Share = Share> {
  kind: 'post' | 'collection' | 'asset';
  /** Locks the thing for a caller who may change it; throws 403 or 404 otherwise. */
  lock(tx: Tx, caller: SignedIn, id: string): Promise<unknown>;
  /** Converts a share for the contract. */
  show(share: Share, expiresAt: string | null): S;
}

export interface Share {
  user_ref: number;
  user?: PostAuthor;
  created_at: string;
}

interface ShareRow extends Columns<'asset_shares', 'user_ref' | 'created_at' | 'expires_at'> {
  user: PostAuthor | null;
}

/** Shares of assets may expire; an expired share has no effect, and a job removes it. */
const tables = {
  post: { shares: sql.table('post_shares'), id: sql.ref('post_id'), expires: false },
  collection: { shares: sql.table('collection_shares'), id: sql.ref('collection_id'), expires: false },
  asset: { shares: sql.table('asset_shares'), id: sql.ref('asset_id'), expires: true },
};

async function read<S extends Share>(
  db: Database,
  caller: Caller,
  { kind, show }: Shareable<S>,
  id: string,
  rest: RawBuilder<unknown>,
): Promise<S[]> {
  const { shares, id: column, expires } = tables[kind];
  const { rows } = await sql<ShareRow>`
    select s.user_ref, ${identityJson(caller, 'u')} as user, s.created_at,
      ${expires ? sql`s.expires_at` : sql`null`} as expires_at
    from ${shares} s left join users u on u.ref = s.user_ref
    where s.${column} = ${id} ${expires ? sql`and (s.expires_at is null or s.expires_at > now())` : sql``}
      ${rest}`.execute(db);
  return rows.map(({ user, expires_at, ...share }) =>
    show(user === null ? share : { ...share, user }, expires_at),
  );
}

/** Returns a page of the accounts something is shared with, by ref, for callers who may change it. */
export async function listShares<S extends Share>(
  db: Database,
  caller: SignedIn,
  thing: Shareable<S>,
  id: string,
  query: { limit?: number; cursor?: string },
) {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = refCursor.read(query.cursor)?.ref ?? 0;
  const rows = await db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    const rest = sql`and s.user_ref > ${after} order by s.user_ref limit ${limit + 1}`;
    return read(tx, caller, thing, id, rest);
  });
  return cutPage(rows, limit, (last) => refCursor.after({ ref: last.user_ref }));
}

async function readOne<S extends Share>(
  tx: Tx,
  caller: SignedIn,
  thing: Shareable<S>,
  id: string,
  userRef: number,
): Promise<S> {
  const [share] = await read(tx, caller, thing, id, sql`and s.user_ref = ${userRef}`);
  if (share === undefined) throw notFound();
  return share;
}

/** Returns one share, or throws 404. */
export function getShare<S extends Share>(
  db: Database,
  caller: SignedIn,
  thing: Shareable<S>,
  id: string,
  userRef: number,
): Promise<S> {
  return db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    return readOne(tx, caller, thing, id, userRef);
  });
}

/**
 * Shares something with an account. `created` is false when it was already shared. Only shares of assets have an
 * expiry; repeating the call replaces it.
 */
export function putShare<S extends Share>(
  db: Database,
  caller: SignedIn,
  thing: Shareable<S>,
  id: string,
  userRef: number,
  expiresAt: string | null = null,
): Promise<{ created: boolean; share: S }> {
  return db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    await checkUser(tx, userRef);
    const { created, changed } =
      thing.kind === 'asset'
        ? await writeAssetShare(tx, caller, id, userRef, expiresAt)
        : await writeShare(tx, thing.kind, id, userRef);
    if (changed) await record(tx, caller, thing, id, userRef, 'shared', expiresAt);
    return { created, share: await readOne(tx, caller, thing, id, userRef) };
  });
}

/** Whether a share is new, and whether it or its expiry is. */
interface Written {
  created: boolean;
  changed: boolean;
}

async function writeShare(
  tx: Tx,
  kind: 'post' | 'collection',
  id: string,
  userRef: number,
): Promise<Written> {
  const { shares, id: column } = tables[kind];
  const { rows } = await sql`insert into ${shares} (${column}, user_ref) values (${id}, ${userRef})
    on conflict do nothing returning user_ref`.execute(tx);
  const created = rows.length > 0;
  return { created, changed: created };
}

/** An expired share that is not removed yet counts as none. */
async function writeAssetShare(
  tx: Tx,
  caller: SignedIn,
  id: string,
  userRef: number,
  expiresAt: string | null,
): Promise<Written> {
  await sql`delete from asset_shares where asset_id = ${id} and user_ref = ${userRef} and expires_at <= now()`.execute(
    tx,
  );
  const { rows } = await sql<{ created: boolean }>`
    insert into asset_shares as s (asset_id, user_ref, shared_by_user_ref, expires_at)
    values (${id}, ${userRef}, ${caller.ref}, ${expiresAt})
    on conflict (asset_id, user_ref) do update set expires_at = excluded.expires_at
      where s.expires_at is distinct from excluded.expires_at
    returning xmax = 0 as created`.execute(tx);
  return { created: rows[0]?.created === true, changed: rows.length > 0 };
}

/** Removes a share; throws 404 when there is none. */
export function removeShare<S extends Share>(
  db: Database,
  caller: SignedIn,
  thing: Shareable<S>,
  id: string,
  userRef: number,
): Promise<void> {
  const { shares, id: column, expires } = tables[thing.kind];
  return db.transaction().execute(async (tx) => {
    await thing.lock(tx, caller, id);
    const { rows } = await sql`delete from ${shares} where ${column} = ${id} and user_ref = ${userRef}
      ${expires ? sql`and (expires_at is null or expires_at > now())` : sql``} returning user_ref`.execute(
      tx,
    );
    if (rows.length === 0) throw notFound();
    await record(tx, caller, thing, id, userRef, 'unshared');
  });
}

function record(
  tx: Tx,
  caller: SignedIn,
  { kind }: { kind: Shareable['kind'] },
  id: string,
  userRef: number,
  what: 'shared' | 'unshared',
  expiresAt: string | null = null,
): Promise<void> {
  return recordEvent(tx, caller, {
    event: `${kind}.${what}`,
    subjectUserRef: userRef,
    target: { kind, id },
    ...(expiresAt === null ? {} : { metadata: { expires_at: expiresAt } }),
  });
}
