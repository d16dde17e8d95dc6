import { recordLinkView } from '@vitrine/contract/link-visits';
import { type LinkFileUse, listLinkViews } from '@vitrine/contract/links';
import { sql } from 'kysely';
import { renderedHash, servedAssets, shownAssets } from '../../access/assets.ts';
import { linkedAssets, manageableLinks } from '../../access/links.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
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
  linkId: string,
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
    insert into share_link_files as f (link_id, asset_id, ${count}, ${last})
    select link.id, used.id, used.times, now() from link cross join used
    on conflict (link_id, asset_id) do update set ${count} = f.${count} + excluded.${count}, ${last} = now(),
      last_at = now()`.execute(db);
}

/** Counts a download whose response begins here: not its later parts, requests for the head, or unchanged files. */
export async function countDownload(
  db: Database,
  http: Pick<HttpFacts, 'header' | 'isHead'>,
  { linkId, assetId, status }: { linkId: string; assetId: string; status: number },
): Promise<void> {
  const isFirst = status === 206 ? /^bytes=0-/.test(http.header('range') ?? '') : status !== 304;
  if (isFirst && !http.isHead) await countUses(db, 'download', linkId, [assetId]);
}

/** `POST /links/{token}/assets/{id}/view`. */
export const view = handle(recordLinkView, async (deps, { params, http }) => {
  const { link, visitor } = await visitLink(deps, params.token, http);
  const { rows } =
    await sql`select from assets a where a.id = ${params.id} and ${linkedAssets(visitor)}`.execute(deps.db);
  if (rows.length === 0) throw notFound();
  await countUses(deps.db, 'view', link.id, [params.id]);
  return { status: 204 };
});

/** `GET /links/{link}/views`: the latest first. */
export const list = handle(listLinkViews, async ({ db }, { caller, params, query }) => {
  const page = newestFirst(query, 'u.last_at', 'u.asset_id');
  const found =
    await sql`select from share_links l where l.id = ${params.link} and ${manageableLinks(caller)}`.execute(
      db,
    );
  if (found.rows.length === 0) throw notFound();
  const { rows } = await sql<LinkFileUse & { last_at: string }>`
    select u.asset_id, case when ${shownAssets(caller)} then a.title end as title,
      ${servedAssets(caller)} and f.renditions ? 'col' as preview_available, u.view_count, u.download_count,
      u.last_viewed_at, u.last_downloaded_at, u.last_at
    from share_link_files u join assets a on a.id = u.asset_id join files f on f.hash = ${renderedHash}
    where u.link_id = ${params.link} and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.last_at, id: row.asset_id }));
  return {
    status: 200,
    body: { items: cut.rows.map(({ last_at: _, ...row }) => row), next_cursor: cut.next },
  };
});
