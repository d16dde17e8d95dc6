import { getTrashRetention, setTrashRetention } from '@vitrine/contract/trash';
import { handle } from '../../core/handle.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';

const KEEP_WHEN_UNSET_DAYS = 30;

/** Returns for how many days deleted things are kept; null for permanently. The default is 30. */
export async function readTrashRetention(db: Database): Promise<number | null> {
  const value = await readSetting(db, 'trash_retention_days');
  if (typeof value === 'number') return value;
  return value === false ? null : KEEP_WHEN_UNSET_DAYS;
}

export const showTrashRetention = handle(getTrashRetention, async ({ db }) => ({
  status: 200,
  body: { retention_days: await readTrashRetention(db) },
}));

export const changeTrashRetention = handle(setTrashRetention, async ({ db }, { caller, body }) => {
  await db.transaction().execute(async (tx) => {
    // `false` is stored for "permanently", since a missing setting means the default.
    await writeSetting(tx, 'trash_retention_days', body.retention_days ?? false);
    await recordEvent(tx, caller, {
      event: 'trash.retention.changed',
      metadata: { retention_days: body.retention_days },
    });
  });
  return { status: 200, body };
});
