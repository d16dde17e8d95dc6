import type { PostAuthor } from '@vitrine/contract/identity';
import { listTrash, type TrashItem, type TrashScope } from '@vitrine/contract/trash';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';
import { everyonesTrash, mayRestore, ownTrash, trashedBy } from '../../access/trash.ts';
import { handle } from '../../core/handle.ts';
import { newestFirst } from '../../platform/http/page.ts';

interface TrashRow extends Omit<TrashItem, 'restorable' | 'owner'> {
  owner: PostAuthor | null;
}

type OwnerColumn = 'author_user_ref' | 'owner_user_ref';

const rules: Record<TrashScope, (caller: SignedIn, owner: OwnerColumn) => RawBuilder<boolean>> = {
  owned_by_me: ownTrash,
  deleted_by_me: trashedBy,
  everyone: everyonesTrash,
};

/** Lists what belongs to the caller, was deleted by them or is anyone's, of every kind, latest first. */
export const list = handle(listTrash, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'x.deleted_at', 'x.id');
  const rule = (owner: OwnerColumn) => rules[query.scope ?? 'owned_by_me'](caller, owner);
  const columns = (title: string, owner: OwnerColumn) =>
    sql`x.id, x.${sql.ref(title)} as title, x.deleted_at, x.deleted_reason, x.deleted_by_user_ref,
      x.${sql.ref(owner)} as owner_ref`;
  const { rows } = await sql<TrashRow>`
    select x.kind, x.id, x.title, x.deleted_at, x.deleted_reason, x.deleted_by_user_ref,
      ${identityJson(caller, 'ou')} as owner
    from (
      (select 'post' as kind, ${columns('title', 'author_user_ref')} from posts x
        where ${rule('author_user_ref')} and ${page.after} ${page.order})
      union all
      (select 'asset' as kind, ${columns('title', 'owner_user_ref')} from assets x
        where ${rule('owner_user_ref')} and ${page.after} ${page.order})
      union all
      (select 'collection' as kind, ${columns('name', 'owner_user_ref')} from collections x
        where ${rule('owner_user_ref')} and ${page.after} ${page.order})
    ) x left join users ou on ou.ref = x.owner_ref ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.deleted_at, id: row.id }));
  const items = cut.rows.map(({ owner, ...row }) => ({
    ...row,
    ...(owner === null ? {} : { owner }),
    restorable: mayRestore(caller, row.deleted_by_user_ref),
  }));
  return { status: 200, body: { items, next_cursor: cut.next } };
});
