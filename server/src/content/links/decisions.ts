import { decideAsGuest, type GuestDecisions } from '@vitrine/contract/guests';
import { sql } from 'kysely';
import { takesFeedback } from '../../access/guests.ts';
import { type LinkVisitor, linkedAssets } from '../../access/links.ts';
import { handle } from '../../core/handle.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { announceGuests, lockGuest, lockLinked, lockTerms } from './guest-writes.ts';
import { visitLink } from './visit.ts';

/** What guests decide about the target of a link and its files (GUEST-9). */

type DecisionRow = Columns<'link_decisions', 'asset_id' | 'decision' | 'note' | 'decided_at'>;

const shown = ({ decision, note, decided_at }: DecisionRow) => ({
  // Declared by a check constraint of the column.
  decision: decision as 'approved' | 'changes_requested',
  ...(note === '' ? {} : { note }),
  decided_at,
});

/** Returns the decisions of a guest about what the link shows. */
export async function readDecisions(
  db: Database,
  visitor: LinkVisitor,
  guestId: string,
): Promise<GuestDecisions> {
  const { rows } = await sql<DecisionRow>`
    select d.asset_id, d.decision, d.note, d.decided_at
    from link_decisions d left join assets a on a.id = d.asset_id
    where d.guest_id = ${guestId} and (d.asset_id is null or ${linkedAssets(visitor)})
    order by d.decided_at, d.id`.execute(db);
  const whole = rows.find(({ asset_id }) => asset_id === null);
  return {
    ...(whole === undefined ? {} : shown(whole)),
    assets: rows.flatMap((row) => (row.asset_id === null ? [] : { asset_id: row.asset_id, ...shown(row) })),
  };
}

/** `POST /links/{token}/decide`. The latest decision replaces the former one about the same. */
export const decide = handle(decideAsGuest, async (deps, { params, body, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const about = body.assets ?? [];
  const ids = about.map(({ asset_id }) => asset_id);
  if (new Set(ids).size < ids.length) throw refuse('given-twice', { property: 'asset_id' });
  const decisions = [{ asset_id: null, decision: body.decision, note: body.note }, ...about];
  const decided = await deps.db.transaction().execute(async (tx) => {
    await lockLinked(tx, visitor, ids);
    await lockTerms(tx, visitor, takesFeedback, 'link-feedback-not-allowed');
    const guest = await lockGuest(tx, visitor);
    await sql`
      insert into link_decisions (link_id, guest_id, asset_id, decision, note)
      select ${visitor.linkId}::uuid, ${guest.id}::uuid, given.asset_id, given.decision, given.note
      from unnest(${decisions.map(({ asset_id }) => asset_id)}::uuid[],
        ${decisions.map(({ decision }) => decision)}::text[],
        ${decisions.map(({ note }) => note?.trim() ?? '')}::text[]) given (asset_id, decision, note)
      on conflict (guest_id, asset_id) do update
        set decision = excluded.decision, note = excluded.note, decided_at = now()`.execute(tx);
    await announceGuests(tx, visitor);
    return readDecisions(tx, visitor, guest.id);
  });
  return { status: 200, body: decided };
});
