import { getPublicMode, setPublicMode } from '@vitrine/contract/system';
import { handle } from '../../core/handle.ts';
import { readSwitches, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';

export const showPublicMode = handle(getPublicMode, async ({ db }) => {
  return { status: 200, body: { enabled: (await readSwitches(db)).publicMode } };
});

export const changePublicMode = handle(setPublicMode, async ({ db }, { caller, body }) => {
  await db.transaction().execute(async (tx) => {
    await writeSetting(tx, 'public_mode', body.enabled);
    await recordEvent(tx, caller, {
      event: 'system.public_mode.changed',
      metadata: { enabled: body.enabled },
    });
  });
  return { status: 200, body: { enabled: body.enabled } };
});
