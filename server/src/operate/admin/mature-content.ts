import { getMatureContent, setMatureContent } from '@vitrine/contract/system';
import { handle } from '../../core/handle.ts';
import { readSwitches, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';

export const showMatureContent = handle(getMatureContent, async ({ db }) => ({
  status: 200,
  body: { allowed: (await readSwitches(db)).matureAllowed },
}));

/**
 * When disabled, mature content is served to its owners and administrators only, regardless of preferences (ASSET-6).
 */
export const changeMatureContent = handle(setMatureContent, async ({ db }, { caller, body }) => {
  await db.transaction().execute(async (tx) => {
    await writeSetting(tx, 'mature_allowed', body.allowed);
    await recordEvent(tx, caller, {
      event: 'system.mature_content.changed',
      metadata: { allowed: body.allowed },
    });
  });
  return { status: 200, body };
});
