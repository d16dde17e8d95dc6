import { AccountSettings, getAccountSettings, updateAccountSettings } from '@vitrine/contract/registration';
import { sql } from 'kysely';
import { checkMayGive } from '../../access/accounts.ts';
import { handle } from '../../core/handle.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { readMail } from '../mail/settings.ts';
import { capabilitiesOfRole, findRole } from '../roles/roles.ts';

const isSettings = compileLater(AccountSettings);

const defaults: AccountSettings = { registration: 'off', allowed_domains: [], registration_role: 'member' };

/** Returns how people get accounts by themselves; registration is off unless configured (REGISTER-1). */
export async function readAccountSettings(db: Database): Promise<AccountSettings> {
  const stored = await readSetting(db, 'accounts');
  return isSettings().Check(stored) ? stored : defaults;
}

export const showAccountSettings = handle(getAccountSettings, async ({ db }) => ({
  status: 200,
  body: await readAccountSettings(db),
}));

/** REGISTER-6. */
export const changeAccountSettings = handle(updateAccountSettings, async (deps, { caller, body }) => {
  const changes = patchOf(body, ['registration', 'allowed_domains', 'registration_role']);
  const settings = await deps.db.transaction().execute(async (tx) => {
    await takeLock(tx, 'administrators');
    const before = await readAccountSettings(tx);
    const { registration, allowed_domains, registration_role } = changes;
    const after: AccountSettings = {
      registration: registration ?? before.registration,
      allowed_domains: allowed_domains ?? before.allowed_domains,
      registration_role: registration_role ?? before.registration_role,
    };
    const role = await findRole(tx, sql`code = ${after.registration_role}`);
    if (role === null) throw refuse('role-not-found');
    checkMayGive(caller, await capabilitiesOfRole(tx, role.id));
    if (after.registration !== 'off') {
      const mail = await readMail({ ...deps, db: tx });
      if (mail === null) throw refuse('mail-server-not-set-up');
      if (mail.baseUrl === null) throw refuse('public-address-missing');
    }
    await writeSetting(tx, 'accounts', { ...after });
    await recordEvent(tx, caller, {
      event: 'system.accounts.changed',
      metadata: { changed: Object.keys(changes).sort(), registration: after.registration },
    });
    return after;
  });
  return { status: 200, body: settings };
});
