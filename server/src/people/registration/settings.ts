import { AccountSettings, getAccountSettings, updateAccountSettings } from '@vitrine/contract/registration';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { checkMayGive } from '../../access/accounts.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { patchOf } from '../../platform/http/patch.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { readMail } from '../mail/settings.ts';
import { capabilitiesOfRole, findRole } from '../roles/roles.ts';

const isStored = compileLater(Type.Partial(AccountSettings));

const defaults = {
  registration: 'off',
  allowed_domains: [],
  registration_role: 'member',
  second_factor: 'optional',
} as const;

type Stored = Partial<AccountSettings>;

async function readStored(db: Database): Promise<Stored> {
  const stored = await readSetting(db, 'accounts');
  return isStored().Check(stored) ? stored : {};
}

function complete(config: Deps['config'], stored: Stored): AccountSettings {
  return { ...defaults, allowed_domains: [], session_days: config.sessionDays, ...stored };
}

/**
 * Returns the settings of accounts. Unless they are set, registration is off (REGISTER-1), a second factor is optional,
 * and sessions last as configured (SESSION-18).
 */
export async function readAccountSettings({
  db,
  config,
}: Pick<Deps, 'db' | 'config'>): Promise<AccountSettings> {
  return complete(config, await readStored(db));
}

/** SESSION-18: existing sessions last no longer than new ones. */
async function shortenSessions(tx: Tx, days: number): Promise<void> {
  const end = sql<string>`last_used_at + make_interval(days => ${days})`;
  await tx
    .updateTable('sessions')
    .set({ expires_at: end })
    .where('impersonator_user_ref', 'is', null)
    .where('expires_at', '>', end)
    .execute();
}

export const showAccountSettings = handle(getAccountSettings, async (deps) => ({
  status: 200,
  body: await readAccountSettings(deps),
}));

const properties = [
  'registration',
  'allowed_domains',
  'registration_role',
  'second_factor',
  'session_days',
] as const;

/** REGISTER-6, SESSION-18, SESSION-19. */
export const changeAccountSettings = handle(updateAccountSettings, async (deps, { caller, body }) => {
  const changes = patchOf(body, properties);
  const settings = await deps.db.transaction().execute(async (tx) => {
    await takeLock(tx, 'administrators');
    const stored = await readStored(tx);
    const before = complete(deps.config, stored);
    const after = complete(deps.config, { ...stored, ...changes });
    const role = await findRole(tx, sql`code = ${after.registration_role}`);
    if (role === null) throw refuse('role-not-found');
    checkMayGive(caller, await capabilitiesOfRole(tx, role.id));
    if (after.registration !== 'off') {
      const mail = await readMail({ ...deps, db: tx });
      if (mail === null) throw refuse('mail-server-not-set-up');
      if (mail.baseUrl === null) throw refuse('public-address-missing');
    }
    await writeSetting(tx, 'accounts', { ...stored, ...changes });
    if (after.session_days < before.session_days) await shortenSessions(tx, after.session_days);
    await recordEvent(tx, caller, {
      event: 'system.accounts.changed',
      metadata: { changed: Object.keys(changes).sort(), ...changes },
    });
    return after;
  });
  return { status: 200, body: settings };
});
