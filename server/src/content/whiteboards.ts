import type { PostAuthor } from '@vitrine/contract/identity';
import {
  createWhiteboard,
  deleteWhiteboard,
  getWhiteboard,
  listWhiteboards,
  updateWhiteboard,
  type Whiteboard,
} from '@vitrine/contract/whiteboards';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { deletableWhiteboards, editableWhiteboards } from '../access/comments.ts';
import { identityJson } from '../access/identities.ts';
import { readablePosts } from '../access/posts.ts';
import { checkReadable, isReadable } from '../access/readable-posts.ts';
import { handle } from '../core/handle.ts';
import type { Database } from '../platform/database/pool.ts';
import { newestFirst } from '../platform/http/page.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';
import { asksForChange, checkUnchanged, nextUpdatedAt } from '../platform/http/unchanged.ts';
import { keptStrokes } from './drawings/strokes.ts';

interface WhiteboardRow extends Omit<Whiteboard, 'author'> {
  author: PostAuthor | null;
}

async function readWhiteboards(
  db: Database,
  caller: Caller,
  which: RawBuilder<boolean>,
  rest: RawBuilder<unknown>,
): Promise<WhiteboardRow[]> {
  const { rows } = await sql<WhiteboardRow>`
    select w.id, w.post_id, ${identityJson(caller, 'u')} as author, w.title, w.strokes, w.created_at, w.updated_at
    from whiteboards w left join users u on u.ref = w.author_user_ref where ${which} ${rest}`.execute(db);
  return rows;
}

function show({ author, ...board }: WhiteboardRow): Whiteboard {
  return author === null ? board : { ...board, author };
}

/** BOARD-2: anyone who reads a post may draw on it, regardless of `comments_enabled`. */
export const create = handle(createWhiteboard, async ({ db }, { caller, params, body }) => {
  const strokes = keptStrokes(body.strokes);
  const board = await db.transaction().execute(async (tx) => {
    await checkReadable(tx, caller, params.id);
    const { id } = await tx
      .insertInto('whiteboards')
      .values({
        post_id: params.id,
        author_user_ref: caller.ref,
        title: body.title ?? '',
        strokes: JSON.stringify(strokes),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const [made] = await readWhiteboards(tx, caller, sql`w.id = ${id}`, sql``);
    if (made === undefined) throw new Error('the created whiteboard does not exist');
    return show(made);
  });
  return { status: 201, body: board };
});

export const list = handle(listWhiteboards, async ({ db }, { caller, params, query }) => {
  await checkReadable(db, caller, params.id);
  const page = newestFirst(query, 'w.created_at', 'w.id');
  const which = sql<boolean>`w.post_id = ${params.id} and ${isReadable(caller, params.id)} and ${page.after}`;
  const rows = await readWhiteboards(db, caller, which, page.order);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return { status: 200, body: { items: cut.rows.map(show), next_cursor: cut.next } };
});

/** BOARD-7. */
export const get = handle(getWhiteboard, async ({ db }, { caller, params }) => {
  const which = sql<boolean>`w.id = ${params.id}
    and exists (select from posts p where p.id = w.post_id and ${readablePosts(caller)})`;
  const [row] = await readWhiteboards(db, caller, which, sql``);
  if (row === undefined) throw notFound();
  return { status: 200, body: show(row) };
});

/** BOARD-8, BOARD-9. */
export const update = handle(updateWhiteboard, async ({ db }, { caller, params, body }) => {
  const strokes = body.strokes == null ? undefined : keptStrokes(body.strokes);
  const board = await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ allowed: boolean; updated_at: string }>`
      select ${editableWhiteboards(caller)} as allowed, w.updated_at
      from whiteboards w join posts p on p.id = w.post_id
      where w.id = ${params.id} and ${readablePosts(caller)} for update of w`.execute(tx);
    const locked = rows[0];
    if (locked === undefined) throw notFound();
    if (!locked.allowed) throw refuse('whiteboard-not-yours');
    checkUnchanged(body.if_unchanged_since, locked.updated_at);
    if (asksForChange(body))
      await tx
        .updateTable('whiteboards')
        .set({
          ...(body.title == null ? {} : { title: body.title }),
          ...(strokes === undefined ? {} : { strokes: JSON.stringify(strokes) }),
          updated_at: nextUpdatedAt,
        })
        .where('id', '=', params.id)
        .execute();
    const [changed] = await readWhiteboards(tx, caller, sql`w.id = ${params.id}`, sql``);
    if (changed === undefined) throw new Error('the changed whiteboard does not exist');
    return show(changed);
  });
  return { status: 200, body: board };
});

export const remove = handle(deleteWhiteboard, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ allowed: boolean }>`
      select ${deletableWhiteboards(caller)} as allowed from whiteboards w join posts p on p.id = w.post_id
      where w.id = ${params.id} and ${readablePosts(caller)} for update of w`.execute(tx);
    const row = rows[0];
    if (row === undefined) throw notFound();
    if (!row.allowed) throw refuse('whiteboard-not-yours');
    await tx.deleteFrom('whiteboards').where('id', '=', params.id).execute();
  });
  return { status: 204 };
});
