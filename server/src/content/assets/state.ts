import { setAssetState } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { announceStates } from '../workflow/announce-states.ts';
import { checkMove } from '../workflow/moves.ts';
import { lockEditable } from './edit.ts';
import { showAsset } from './show.ts';

/**
 * `POST /assets/{id}/state`: a state of the domain `asset` that may follow the current one (WORKFLOW-2). The current state
 * is accepted and changes nothing. The owner is notified of a change by somebody else.
 */
export const setState = handle(setAssetState, async ({ db, ladder }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const { id } = await lockEditable(tx, caller, params.id);
    const { rows } = await sql<{ domain: string; code: string; before: string | null }>`
      select s.domain, s.code, b.code as before from workflow_states s, assets a
        left join workflow_states b on b.id = a.state_id
      where s.id = ${body.state_id} and a.id = ${id}`.execute(tx);
    const state = rows[0];
    if (state === undefined) throw refuse('state-not-found');
    if (state.domain !== 'asset') throw refuse('state-of-other-domain', { domain: state.domain });
    if (state.before === state.code) return;
    await checkMove(tx, caller, 'asset', state.before, state.code);
    await tx
      .updateTable('assets')
      .set({ state_id: body.state_id, updated_at: nextUpdatedAt })
      .where('id', '=', id)
      .execute();
    await recordEvent(tx, caller, {
      event: 'asset.state.changed',
      target: { kind: 'asset', id },
      metadata: { from: state.before, to: state.code },
    });
    await announceStates(tx, caller, body.state_id, [id]);
  });
  const shown = await showAsset(db, caller, ladder, params.id);
  if (shown === null || shown.restricted) throw notFound();
  return { status: 200, body: shown };
});
