import type { Gate } from '@vitrine/contract/limits';
import { type RawBuilder, sql } from 'kysely';
import { holds, type SignedIn } from './caller.ts';
import { activeAccount } from './live.ts';
import { openReview, reopensOnChange } from './reviews.ts';
import { decidingMember } from './teams.ts';

/**
 * Which acts need approvals, and which approvals count (APPROVAL-1, APPROVAL-2). Every way to an act uses these
 * expressions. They refer to `posts p`.
 */
type Predicate = RawBuilder<boolean>;

/** A property of a gate in the settings; null unless it is configured. */
function configured(gate: Gate, property: 'required' | 'team_id'): RawBuilder<string | null> {
  return sql`(select s.value -> ${sql.lit(gate)} ->> ${sql.lit(property)} from settings s where s.key = 'approvals')`;
}

/** How many approvals the act needs. */
export function requiredApprovals(gate: Gate): RawBuilder<number> {
  return sql`coalesce(${configured(gate, 'required')}::integer, 0)`;
}

/** Whether decisions of the account `userRef` count for the gate: it is active, not the author, and of the team. */
function countsFor(gate: Gate, userRef: RawBuilder<unknown>): Predicate {
  return sql`(${userRef} <> p.author_user_ref
    and exists (select from users u where u.ref = ${userRef} and ${activeAccount('u')})
    and (${configured(gate, 'team_id')} is null or exists (select from team_members tm
      where tm.team_id = ${configured(gate, 'team_id')}::uuid and tm.user_ref = ${userRef}
        and ${decidingMember})))`;
}

/** The latest decision of each account about a post, in any of its reviews. */
const latestDecisions = sql`(
  select distinct on (rr.user_ref) rr.user_ref, rr.decision, rr.version
  from review_reviewers rr join reviews r on r.id = rr.review_id
  where r.post_id = p.id and rr.decision is not null
  order by rr.user_ref, rr.decided_at desc) d`;

/**
 * Whether a decision `d` is about the present content. Compares the content itself, so that a change that nothing has
 * counted as a version ends decisions, too.
 */
const isCurrent = sql`(not ${reopensOnChange} or exists (select from reviewed_posts rp
  where rp.post_id = p.id and rp.version = d.version and rp.content = content_of_post(p.id)))`;

const approves = sql`(d.decision = 'approved' and ${isCurrent})`;

/** How many approvals of the post count for the act. */
export function countedApprovals(gate: Gate): RawBuilder<number> {
  return sql`(select count(*) from ${latestDecisions} where ${approves} and ${countsFor(gate, sql`d.user_ref`)})`;
}

/** Whether the post has the approvals that the act needs. */
export function hasApprovals(gate: Gate): Predicate {
  return sql`(${requiredApprovals(gate)} = 0 or ${countedApprovals(gate)} >= ${requiredApprovals(gate)})`;
}

/** The usernames of those who are asked in open reviews, and whose approval would count, in order. */
export function missingApprovers(gate: Gate): RawBuilder<string[]> {
  return sql`array(select distinct mu.username from review_reviewers rr join reviews r on r.id = rr.review_id
      join users mu on mu.ref = rr.user_ref
    where r.post_id = p.id and ${openReview} and ${countsFor(gate, sql`rr.user_ref`)}
      and not exists (select from ${latestDecisions} where d.user_ref = rr.user_ref and ${approves})
    order by mu.username)`;
}

/** APPROVAL-5: whether the caller may act without the approvals, if they give a reason. */
export function mayOverride(caller: SignedIn): boolean {
  return holds(caller, 'posts.approve.override');
}
