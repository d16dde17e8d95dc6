import { completeSetup, getSetupStatus } from '@vitrine/contract/identity';
import { handle } from '../../core/handle.ts';
import { writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { createAccount } from '../../people/identity/accounts.ts';
import { openSession } from '../../people/identity/open-session.ts';
import { sendsLinks } from '../../people/mail/links.ts';
import { readAccountSettings } from '../../people/registration/settings.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { createFirstAdministrator, needsSetup } from './first-administrator.ts';
import { checkSetupCode, checkSetupHost, setupCodeOf } from './first-run.ts';

export const showSetupStatus = handle(getSetupStatus, async (deps, { http }) => {
  // SETUP-5: what the sign-in page offers.
  const hasDirectory = [...deps.providers.values()].some((provider) => provider !== 'not set up');
  const mails = await sendsLinks(deps);
  const registers = mails && (await readAccountSettings(deps)).registration !== 'off';
  const ways = {
    ...(hasDirectory ? { directory_sign_in: true } : {}),
    ...(mails ? { password_reset: true } : {}),
    ...(registers ? { registration: true } : {}),
  };
  if (!(await needsSetup(deps.db))) return { status: 200, body: { needs_setup: false, ...ways } };
  await checkSetupHost(deps, http.header('host'));
  const codeRequired = setupCodeOf(deps) !== null;
  return {
    status: 200,
    body: { needs_setup: true, ...(codeRequired ? { code_required: true } : {}), ...ways },
  };
});

/** Creates the first administrator; 409 when there is one (SETUP-1). */
export const setUp = handle(completeSetup, async (deps, { body, http }) => {
  if (await needsSetup(deps.db)) {
    await checkSetupHost(deps, http.header('host'));
    checkSetupCode(deps, body.code);
  }
  const ref = await createFirstAdministrator(deps.db, async (tx) => {
    const created = await createAccount(tx, deps.passwords, {
      username: body.username,
      password: body.password,
      role: 'admin',
      ...(body.email === undefined ? {} : { email: body.email }),
    });
    if (created === null) throw refuse('username-taken');
    if (body.site_name !== undefined) await writeSetting(tx, 'site_name', body.site_name.trim());
    if (body.default_sensitivity !== undefined) {
      await writeSetting(tx, 'default_sensitivity', body.default_sensitivity);
    }
    await recordEvent(tx, null, { event: 'setup.completed', subjectUserRef: created });
    return created;
  });
  if (ref === null) throw refuse('already-set-up');
  const { body: user, cookie } = await openSession(deps, ref, http);
  return { status: 201, body: user, cookie };
});
