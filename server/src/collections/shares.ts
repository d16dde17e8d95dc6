import {
  deleteCollectionShare,
  getCollectionShare,
  listCollectionShares,
  putCollectionShare,
} from '@vitrine/contract/collections';
import type { PostAuthor } from '@vitrine/contract/identity';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { identityJson } from '../access/identities.ts';
import { recordEvent } from '../audit/record.ts';
import type { Database } from '../platform/database/pool.ts';
import { handle } from '../platform/http/bind.ts';
import { readRefCursor, refCursorAfter } from '../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../platform/http/page.ts';
import { notFound } from '../platform/http/refuse.ts';
import { checkUser } from '../users/known.ts';
import { lockCollection } from './lock.ts';

interface Row {
  user_ref: number;
  user: PostAuthor | null;
  created_at: string;
}

async function readShares(db: Database, caller: Caller, collectionId: string, rest: RawBuilder<unknown>) {
  const { rows } = await sql<Row>`
    select s.user_ref, ${identityJson(caller, 'u')} as user, s.created_at
    from collection_shares s left join users u on u.ref = s.user_ref
    where s.collection_id = ${collectionId} ${rest}`.execute(db);
  return rows.map(({ user, ...share }) => (user === null ? share : { ...share, user }));
}

/** Whom a collection is shared with is its owner's to know and to change. */
export const list = handle(listCollectionShares, async ({ db }, { caller, params, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = readRefCursor(query.cursor) ?? 0;
  const rows = await db.transaction().execute(async (tx) => {
    await lockCollection(tx, caller, params.id);
    return readShares(
      tx,
      caller,
      params.id,
      sql`and s.user_ref > ${after} order by s.user_ref limit ${limit + 1}`,
    );
  });
  return { status: 200, body: cutPage(rows, limit, (last) => refCursorAfter(last.user_ref)) };
});

export const get = handle(getCollectionShare, async ({ db }, { caller, params }) => {
  const share = await db.transaction().execute(async (tx) => {
    await lockCollection(tx, caller, params.id);
    return (await readShares(tx, caller, params.id, sql`and s.user_ref = ${params.user_ref}`))[0];
  });
  if (share === undefined) throw notFound();
  return { status: 200, body: share };
});

export const put = handle(putCollectionShare, async ({ db }, { caller, params }) => {
  return db.transaction().execute(async (tx) => {
    await lockCollection(tx, caller, params.id);
    await checkUser(tx, params.user_ref);
    const inserted = await tx
      .insertInto('collection_shares')
      .values({ collection_id: params.id, user_ref: params.user_ref })
      .onConflict((conflict) => conflict.doNothing())
      .returning('user_ref')
      .execute();
    if (inserted.length > 0) {
      await recordEvent(tx, caller, {
        event: 'collection.shared',
        subjectUserRef: params.user_ref,
        target: { kind: 'collection', id: params.id },
      });
    }
    const [share] = await readShares(tx, caller, params.id, sql`and s.user_ref = ${params.user_ref}`);
    if (share === undefined) throw new Error('the share just written is not there');
    return inserted.length > 0
      ? { status: 201 as const, body: share }
      : { status: 200 as const, body: share };
  });
});

export const remove = handle(deleteCollectionShare, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    await lockCollection(tx, caller, params.id);
    const { numDeletedRows } = await tx
      .deleteFrom('collection_shares')
      .where('collection_id', '=', params.id)
      .where('user_ref', '=', params.user_ref)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordEvent(tx, caller, {
      event: 'collection.unshared',
      subjectUserRef: params.user_ref,
      target: { kind: 'collection', id: params.id },
    });
  });
  return { status: 204 };
});
