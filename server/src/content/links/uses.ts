import { exportLinkViews } from '@vitrine/contract/guests';
import { recordLinkView } from '@vitrine/contract/link-visits';
import { type LinkFileUse, listLinkViews } from '@vitrine/contract/links';
import { sql } from 'kysely';
import { renderedHash, servedAssets, shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { type LinkVisitor, linkedAssets } from '../../access/links.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { neutralised } from '../csv/formulas.ts';
import { sendCsv } from '../csv/send.ts';
import { beginsDownload } from '../downloads/record.ts';
import { findManaged, pagesOf } from './managed.ts';
import { visitLink } from './visit.ts';

/** Views and downloads of the files of a link (LINK-21). */

const columns = {
  view: { count: sql.ref('view_count'), last: sql.ref('last_viewed_at') },
  download: { count: sql.ref('download_count'), last: sql.ref('last_downloaded_at') },
};

/** Counts uses of files through a link; an id may occur more than once. Locks assets first, as their purge does. */
export async function countUses(
  db: Database,
  use: 'view' | 'download',
  { linkId, guest }: Pick<LinkVisitor, 'linkId' | 'guest'>,
  assetIds: readonly string[],
): Promise<void> {
  if (assetIds.length === 0) return;
  const { count, last } = columns[use];
  await sql`
    with given as (select id, count(*) as times from unnest(${assetIds}::uuid[]) given (id) group by id),
      used as materialized (
        select a.id, g.times from given g join assets a on a.id = g.id order by a.id for key share of a),
      link as (
        update share_links set ${count} = ${count} + (select sum(times) from used)
        where id = ${linkId} and exists (select from used) returning id)
    insert into share_link_files as f (link_id, asset_id, guest_id, ${count}, ${last})
    select link.id, used.id, ${guest?.id ?? null}::uuid, used.times, now() from link cross join used
    on conflict (link_id, asset_id, guest_id) do update set ${count} = f.${count} + excluded.${count}, ${last} = now(),
      last_at = now()`.execute(db);
}

/** Counts a download if it begins with this response. */
export async function countDownload(
  db: Database,
  http: Pick<HttpFacts, 'header' | 'isHead'>,
  visitor: LinkVisitor,
  { assetId, status }: { assetId: string; status: number },
): Promise<void> {
  if (beginsDownload(http, status)) await countUses(db, 'download', visitor, [assetId]);
}

/** `POST /links/{token}/assets/{id}/view`. */
export const view = handle(recordLinkView, async (deps, { params, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const { rows } =
    await sql`select from assets a where a.id = ${params.id} and ${linkedAssets(visitor)}`.execute(deps.db);
  if (rows.length === 0) throw notFound();
  await countUses(deps.db, 'view', visitor, [params.id]);
  return { status: 204 };
});

interface UseRow extends Omit<LinkFileUse, 'guest'> {
  id: string;
  last_at: string;
  guest_id: string | null;
  name: string | null;
}

/** Returns a page, the latest use first; one statement. */
async function readPage(db: Database, caller: SignedIn, linkId: string, query: PageQuery) {
  const page = newestFirst(query, 'u.last_at', 'u.id');
  const { rows } = await sql<UseRow>`
    select u.id, u.asset_id, case when ${shownAssets(caller)} then a.title end as title,
      ${servedAssets(caller)} and f.renditions ? 'col' as preview_available, u.view_count, u.download_count,
      u.last_viewed_at, u.last_downloaded_at, u.last_at, g.id as guest_id, g.name
    from share_link_files u left join link_guests g on g.id = u.guest_id join assets a on a.id = u.asset_id
      join files f on f.hash = ${renderedHash}
    where u.link_id = ${linkId} and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.last_at, id: row.id }));
  const items = cut.rows.map(
    ({ id: _, last_at: __, guest_id, name, ...row }): LinkFileUse => ({
      ...row,
      ...(guest_id === null || name === null ? {} : { guest: { id: guest_id, name } }),
    }),
  );
  return { items, next_cursor: cut.next };
}

/** `GET /links/{link}/views`: the latest first. */
export const list = handle(listLinkViews, async ({ db }, { caller, params, query }) => {
  await findManaged(db, caller, params.link);
  return { status: 200, body: await readPage(db, caller, params.link, query) };
});

/** `GET /links/{link}/views.csv` (GUEST-12). */
export const exportAll = handle(exportLinkViews, async ({ db, log }, { caller, params, query, http }) => {
  await findManaged(db, caller, params.link);
  const pages = pagesOf((page) => readPage(db, caller, params.link, page));
  return sendCsv(log, http, {
    name: 'views',
    bom: query.bom === true,
    columns: ['guest', 'asset_id', 'title', 'views', 'last_viewed_at', 'downloads', 'last_downloaded_at'],
    rows: pages((row) => [
      neutralised(row.guest?.name ?? ''),
      row.asset_id,
      neutralised(row.title ?? ''),
      String(row.view_count),
      row.last_viewed_at ?? '',
      String(row.download_count),
      row.last_downloaded_at ?? '',
    ]),
  });
});
