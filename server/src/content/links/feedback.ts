import type { Anchor } from '@vitrine/contract/annotations';
import { exportLinkFeedback, type LinkFeedback, listLinkFeedback } from '@vitrine/contract/guests';
import type { Stroke } from '@vitrine/contract/strokes';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { guestCommentsOf } from '../../access/guests.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { neutralised } from '../csv/formulas.ts';
import { sendCsv } from '../csv/send.ts';
import { annotationOf } from '../guest-comments/show.ts';
import { findManaged, pagesOf } from './managed.ts';

/** What guests left at a link, for the editors of its target (GUEST-11). */

interface FeedbackRow {
  id: string;
  kind: LinkFeedback['kind'];
  asset_id: string | null;
  title: string | null;
  body: string;
  version: number | null;
  anchor: Anchor | null;
  strokes: Stroke[] | null;
  decision: NonNullable<LinkFeedback['decision']> | null;
  guest_id: string;
  name: string;
  created_at: string;
}

/** Returns a page, the latest first; one statement. */
async function readPage(db: Database, caller: SignedIn, linkId: string, query: PageQuery) {
  const page = newestFirst(query, 'x.created_at', 'x.id');
  const title = sql`case when ${shownAssets(caller)} then a.title end as title`;
  const { rows } = await sql<FeedbackRow>`
    select x.id, x.kind, x.asset_id, x.title, x.body, x.version, x.anchor, x.strokes, x.decision, x.guest_id, x.name,
      x.created_at
    from (
      select d.id, 'decision' as kind, d.asset_id, ${title}, d.note as body, null::integer as version,
        null::jsonb as anchor, null::jsonb as strokes, d.decision, g.id as guest_id, g.name, d.decided_at as created_at
      from link_decisions d join link_guests g on g.id = d.guest_id left join assets a on a.id = d.asset_id
      where d.link_id = ${linkId}
      union all
      select gc.id, case when gc.anchor is null then 'comment' else 'annotation' end, gc.asset_id, ${title}, gc.body,
        gc.version, gc.anchor, gc.strokes, null, g.id, g.name, gc.created_at
      from guest_comments gc join link_guests g on g.id = gc.guest_id left join assets a on a.id = gc.asset_id
      where ${guestCommentsOf(caller, linkId)}
    ) x
    where ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  const items = cut.rows.map(({ asset_id, title, body, decision, guest_id, name, ...row }): LinkFeedback => {
    const annotation = annotationOf({ asset_id, ...row });
    return {
      id: row.id,
      kind: row.kind,
      guest: { id: guest_id, name },
      ...(asset_id === null ? {} : { asset_id }),
      ...(title === null ? {} : { title }),
      ...(body === '' ? {} : { body }),
      ...(annotation === null ? {} : { annotation }),
      ...(decision === null ? {} : { decision }),
      created_at: row.created_at,
    };
  });
  return { items, next_cursor: cut.next };
}

const percent = (fraction: number) => `${Math.round(fraction * 1000) / 10} %`;

/** Names the place of an annotation: its kind, the time or page, and the point in the picture. */
function placeOf(anchor: Anchor | undefined): string {
  if (anchor === undefined) return '';
  const parts: string[] = [anchor.kind];
  if (anchor.kind === 'time')
    parts.push([anchor.start, ...(anchor.end === undefined ? [] : [anchor.end])].join('-'));
  if (anchor.kind === 'page') parts.push(String(anchor.page));
  if ('x' in anchor && anchor.x !== undefined && anchor.y !== undefined)
    parts.push(`x ${percent(anchor.x)}`, `y ${percent(anchor.y)}`);
  return parts.join(' ');
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
    columns: ['created_at', 'guest', 'kind', 'decision', 'asset_id', 'title', 'place', 'body'],
    rows: pages((row) => [
      row.created_at,
      neutralised(row.guest.name),
      row.kind,
      row.decision ?? '',
      row.asset_id ?? '',
      neutralised(row.title ?? ''),
      placeOf(row.annotation?.anchor),
      neutralised(row.body ?? ''),
    ]),
  });
});
