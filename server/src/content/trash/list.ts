import { listTrash, type TrashItem } from '@vitrine/contract/trash';
import { sql } from 'kysely';
import { mayRestore, ownTrash, trashedBy } from '../../access/trash.ts';
import { handle } from '../../core/handle.ts';
import { newestFirst } from '../../platform/http/page.ts';

type TrashRow = Omit<TrashItem, 'restorable'>;

/** Lists what belongs to the caller or was deleted by them, of every kind, latest first. */
export const list = handle(listTrash, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'x.deleted_at', 'x.id');
  const rule = (owner: 'author_user_ref' | 'owner_user_ref') =>
    query.scope === 'deleted_by_me' ? trashedBy(caller) : ownTrash(caller, owner);
  const columns = (title: string) =>
    sql`x.id, x.${sql.ref(title)} as title, x.deleted_at, x.deleted_reason, x.deleted_by_user_ref`;
  const { rows } = await sql<TrashRow>`
    select * from (
      (select 'post' as kind, ${columns('title')} from posts x
        where ${rule('author_user_ref')} and ${page.after} ${page.order})
      union all
      (select 'asset' as kind, ${columns('title')} from assets x
        where ${rule('owner_user_ref')} and ${page.after} ${page.order})
      union all
      (select 'collection' as kind, ${columns('name')} from collections x
        where ${rule('owner_user_ref')} and ${page.after} ${page.order})
    ) x ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.deleted_at, id: row.id }));
  const items = cut.rows.map((row) => ({ ...row, restorable: mayRestore(caller, row.deleted_by_user_ref) }));
  return { status: 200, body: { items, next_cursor: cut.next } };
});
