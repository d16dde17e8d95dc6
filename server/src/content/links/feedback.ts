import { exportLinkFeedback, type LinkFeedback, listLinkFeedback } from '@vitrine/contract/guests';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { neutralised } from '../csv/formulas.ts';
import { sendCsv } from '../csv/send.ts';
import { findManaged, pagesOf } from './managed.ts';

/** What guests left at a link, for the editors of its target (GUEST-11). */

interface Row {
  id: string;
  kind: LinkFeedback['kind'];
  asset_id: string | null;
  title: string | null;
  body: string;
  decision: NonNullable<LinkFeedback['decision']> | null;
  guest_id: string;
  name: string;
  created_at: string;
}

/** Returns a page, the latest first; one statement. */
async function readPage(db: Database, caller: SignedIn, linkId: string, query: PageQuery) {
  const page = newestFirst(query, 'd.decided_at', 'd.id');
  const { rows } = await sql<Row>`
    select d.id, 'decision' as kind, d.asset_id, case when ${shownAssets(caller)} then a.title end as title,
      d.note as body, d.decision, g.id as guest_id, g.name, d.decided_at as created_at
    from link_decisions d join link_guests g on g.id = d.guest_id left join assets a on a.id = d.asset_id
    where d.link_id = ${linkId} and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  const items = cut.rows.map(
    ({ asset_id, title, body, decision, guest_id, name, ...row }): LinkFeedback => ({
      ...row,
      guest: { id: guest_id, name },
      ...(asset_id === null ? {} : { asset_id }),
      ...(title === null ? {} : { title }),
      ...(body === '' ? {} : { body }),
      ...(decision === null ? {} : { decision }),
    }),
  );
  return { items, next_cursor: cut.next };
}

/** `GET /links/{link}/feedback`. */
export const list = handle(listLinkFeedback, async ({ db }, { caller, params, query }) => {
  await findManaged(db, caller, params.link);
  return { status: 200, body: await readPage(db, caller, params.link, query) };
});

/** `GET /links/{link}/feedback.csv` (GUEST-12). */
export const exportAll = handle(exportLinkFeedback, async ({ db, log }, { caller, params, query, http }) => {
  await findManaged(db, caller, params.link);
  const pages = pagesOf((page) => readPage(db, caller, params.link, page));
  return sendCsv(log, http, {
    name: 'feedback',
    bom: query.bom === true,
    columns: ['created_at', 'guest', 'kind', 'decision', 'asset_id', 'title', 'body'],
    rows: pages((row) => [
      row.created_at,
      neutralised(row.guest.name),
      row.kind,
      row.decision ?? '',
      row.asset_id ?? '',
      neutralised(row.title ?? ''),
      neutralised(row.body ?? ''),
    ]),
  });
});
