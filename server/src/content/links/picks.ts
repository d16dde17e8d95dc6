import {
  exportLinkPicks,
  type LinkPick,
  listLinkPicks,
  pickLinkedAsset,
  unpickLinkedAsset,
} from '@vitrine/contract/guests';
import { sql } from 'kysely';
import { renderedHash, servedAssets, shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { takesPicks } from '../../access/guests.ts';
import { type LinkVisitor, linkedAssets } from '../../access/links.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { neutralised } from '../csv/formulas.ts';
import { sendCsv } from '../csv/send.ts';
import { announceGuests, lockGuest, lockLinked, lockTerms } from './guest-writes.ts';
import { findManaged, pagesOf } from './managed.ts';
import { visitLink } from './visit.ts';

/** Favourites that guests pick (GUEST-5). */

/** Returns how many files that the link shows a guest picks, and which of these ids. */
export async function readPicks(
  db: Database,
  visitor: LinkVisitor,
  guestId: string,
  ids: readonly string[],
): Promise<{ count: number; picked: ReadonlySet<string> }> {
  const { rows } = await sql<{ count: number; picked: string[] | null }>`
    select count(*) as count, array_agg(k.asset_id) filter (where k.asset_id = any(${ids}::uuid[])) as picked
    from link_picks k join assets a on a.id = k.asset_id
    where k.guest_id = ${guestId} and ${linkedAssets(visitor)}`.execute(db);
  return { count: rows[0]?.count ?? 0, picked: new Set(rows[0]?.picked) };
}

/** `PUT /links/{token}/picks/{asset_id}`. Picks of files that the link no longer shows do not count (GUEST-5). */
export const pick = handle(pickLinkedAsset, async (deps, { params, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const state = await deps.db.transaction().execute(async (tx) => {
    await lockLinked(tx, visitor, [params.asset_id]);
    const { maxPicks } = await lockTerms(tx, visitor, takesPicks, 'link-picks-not-allowed');
    const guest = await lockGuest(tx, visitor);
    await tx
      .insertInto('link_picks')
      .values({ link_id: visitor.linkId, guest_id: guest.id, asset_id: params.asset_id })
      .onConflict((conflict) => conflict.columns(['guest_id', 'asset_id']).doNothing())
      .execute();
    const { count } = await readPicks(tx, visitor, guest.id, []);
    if (maxPicks !== null && count > maxPicks) throw refuse('too-many-picks', { max: maxPicks });
    await announceGuests(tx, visitor);
    return { picked: true, pick_count: count };
  });
  return { status: 200, body: state };
});

/** `DELETE /links/{token}/picks/{asset_id}`, also for a file that the link no longer shows. */
export const unpick = handle(unpickLinkedAsset, async (deps, { params, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const state = await deps.db.transaction().execute(async (tx) => {
    await lockTerms(tx, visitor, takesPicks, 'link-picks-not-allowed');
    const guest = await lockGuest(tx, visitor);
    await tx
      .deleteFrom('link_picks')
      .where('guest_id', '=', guest.id)
      .where('asset_id', '=', params.asset_id)
      .execute();
    const { count } = await readPicks(tx, visitor, guest.id, []);
    return { picked: false, pick_count: count };
  });
  return { status: 200, body: state };
});

interface PickRow extends Omit<LinkPick, 'guest'> {
  id: string;
  guest_id: string;
  name: string;
}

/** Returns a page of the picks of a link, the latest first; one statement. */
async function readPage(db: Database, caller: SignedIn, linkId: string, query: PageQuery) {
  const page = newestFirst(query, 'k.picked_at', 'k.id');
  const { rows } = await sql<PickRow>`
    select k.id, k.asset_id, case when ${shownAssets(caller)} then a.title end as title,
      ${servedAssets(caller)} and f.renditions ? 'col' as preview_available, k.picked_at, g.id as guest_id, g.name
    from link_picks k join link_guests g on g.id = k.guest_id join assets a on a.id = k.asset_id
      join files f on f.hash = ${renderedHash}
    where k.link_id = ${linkId} and ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.picked_at, id: row.id }));
  const items = cut.rows.map(
    ({ id: _, guest_id, name, ...row }): LinkPick => ({ ...row, guest: { id: guest_id, name } }),
  );
  return { items, next_cursor: cut.next };
}

/** `GET /links/{link}/picks`. */
export const list = handle(listLinkPicks, async ({ db }, { caller, params, query }) => {
  await findManaged(db, caller, params.link);
  return { status: 200, body: await readPage(db, caller, params.link, query) };
});

/** `GET /links/{link}/picks.csv` (GUEST-12). */
export const exportAll = handle(exportLinkPicks, async ({ db, log }, { caller, params, query, http }) => {
  await findManaged(db, caller, params.link);
  const pages = pagesOf((page) => readPage(db, caller, params.link, page));
  return sendCsv(log, http, {
    name: 'picks',
    bom: query.bom === true,
    columns: ['guest', 'asset_id', 'title', 'picked_at'],
    rows: pages((row) => [
      neutralised(row.guest.name),
      row.asset_id,
      neutralised(row.title ?? ''),
      row.picked_at,
    ]),
  });
});
