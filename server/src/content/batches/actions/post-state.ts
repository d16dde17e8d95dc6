import { sql } from 'kysely';
import { checkMayPublish } from '../../../access/posts.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { movePost, publishing, withdrawing } from '../../posts/workflow.ts';
import { changeRows, type ReadRow } from '../rows.ts';
import { type Action, changedSince, type Step, type StepResult, unchanged } from '../step.ts';
import { announceEach } from './announce-each.ts';

type Code = 'wip' | 'published';

interface StateRow extends ReadRow {
  code: Code;
}

type Judge = Parameters<typeof changeRows<StateRow>>[1]['judge'];

function stateAction(step: Step, judge: Judge): Promise<StepResult> {
  return changeRows<StateRow>(step, {
    subject: 'post',
    columns: sql`(select s.code from workflow_states s where s.id = p.state_id) as code`,
    judge,
    async write(changed) {
      for (const { row, record } of changed)
        await movePost(step.tx, step.caller, row.id, record.after === 'published' ? publishing : withdrawing);
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
export function setPostState(stateId: string): Action {
  return async (step) => {
    const state = await step.tx
      .selectFrom('workflow_states')
      .select(['domain', 'code'])
      .where('id', '=', stateId)
      .executeTakeFirst();
    if (state === undefined) throw refuse('state-not-found');
    if (state.domain !== 'post') throw refuse('state-of-other-domain', { domain: state.domain });
    if (state.code === 'published') checkMayPublish(step.caller);
    return stateAction(step, ({ code: before }) =>
      before === state.code ? unchanged : { outcome: 'changed', record: { before, after: state.code } },
    );
  };
}

export const undoPostState: Action = (step) =>
  stateAction(step, ({ code }, record) => {
    if (code !== record?.after) return changedSince;
    if (record.before === 'published') checkMayPublish(step.caller);
    return { outcome: 'changed', record: { before: record.after, after: record.before } };
  });
