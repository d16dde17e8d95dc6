import type { Gate } from '@vitrine/contract/limits';
import { sql } from 'kysely';
import { hasApprovals, mayOverride } from '../../../access/approvals.ts';
import { checkMayPublish } from '../../../access/posts.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { approvalRequired, gatesOfPublishing } from '../../approvals/gates.ts';
import { movePost, publishing, withdrawing } from '../../posts/workflow.ts';
import { checkRule, readStateRule, type StateRule } from '../../workflow/moves.ts';
import { changeRows, type ReadRow } from '../rows.ts';
import {
  type Action,
  changedSince,
  type Outcome,
  refusedBy,
  type Step,
  type StepResult,
  type UndoRecord,
  unchanged,
} from '../step.ts';
import { announceEach } from './announce-each.ts';

type Code = 'wip' | 'published';

interface StateRow extends ReadRow {
  code: Code;
  visibility: string;
  /** Whether it has the approvals for being published, and for a public audience. */
  publish: boolean;
  public_audience: boolean;
}

const passes = (row: StateRow, gate: Gate) => gate === 'links' || row[gate];

/** Why the post may not move to the state; null if it may (WORKFLOW-2, APPROVAL-1). */
function whyNot(
  { caller }: Step,
  row: StateRow,
  rule: StateRule,
  overrideReason: string | null,
): Outcome | null {
  try {
    checkRule(caller, row.code, rule);
    if (rule.code !== 'published') return null;
    checkMayPublish(caller);
    const isApproved = gatesOfPublishing(row.visibility).every((gate) => passes(row, gate));
    if (!isApproved && (overrideReason === null || !mayOverride(caller))) throw approvalRequired(0, 0, []);
    return null;
  } catch (error) {
    return refusedBy(error);
  }
}

type Decide = (row: StateRow, record: UndoRecord | null) => { to: Code } | Outcome;

/** Moves each post to the state that `decide` returns, if it may. */
async function stateAction(step: Step, overrideReason: string | null, decide: Decide): Promise<StepResult> {
  const rules = {
    wip: await readStateRule(step.tx, 'post', 'wip'),
    published: await readStateRule(step.tx, 'post', 'published'),
  };
  return changeRows<StateRow>(step, {
    subject: 'post',
    columns: sql`(select s.code from workflow_states s where s.id = p.state_id) as code, p.visibility,
      ${hasApprovals('publish')} as publish, ${hasApprovals('public_audience')} as public_audience`,
    judge(row, record) {
      const decided = decide(row, record);
      if ('outcome' in decided) return decided;
      const rule = rules[decided.to];
      if (rule === null) throw refuse('state-not-found');
      const refusal = whyNot(step, row, rule, overrideReason);
      return refusal ?? { outcome: 'changed', record: { before: row.code, after: decided.to } };
    },
    async write(changed) {
      for (const { row, record } of changed) {
        const move = record.after === 'published' ? publishing : withdrawing;
        await movePost(step.tx, step.caller, row.id, move, overrideReason);
      }
      const published = changed.filter(({ record }) => record.after === 'published');
      await announceEach(
        step.tx,
        step.caller,
        published.map(({ row }) => row.id),
      );
    },
    edited: null,
    notifies: false,
  });
}

/** Publishes posts or withdraws them to drafts (POST-11). */
export function setPostState(stateId: string, overrideReason: string | null): Action {
  return async (step) => {
    const state = await step.tx
      .selectFrom('workflow_states')
      .select(['domain', 'code'])
      .where('id', '=', stateId)
      .executeTakeFirst();
    if (state === undefined) throw refuse('state-not-found');
    if (state.domain !== 'post') throw refuse('state-of-other-domain', { domain: state.domain });
    const to: Code = state.code === 'published' ? 'published' : 'wip';
    if (to === 'published') checkMayPublish(step.caller);
    return stateAction(step, overrideReason, ({ code }) => (code === to ? unchanged : { to }));
  };
}

export const undoPostState: Action = (step) =>
  stateAction(step, null, ({ code }, record) => {
    if (code !== record?.after) return changedSince;
    return { to: record.before === 'published' ? 'published' : 'wip' };
  });
