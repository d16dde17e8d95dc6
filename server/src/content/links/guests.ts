import { type GuestRecord, listLinkGuests, updateLinkGuest } from '@vitrine/contract/guests';
import { type RawBuilder, sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { lockLink } from './edit.ts';
import { findManaged } from './managed.ts';

/** The guests of a link, for the editors of its target. */

type GuestRow = Omit<GuestRecord, 'decision'> & { decision: GuestRecord['decision'] | null };

const columns = sql<GuestRow>`g.id, g.name, g.muted_at is not null as muted,
  (select count(*) from link_picks k where k.guest_id = g.id) as pick_count,
  (select count(*) from guest_comments gc where gc.guest_id = g.id and gc.deleted_at is null) as comment_count,
  (select d.decision from link_decisions d where d.guest_id = g.id and d.asset_id is null) as decision, g.created_at`;

function shownGuest({ decision, ...guest }: GuestRow): GuestRecord {
  return { ...guest, ...(decision == null ? {} : { decision }) };
}

async function readGuests(db: Database, matching: RawBuilder<unknown>): Promise<GuestRow[]> {
  const { rows } = await sql<GuestRow>`select ${columns} from link_guests g where ${matching}`.execute(db);
  return rows;
}

/** `GET /links/{link}/guests`. */
export const list = handle(listLinkGuests, async ({ db }, { caller, params, query }) => {
  await findManaged(db, caller, params.link);
  const page = newestFirst(query, 'g.created_at', 'g.id');
  const rows = await readGuests(db, sql`g.link_id = ${params.link} and ${page.after} ${page.order}`);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return { status: 200, body: { items: cut.rows.map(shownGuest), next_cursor: cut.next } };
});

/** `PATCH /links/{link}/guests/{guest_id}`. A guest of another link is 404. */
export const edit = handle(updateLinkGuest, async ({ db }, { caller, params, body }) => {
  const guest = await db.transaction().execute(async (tx) => {
    const link = await lockLink(tx, caller, params.link);
    const changed =
      body.muted == null
        ? undefined
        : await tx
            .updateTable('link_guests')
            .set({ muted_at: body.muted ? sql`now()` : null })
            .where('id', '=', params.guest_id)
            .where('link_id', '=', link.id)
            .where('muted_at', body.muted ? 'is' : 'is not', null)
            .returning('name')
            .executeTakeFirst();
    if (changed !== undefined)
      await recordEvent(tx, caller, {
        event: body.muted === true ? 'link.guest_muted' : 'link.guest_unmuted',
        target: { kind: 'link', id: link.id },
        metadata: { label: link.label, guest: changed.name },
      });
    const [row] = await readGuests(tx, sql`g.id = ${params.guest_id} and g.link_id = ${link.id}`);
    if (row === undefined) throw notFound();
    return shownGuest(row);
  });
  return { status: 200, body: guest };
});
