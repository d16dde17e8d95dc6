import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { openMailbox } from '../mail/mailbox.ts';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { anotherSession, grant, setStatus, signIn } from '../support/people.ts';

const mailbox = await openMailbox();
const baseUrl = 'https://media.example';
const mailing = { VITRINE_SMTP_URL: mailbox.url, VITRINE_BASE_URL: baseUrl };
const [library, silent] = [await openLibrary(mailing), await openLibrary()];
const { db } = library.deps;
const root = await library.join('root', 'admin');
const nobody = library.anonymous();
const fresh = 'a new and better one';
const gone = { status: 404, error: 'not found' };

/** Gives an account an e-mail; confirmed unless stated otherwise. */
async function setEmail({ ref }: Pick<Account, 'ref'>, email: string, confirmed = true) {
  await sql`update users set email = ${email}, email_key = ${email.toLowerCase()} where ref = ${ref}`.execute(
    db,
  );
  if (confirmed) await sql`update users set email_confirmed_at = now() where ref = ${ref}`.execute(db);
}

async function joinWithEmail(username: string, confirmed = true): Promise<Account> {
  const account = await library.join(username);
  await setEmail(account, `${username}@studio.example`, confirmed);
  return account;
}

/** Returns the tokens in the mails to an address, the oldest first. */
const tokensTo = (email: string) =>
  mailbox.to(email).map(({ text = '' }) => /\/(?:reset|verify)\/([A-Za-z0-9]{32})\b/.exec(text)?.[1] ?? '');

async function ask(login: string): Promise<void> {
  expect(await nobody.ok('requestPasswordReset', { body: { login } })).toEqual({});
  await library.runJobs();
}

const reset = (token: string) =>
  library.anonymous().ok('completePasswordReset', { params: { token }, body: { password: fresh } });
const resetRefused = (token: string) =>
  library.anonymous().refused('completePasswordReset', { params: { token }, body: { password: fresh } });
const signsIn = async (username: string, given: string) => (await signIn(library, username, given)).status;

beforeEach(() => mailbox.empty());

describe('a forgotten password', () => {
  // RESET-3, RESET-5, EMAIL-3
  test('is replaced once with the link of a mail, which ends all sessions and lifts the lock', async () => {
    const mara = await joinWithEmail('mara', false);
    const other = await anotherSession(library, mara);
    for (let attempt = 0; attempt < 5; attempt += 1) await signIn(library, 'mara', 'wrong');
    expect(await signsIn('mara', password)).toBe(401);
    await ask('MARA');
    const [token = ''] = tokensTo('mara@studio.example');
    expect(mailbox.mails[0]?.text).toContain(`${baseUrl}/reset/${token}`);
    const { rows } = await sql<{
      text: string;
    }>`select (select string_agg(row_to_json(l)::text, '') from account_links l)
      || (select string_agg(e.metadata::text, '') from audit_events e) as text`.execute(db);
    expect(rows[0]?.text).not.toContain(token);
    expect(rows[0]?.text).toContain(createHash('sha256').update(token).digest('hex'));
    const attempts = [token, token].map((one) =>
      library.anonymous().status('POST', `/auth/password-reset/${one}`, { password: fresh }),
    );
    expect((await Promise.all(attempts)).sort()).toEqual([204, 404]);
    for (const session of [mara, other]) expect((await session.refused('getMe')).status).toBe(401);
    expect([await signsIn('mara', password), await signsIn('mara', fresh)]).toEqual([401, 200]);
    expect(await resetRefused(token)).toEqual(gone);
    expect(await auditEvents(library, { event: 'auth.password.reset' })).toMatchObject([
      { actor_user_ref: mara.ref, subject_user_ref: mara.ref },
    ]);
  });

  // RESET-1, RESET-2
  test('is answered alike for every name; only accounts with a password and an address get a mail', async () => {
    const mute = await library.join('mute');
    const [off, directory, provided] = [
      await joinWithEmail('off'),
      await joinWithEmail('directory'),
      await joinWithEmail('provided'),
    ];
    await joinWithEmail('unsure', false);
    await setStatus(library, off, 'disabled');
    await sql`update users set provider = 'ldap', provider_subject = 'x' where ref = ${directory.ref}`.execute(
      db,
    );
    await sql`update users set provider = 'studio', provider_subject = 'y', password_hash = null
      where ref = ${provided.ref}`.execute(db);
    const logins = ['off', 'directory', 'provided', 'mute', 'unsure@studio.example', 'nobody', ' '];
    for (const login of logins) await ask(login);
    expect([mailbox.mails, mute.ref > 0]).toEqual([[], true]);
    const twins = [await library.join('twin-a'), await library.join('twin-b')];
    for (const twin of twins) await setEmail(twin, 'Twins@studio.example');
    await ask('twins@STUDIO.example');
    expect(tokensTo('Twins@studio.example').length).toBe(2);
  });

  // RESET-3
  test('has a link that another one, another e-mail, an hour or a status ends', async () => {
    const ines = await joinWithEmail('ines');
    await ask('ines');
    await ask('ines');
    const [first = '', second = ''] = tokensTo('ines@studio.example');
    expect(await resetRefused(first)).toEqual(gone);
    await sql`update account_links set expires_at = now() where user_ref = ${ines.ref}`.execute(db);
    expect(await resetRefused(second)).toEqual(gone);
    await ask('ines');
    const [, , third = ''] = tokensTo('ines@studio.example');
    await setStatus(library, ines, 'disabled');
    expect(await resetRefused(third)).toEqual(gone);
    await setStatus(library, ines, 'active');
    await setEmail(ines, 'other@studio.example');
    expect(await resetRefused(third)).toEqual(gone);
    await setEmail(ines, 'ines@studio.example');
    await reset(third);
  });

  // RESET-3
  test('has a link that ends when the account gets another password', async () => {
    const [greta, hugo] = [await joinWithEmail('greta'), await joinWithEmail('hugo')];
    for (const { username } of [greta, hugo]) await ask(username);
    const body = { current_password: password, new_password: 'chosen in the settings' };
    await greta.ok('changePassword', { body });
    await root.ok('resetPassword', { params: { ref: hugo.ref } });
    for (const { username } of [greta, hugo])
      expect(await resetRefused(tokensTo(`${username}@studio.example`)[0] ?? '')).toEqual(gone);
    expect(await signsIn('greta', body.new_password)).toBe(200);
  });

  // RESET-4
  test('causes at most three mails an hour for an account', async () => {
    const { ref } = await joinWithEmail('olga');
    for (let mails = 0; mails < 5; mails += 1) await ask('olga');
    expect(mailbox.mails.length).toBe(3);
    await sql`update mail_counts set since = since - interval '1 hour' where key = ${`password_reset:${ref}`}`.execute(
      db,
    );
    await ask('olga@studio.example');
    expect(mailbox.mails.length).toBe(4);
  });

  // RESET-1, EMAIL-3
  test('is answered the same without a mail server, and never with the host of the request', async () => {
    const account = await silent.join('lena');
    await sql`update users set email = 'lena@studio.example' where ref = ${account.ref}`.execute(
      silent.deps.db,
    );
    expect(await silent.anonymous().ok('requestPasswordReset', { body: { login: 'lena' } })).toEqual({});
    await joinWithEmail('host');
    const headers = { 'x-forwarded-host': 'evil.example' };
    await nobody.send('/auth/password-reset', { method: 'POST', body: { login: 'host' }, headers });
    await library.runJobs();
    expect(mailbox.mails[0]?.text).toContain(`${baseUrl}/reset/`);
    expect(mailbox.raw.join()).not.toContain('evil');
  });
});

describe('an e-mail', () => {
  const profileOf = (account: Account) => account.ok('getAccountProfile');
  const change = (account: Account, email: string) =>
    account.ok('updateUser', { params: { ref: account.ref }, body: { email } });
  const importEmail = (username: string, email: string) => {
    const body = new FormData();
    body.append('file', new Blob([`username,email\n${username},${email}\n`]), 'people.csv');
    return root.send('/admin/users/import.csv', { method: 'POST', body });
  };
  const confirm = (token: string) => library.anonymous().ok('verifyEmail', { body: { token } });
  const confirmRefused = (token: string) => library.anonymous().refused('verifyEmail', { body: { token } });

  // EMAIL-1, EMAIL-2, EMAIL-4
  test('of one’s own changes once it is confirmed, and the present address is told', async () => {
    const rita = await joinWithEmail('rita');
    await change(rita, 'rita@home.example');
    await library.runJobs();
    expect(await profileOf(rita)).toMatchObject({
      email: 'rita@studio.example',
      pending_email: 'rita@home.example',
    });
    expect(mailbox.to('rita@studio.example')[0]?.subject).toContain('about to change');
    expect(tokensTo('rita@studio.example')).toEqual(['']);
    const [token = ''] = tokensTo('rita@home.example');
    await change(rita, 'rita@away.example');
    await library.runJobs();
    expect(await confirmRefused(token)).toEqual(gone);
    const [next = ''] = tokensTo('rita@away.example');
    await confirm(next);
    expect(await confirmRefused(next)).toEqual(gone);
    expect(await profileOf(rita)).toMatchObject({ email: 'rita@away.example', pending_email: null });
    await ask('rita@away.example');
    expect(tokensTo('rita@away.example').length).toBe(2);
  });

  // EMAIL-1
  test('changes at once by an administrator and without a mail server, and is unconfirmed', async () => {
    const otto = await joinWithEmail('otto');
    await change(otto, 'otto@home.example');
    await root.ok('updateUser', { params: { ref: otto.ref }, body: { email: 'otto@given.example' } });
    expect(await profileOf(otto)).toMatchObject({ email: 'otto@given.example', pending_email: null });
    await library.runJobs();
    expect(tokensTo('otto@home.example')).toEqual([]);
    await ask('otto@given.example');
    expect(tokensTo('otto@given.example')).toEqual([]);
    const lone = await silent.join('lone');
    await change(lone, 'lone@home.example');
    expect(await profileOf(lone)).toMatchObject({ email: 'lone@home.example', pending_email: null });
  });

  // EMAIL-1
  test('that an administrator or a file of accounts sets ends a pending one', async () => {
    const ways: [string, (account: Account, email: string) => Promise<unknown>][] = [
      [
        'by an administrator',
        ({ ref }, email) => root.ok('updateAdminUser', { params: { ref }, body: { email } }),
      ],
      ['from a file', ({ username }, email) => importEmail(username, email)],
    ];
    for (const [at, [way, set]] of ways.entries()) {
      const sven = await joinWithEmail(`sven-${at}`);
      await change(sven, `sven-${at}@home.example`);
      await library.runJobs();
      const [token = ''] = tokensTo(`sven-${at}@home.example`);
      const email = `sven-${at}@given.example`;
      await set(sven, email);
      expect([way, await confirmRefused(token)]).toEqual([way, gone]);
      expect(await profileOf(sven)).toMatchObject({ email, pending_email: null });
    }
  });

  // EMAIL-4
  test('can be changed ten times an hour', async () => {
    const vera = await joinWithEmail('vera');
    const path = `/users/${vera.ref}`;
    const statuses: number[] = [];
    for (let at = 0; at < 11; at += 1)
      statuses.push(await vera.status('PATCH', path, { email: `vera${at}@home.example` }));
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  });

  // EMAIL-5
  test('that is unconfirmed gets another mail for every name that is asked for, three an hour', async () => {
    await joinWithEmail('unconfirmed', false);
    await joinWithEmail('confirmed');
    for (const login of ['confirmed', 'nobody', 'unconfirmed', 'unconfirmed', 'unconfirmed', 'unconfirmed']) {
      expect(await nobody.ok('resendVerification', { body: { login } })).toEqual({});
      await library.runJobs();
    }
    const tokens = tokensTo('unconfirmed@studio.example');
    expect([tokens.length, tokensTo('confirmed@studio.example').length]).toEqual([3, 0]);
    await confirm(tokens[2] ?? '');
    await ask('unconfirmed@studio.example');
    expect(tokensTo('unconfirmed@studio.example').length).toBe(4);
  });
});

describe('registration', () => {
  const person = (username: string, email = `${username}@studio.example`) => ({ username, password, email });
  const statusOf = async (username: string) =>
    (await db.selectFrom('users').select('status').where('username', '=', username).executeTakeFirst())
      ?.status;
  const allow = (body: { registration?: 'off' | 'approval' | 'open'; allowed_domains?: string[] }) =>
    root.ok('updateAccountSettings', { body });
  const registerRefused = (body: ReturnType<typeof person>) => nobody.refused('register', { body });

  async function register(body: ReturnType<typeof person>) {
    expect(await nobody.ok('register', { body })).toEqual({});
    await library.runJobs();
    return tokensTo(body.email).at(-1) ?? '';
  }

  // REGISTER-1, REGISTER-6
  test('is off until an administrator allows it, which needs a mail server and a role that they may give', async () => {
    expect(await root.ok('getAccountSettings')).toEqual({
      registration: 'off',
      allowed_domains: [],
      registration_role: 'member',
      second_factor: 'optional',
      session_days: 30,
    });
    const closed = { status: 403, error: 'registration is closed' };
    expect(await registerRefused(person('early'))).toEqual(closed);
    const chief = await silent.join('chief', 'admin');
    const body = { registration: 'open' } as const;
    expect((await chief.refused('updateAccountSettings', { body })).status).toBe(409);
    const operator = await library.join('operator');
    await grant(library, operator, 'system.config.write');
    const asAdmins = { body: { registration_role: 'admin' } };
    expect((await operator.refused('updateAccountSettings', asAdmins)).status).toBe(403);
    expect((await root.refused('updateAccountSettings', { body: { registration_role: 'x' } })).status).toBe(
      404,
    );
    expect((await nobody.ok('getSetupStatus')).registration).toBeUndefined();
    await allow(body);
    expect((await nobody.ok('getSetupStatus')).registration).toBe(true);
  });

  // REGISTER-1, REGISTER-4
  test('makes an account that is active once its e-mail is confirmed', async () => {
    await allow({ registration: 'open' });
    const token = await register(person('nina'));
    expect([await statusOf('nina'), await signsIn('nina', password)]).toEqual(['pending', 401]);
    await nobody.ok('verifyEmail', { body: { token } });
    expect([await statusOf('nina'), await signsIn('nina', password)]).toEqual(['active', 200]);
  });

  // REGISTER-4
  test('with approval waits for an administrator after that', async () => {
    await allow({ registration: 'approval' });
    const token = await register(person('ole'));
    await nobody.ok('verifyEmail', { body: { token } });
    expect([await statusOf('ole'), await signsIn('ole', password)]).toEqual(['pending', 401]);
    const { items } = await root.ok('listUsers', { query: { q: 'ole', status: 'pending' } });
    await root.ok('setUserStatus', { params: { ref: items[0]?.ref ?? 0 }, body: { status: 'active' } });
    expect(await signsIn('ole', password)).toBe(200);
  });

  // REGISTER-2
  test('is refused for e-mails of other domains', async () => {
    await allow({ registration: 'open', allowed_domains: ['Studio.example'] });
    const other = { status: 403, error: 'e-mails of this domain may not register' };
    for (const email of ['x@studio.example.org', 'x@sub.studio.example', 'studio.example@evil.example'])
      expect(await registerRefused(person('x', email))).toEqual(other);
    await register(person('xaver', 'xaver@STUDIO.example'));
    await allow({ allowed_domains: [] });
  });

  // REGISTER-3
  test('tells nothing about known e-mails, also when the name is tried again', async () => {
    await allow({ registration: 'open' });
    await joinWithEmail('known');
    await register(person('stranger', 'Known@studio.example'));
    expect(mailbox.to('known@studio.example')[0]?.subject).toContain('already have an account');
    expect(tokensTo('Known@studio.example').concat(tokensTo('known@studio.example'))).toEqual(['']);
    const taken = { status: 409, error: 'that username is taken' };
    expect(await registerRefused(person('stranger', 'other@studio.example'))).toEqual(taken);
    await nobody.ok('resendVerification', { body: { login: 'stranger' } });
    await library.runJobs();
    expect(mailbox.mails.length).toBe(1);
  });

  // REGISTER-3
  test('mails an address three times an hour at most', async () => {
    await allow({ registration: 'open' });
    for (let at = 0; at < 5; at += 1) await register(person(`flood-${at}`, 'victim@studio.example'));
    expect(mailbox.to('victim@studio.example').length).toBe(3);
  });

  // REGISTER-5
  test('is forgotten after three days without a confirmation', async () => {
    await allow({ registration: 'open' });
    await register(person('slow'));
    await register(person('quick')).then((token) => nobody.ok('verifyEmail', { body: { token } }));
    await sql`update users set created_at = now() - interval '4 days' where username in ('slow', 'quick')`.execute(
      db,
    );
    await expire(db);
    expect([await statusOf('slow'), await statusOf('quick')]).toEqual([undefined, 'active']);
  });
});
