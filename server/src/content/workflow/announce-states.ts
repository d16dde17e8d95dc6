import { randomUUID } from 'node:crypto';
import type { SignedIn } from '../../access/caller.ts';
import { enqueueAll } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';

/** WORKFLOW-4: notifies the owners of these assets that they are in another state. */
export async function announceStates(
  tx: Tx,
  actor: SignedIn,
  stateId: string,
  assetIds: readonly string[],
): Promise<void> {
  const jobs = assetIds.map((asset) => {
    const act = randomUUID();
    const payload = { what: 'state' as const, asset, state: stateId, actor: actor.ref, act };
    return { payload, key: `announce:state:${act}` };
  });
  await enqueueAll(tx, 'announce', jobs);
}
