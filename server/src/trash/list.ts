import { listTrash, type TrashItem } from '@vitrine/contract/trash';
import { sql } from 'kysely';
import { mayRestore } from '../access/trash.ts';
import { handle } from '../platform/http/bind.ts';
import { newestFirst } from '../platform/http/page.ts';

type Row = Omit<TrashItem, 'restorable'>;

/** What of the caller's own was deleted, or what they deleted, latest first, of every kind together. */
export const list = handle(listTrash, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'deleted_at', 'id');
  const byMe = query.scope === 'deleted_by_me';
  const mine = (owner: string) =>
    sql<boolean>`${sql.ref(byMe ? 'deleted_by_user_ref' : owner)} = ${caller.ref}`;
  const columns = (title: string) =>
    sql`id, ${sql.ref(title)} as title, deleted_at, deleted_reason, deleted_by_user_ref`;
  const { rows } = await sql<Row>`
    select * from (
      (select 'post' as kind, ${columns('title')} from posts
        where deleted_at is not null and ${mine('author_user_ref')} and ${page.after} ${page.order})
      union all
      (select 'asset' as kind, ${columns('title')} from assets
        where deleted_at is not null and ${mine('owner_user_ref')} and ${page.after} ${page.order})
      union all
      (select 'collection' as kind, ${columns('name')} from collections
        where deleted_at is not null and ${mine('owner_user_ref')} and ${page.after} ${page.order})
    ) trash ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.deleted_at, id: row.id }));
  const items = cut.rows.map((row) => ({ ...row, restorable: mayRestore(caller, row.deleted_by_user_ref) }));
  return { status: 200, body: { items, next_cursor: cut.next } };
});
