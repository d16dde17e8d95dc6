import {
  confirmTwoFactor,
  disableTwoFactor,
  enrollTwoFactor,
  getTwoFactor,
  removeUserTwoFactor,
  renewRecoveryCodes,
  type TwoFactorState,
} from '@vitrine/contract/two-factor';
import { sql } from 'kysely';
import { checkNotSelf } from '../../access/accounts.ts';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { checkCurrentPassword } from './current-password.ts';
import { removePasskeysOf } from './passkey-list.ts';
import { acceptTotp, newSecret, renewCodes } from './two-factor-code.ts';

const nothing: TwoFactorState = {
  enrolled: false,
  confirmed: false,
  enrolled_at: null,
  confirmed_at: null,
  last_used_at: null,
  recovery_codes_remaining: 0,
};

async function stateOf(db: Database, userRef: number): Promise<TwoFactorState> {
  const { rows } = await sql<TwoFactorState & { enrolled_at: string }>`
    select true as enrolled, confirmed_at is not null as confirmed, enrolled_at, confirmed_at, last_used_at,
      (select count(*) from recovery_codes r where r.user_ref = t.user_ref) as recovery_codes_remaining
    from two_factor t where user_ref = ${userRef}`.execute(db);
  return rows[0] ?? nothing;
}

export const showTwoFactor = handle(getTwoFactor, async ({ db }, { caller }) => ({
  status: 200,
  body: await stateOf(db, caller.ref),
}));

/** Creates a secret that replaces an unconfirmed one; a confirmed one must be disabled first. */
export const enroll = handle(enrollTwoFactor, async ({ db, secretKey }, { caller }) => {
  const { sealed, ...shown } = newSecret(secretKey, caller.username);
  const { rows } = await sql`
    insert into two_factor as t (user_ref, sealed_secret) values (${caller.ref}, ${sealed})
    on conflict (user_ref) do update set sealed_secret = excluded.sealed_secret, enrolled_at = now(), last_step = 0
      where t.confirmed_at is null
    returning user_ref`.execute(db);
  if (rows.length === 0) throw refuse('two-factor-already-on');
  return { status: 200, body: shown };
});

export const confirm = handle(confirmTwoFactor, async (deps, { caller, body }) => {
  const { db } = deps;
  const { enrolled, confirmed } = await stateOf(db, caller.ref);
  if (!enrolled) throw refuse('two-factor-not-enrolled');
  if (confirmed) throw refuse('two-factor-already-on');
  const codes = await db.transaction().execute(async (tx) => {
    if (!(await acceptTotp(tx, deps, caller.ref, body.code, false)))
      throw refuse('two-factor-enrolment-code-invalid');
    await recordEvent(tx, caller, { event: 'auth.2fa.enabled', subjectUserRef: caller.ref });
    return renewCodes(tx, deps, caller.ref);
  });
  return { status: 200, body: { recovery_codes: codes } };
});

/** Removes the second factor; false when there was none. Removing an unconfirmed enrolment records no event. */
async function remove(tx: Tx, actor: SignedIn, userRef: number): Promise<boolean> {
  const removed = await tx
    .deleteFrom('two_factor')
    .where('user_ref', '=', userRef)
    .returning('confirmed_at')
    .executeTakeFirst();
  if (removed === undefined) return false;
  if (removed.confirmed_at !== null) {
    await recordEvent(tx, actor, { event: 'auth.2fa.disabled', subjectUserRef: userRef });
  }
  return true;
}

export const disable = handle(disableTwoFactor, async (deps, { caller, body, http }) => {
  await checkCurrentPassword(deps, caller, body.current_password, http);
  const removed = await deps.db.transaction().execute((tx) => remove(tx, caller, caller.ref));
  if (!removed) throw refuse('two-factor-off');
  return { status: 204 };
});

export const renewRecovery = handle(renewRecoveryCodes, async (deps, { caller, body, http }) => {
  await checkCurrentPassword(deps, caller, body.current_password, http);
  const codes = await deps.db.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('two_factor')
      .where('user_ref', '=', caller.ref)
      .where('confirmed_at', 'is not', null)
      .forUpdate()
      .execute();
    if (rows.length === 0) throw refuse('two-factor-off');
    await recordEvent(tx, caller, { event: 'auth.2fa.recovery_codes.renewed', subjectUserRef: caller.ref });
    return renewCodes(tx, deps, caller.ref);
  });
  return { status: 200, body: { recovery_codes: codes } };
});

/** TWOFACTOR-8: removes codes and passkeys of an account whose owner lost the device. */
export const removeForUser = handle(removeUserTwoFactor, async ({ db }, { caller, params }) => {
  checkNotSelf(caller, params.ref);
  const { ref } = await administered(db, caller, params.ref);
  const hadAny = await db.transaction().execute(async (tx) => {
    const hadCodes = await remove(tx, caller, ref);
    return (await removePasskeysOf(tx, caller, ref)) || hadCodes;
  });
  if (!hadAny) throw notFound();
  return { status: 204 };
});
