import { sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { recordEvents } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';

/**
 * The live members `a` of the post `p` whose states follow its reviews: those of its author or its team. A member of
 * someone else is not theirs to change (REVIEW-9).
 */
const followingMembers = sql`post_members m join posts p on p.id = m.post_id join assets a on a.id = m.asset_id
  where ${liveAsset} and a.origin_peer_id is null
    and (a.owner_user_ref = p.author_user_ref or a.team_id = p.team_id)`;

/**
 * Locks the members of a post in the order in which everything locks assets. Before `reviewed_posts` is locked: who adds a
 * version holds the asset and then waits for that row.
 */
export async function lockMembers(tx: Tx, postId: string): Promise<void> {
  await sql`select from assets where id in (select asset_id from post_members where post_id = ${postId})
    order by id for no key update`.execute(tx);
}

/**
 * Moves the members of a post to a state, and writes audit events. `from`: only members in this state. Leaves out members
 * that someone else has locked, because waiting for them may end in a deadlock unless `lockMembers` has been called.
 */
export async function moveMembers(
  tx: Tx,
  actor: SignedIn | null,
  postId: string,
  { to, from = null, review }: { to: 'review' | 'approved'; from?: 'approved' | null; review: string },
): Promise<void> {
  const { rows } = await sql<{ id: string; before: string | null }>`
    with moved as materialized (
      select a.id, s.code as before, t.id as after
      from (select a.id, a.state_id from ${followingMembers} and m.post_id = ${postId}
        for no key update of a skip locked) a
        left join workflow_states s on s.id = a.state_id
        join workflow_states t on t.domain = 'asset' and t.code = ${to}
      where a.state_id is distinct from t.id and (${from}::text is null or s.code = ${from})),
    written as (
      update assets x set state_id = moved.after, updated_at = ${nextUpdatedAt} from moved where x.id = moved.id
      returning x.id)
    select moved.id, moved.before from moved join written on written.id = moved.id order by moved.id`.execute(
    tx,
  );
  const events = rows.map(({ id, before }) => ({
    event: 'asset.state.changed',
    target: { kind: 'asset' as const, id },
    metadata: { from: before, to, review },
  }));
  await recordEvents(tx, actor, events);
}
