import { type ActivityPub, getActivityPub, updateActivityPub } from '@vitrine/contract/activitypub';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import { writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { readActivityPub } from './site.ts';

async function show({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<ActivityPub> {
  const state = await readActivityPub(db, config);
  const { rows } = await sql<{ accounts: number; followers: number; waiting: number }>`
    select (select count(*) from activitypub_actors where withdrawn_at is null)::int as accounts,
      (select count(*) from activitypub_followers)::int as followers,
      (select count(*) from activitypub_deliveries)::int as waiting`.execute(db);
  return {
    enabled: state.enabled,
    serving: state.site !== null,
    public_mode: state.publicMode,
    address: state.address,
    accounts_count: rows[0]?.accounts ?? 0,
    followers_count: rows[0]?.followers ?? 0,
    waiting_count: rows[0]?.waiting ?? 0,
  };
}

export const showSwitch = handle(getActivityPub, async (deps) => ({ status: 200, body: await show(deps) }));

export const changeSwitch = handle(updateActivityPub, async (deps, { caller, body }) => {
  await deps.db.transaction().execute(async (tx) => {
    const before = await readActivityPub(tx, deps.config);
    if (before.enabled === body.enabled) return;
    await writeSetting(tx, 'activitypub', body.enabled);
    await recordEvent(tx, caller, {
      event: 'system.activitypub.changed',
      metadata: { enabled: body.enabled },
    });
    // Sends followers the changes that were made while it was disabled.
    if (body.enabled) await enqueue(tx, 'keep-activitypub', {}, { key: 'keep-activitypub:now' });
  });
  return { status: 200, body: await show(deps) };
});
