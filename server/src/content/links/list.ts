import { listAssetLinks, listCollectionLinks, listPostLinks, type TargetKind } from '@vitrine/contract/links';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { lockTarget } from './create.ts';
import { type LinkRow, linkColumns, shownLink } from './show.ts';
import { countOmitted, targetColumn } from './target.ts';

/** Lists links to something the caller may edit, by any creator, newest first; three statements. */
async function listLinks(db: Database, caller: SignedIn, kind: TargetKind, id: string, query: PageQuery) {
  const page = newestFirst(query, 'l.created_at', 'l.id');
  return db.transaction().execute(async (tx) => {
    await lockTarget[kind](tx, caller, id);
    const { rows } = await sql<LinkRow>`select ${linkColumns} from share_links l
      where l.${targetColumn(kind)} = ${id} and ${page.after} ${page.order}`.execute(tx);
    const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
    const omitted_count = await countOmitted(tx, kind, id);
    return { items: cut.rows.map((row) => ({ ...shownLink(row), omitted_count })), next_cursor: cut.next };
  });
}

export const ofPost = handle(listPostLinks, async ({ db }, { caller, params, query }) => ({
  status: 200,
  body: await listLinks(db, caller, 'post', params.id, query),
}));

export const ofAsset = handle(listAssetLinks, async ({ db }, { caller, params, query }) => ({
  status: 200,
  body: await listLinks(db, caller, 'asset', params.id, query),
}));

export const ofCollection = handle(listCollectionLinks, async ({ db }, { caller, params, query }) => ({
  status: 200,
  body: await listLinks(db, caller, 'collection', params.id, query),
}));
