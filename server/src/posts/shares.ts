import type { PostAuthor } from '@vitrine/contract/identity';
import { deleteShare, getShare, listShares, putShare } from '@vitrine/contract/posts';
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
import { lockEditable } from './edit.ts';

interface Row {
  user_ref: number;
  user: PostAuthor | null;
  created_at: string;
}

async function readShares(db: Database, caller: Caller, postId: string, rest: RawBuilder<unknown>) {
  const { rows } = await sql<Row>`
    select s.user_ref, ${identityJson(caller, 'u')} as user, s.created_at
    from post_shares s left join users u on u.ref = s.user_ref
    where s.post_id = ${postId} ${rest}`.execute(db);
  return rows.map(({ user, ...share }) => (user === null ? share : { ...share, user }));
}

/** Whom a post is shared with is its author's to know and to change. */
export const list = handle(listShares, async ({ db }, { caller, params, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = readRefCursor(query.cursor) ?? 0;
  const rows = await db.transaction().execute(async (tx) => {
    await lockEditable(tx, caller, params.id);
    return readShares(
      tx,
      caller,
      params.id,
      sql`and s.user_ref > ${after} order by s.user_ref limit ${limit + 1}`,
    );
  });
  return { status: 200, body: cutPage(rows, limit, (last) => refCursorAfter(last.user_ref)) };
});

export const get = handle(getShare, async ({ db }, { caller, params }) => {
  const share = await db.transaction().execute(async (tx) => {
    await lockEditable(tx, caller, params.id);
    return (await readShares(tx, caller, params.id, sql`and s.user_ref = ${params.user_ref}`))[0];
  });
  if (share === undefined) throw notFound();
  return { status: 200, body: share };
});

export const put = handle(putShare, async ({ db }, { caller, params }) => {
  return db.transaction().execute(async (tx) => {
    await lockEditable(tx, caller, params.id);
    await checkUser(tx, params.user_ref);
    const inserted = await tx
      .insertInto('post_shares')
      .values({ post_id: params.id, user_ref: params.user_ref })
      .onConflict((conflict) => conflict.doNothing())
      .returning('user_ref')
      .execute();
    if (inserted.length > 0) {
      await recordEvent(tx, caller, {
        event: 'post.shared',
        subjectUserRef: params.user_ref,
        target: { kind: 'post', id: params.id },
      });
    }
    const [share] = await readShares(tx, caller, params.id, sql`and s.user_ref = ${params.user_ref}`);
    if (share === undefined) throw new Error('the share just written is not there');
    return inserted.length > 0
      ? { status: 201 as const, body: share }
      : { status: 200 as const, body: share };
  });
});

export const remove = handle(deleteShare, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    await lockEditable(tx, caller, params.id);
    const { numDeletedRows } = await tx
      .deleteFrom('post_shares')
      .where('post_id', '=', params.id)
      .where('user_ref', '=', params.user_ref)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordEvent(tx, caller, {
      event: 'post.unshared',
      subjectUserRef: params.user_ref,
      target: { kind: 'post', id: params.id },
    });
  });
  return { status: 204 };
});
