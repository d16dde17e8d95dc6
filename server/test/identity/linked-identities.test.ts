import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { softwarePasskey } from '../support/authenticator.ts';
import { visit } from '../support/client.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { type Browser, openBrowser } from '../support/openid.ts';
import { bearer, setEmail, totpCode } from '../support/people.ts';
import { openProviders } from './open-providers.ts';

/** Accounts that people who sign in with a provider already have. */

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address, deps } = library;
const root = await library.join('root', 'admin');
const { provider, change, signInAs, accountOf } = await openProviders(library, root, {
  label: 'Studio account',
});

/** The visitor in a browser whose sign-in waits for a password, a code or a passkey. */
const waitingIn = (browser: Browser) =>
  visit(address, { cookie: `sign_in=${browser.cookie(address, 'sign_in')}` });

/** Starts to link an identity at the provider to an account. Returns what follows the provider back in a browser. */
async function startLinking(account: Account): Promise<() => Promise<string>> {
  const browser = openBrowser(library);
  const sent = await account.send('/account/identities', { method: 'POST', body: { provider: 'studio' } });
  const [, secret = ''] = /sign_in=([^;]*)/.exec(sent.headers.get('set-cookie') ?? '') ?? [];
  browser.setCookie(address, 'sign_in', secret);
  return () => browser.follow(JSON.parse(sent.text).url);
}

describe('existing accounts', () => {
  // SSO-15
  test('are linked only with their password, even if name or e-mail are the same in another spelling', async () => {
    const [ada, zoe] = await library.joinAll('Ada', 'Zo\u00eb');
    await setEmail(library, ada, 'ada@studio.example');
    await setEmail(library, zoe, 'zo\u00eb@studio.example');
    for (const claims of [
      { preferred_username: 'aDa' },
      { preferred_username: 'someone', email: 'ADA@studio.example', email_verified: true },
      { preferred_username: 'ZOE\u0308' },
      { preferred_username: 'someone', email: 'ZOE\u0308@studio.example', email_verified: true },
    ]) {
      const { page, token } = await signInAs({ sub: 'id-of-ada', ...claims });
      expect([page, token]).toEqual(['/sign-in?step=link', undefined]);
    }
    const { browser } = await signInAs({ sub: 'id-of-ada', preferred_username: 'ada' }, '?return_to=/tags');
    const [pending, again] = [waitingIn(browser), waitingIn(browser)];
    expect(await pending.refused('continueSignIn', { body: { password: 'wrong' } })).toMatchObject({
      status: 401,
    });
    expect((await pending.ok('continueSignIn', { body: { password } })).ref).toBe(ada.ref);
    expect((await again.refused('continueSignIn', { body: { password } })).status).toBe(401);
    expect((await signInAs({ sub: 'id-of-ada', preferred_username: 'ada' })).page).toBe('/');
    // The role was given by a person.
    expect((await accountOf('Ada'))?.role).toBe('member');
  });

  // SSO-15, SIGNIN-10
  test('lock their name when their password is guessed, and can be linked for ten minutes', async () => {
    const ela = await library.join('ela');
    const pending = async () => {
      const { browser } = await signInAs({ sub: 'id-of-ela', preferred_username: 'ela' });
      return waitingIn(browser);
    };
    const late = await pending();
    await deps.db.updateTable('sign_in_flows').set({ expires_at: '2020-01-01T00:00:00Z' }).execute();
    const right = { body: { password } };
    expect((await late.refused('continueSignIn', right)).status).toBe(401);
    const guessing = await pending();
    const guess = { body: { password: 'a guess' } };
    for (let at = 0; at < 5; at += 1)
      expect((await guessing.refused('continueSignIn', guess)).status).toBe(401);
    expect((await guessing.refused('continueSignIn', right)).status).toBe(401);
    const login = { body: { username: 'ela', password } };
    expect((await library.anonymous().refused('login', login)).status).toBe(401);
    expect((await ela.ok('listIdentities')).items).toEqual([]);
  });

  // SSO-13
  test('keep their e-mail when another person claims it, who keeps their own', async () => {
    const uma = await library.join('uma');
    await setEmail(library, uma, 'uma@studio.example');
    const vic = { sub: 'id-of-vic', preferred_username: 'vic', name: 'Vic' };
    await signInAs({ ...vic, email: 'vic@studio.example', email_verified: true });
    const claimed = { name: 'Victor', email: 'UMA@studio.example', email_verified: true };
    expect((await signInAs({ ...vic, ...claimed })).page).toBe('/');
    expect(await accountOf('vic')).toMatchObject({ fullname: 'Victor', email: 'vic@studio.example' });
    expect((await accountOf('uma'))?.email).toBe('uma@studio.example');
  });

  // SSO-13, SSO-15, REGISTER-3
  test('do not keep the owner of an e-mail out by a registration that nobody has confirmed', async () => {
    const stranger = await library.join('stranger');
    await setEmail(library, stranger, 'wren@studio.example');
    await sql`update users set status = 'pending', registration = 'unverified'
      where ref = ${stranger.ref}`.execute(deps.db);
    const wren = { sub: 'id-of-wren', preferred_username: 'wren', email: 'Wren@studio.example' };
    expect((await signInAs(wren)).page).toBe('/');
    expect(await accountOf('wren')).toMatchObject({ email: 'Wren@studio.example' });
  });

  // SSO-15, SSO-17, PASSKEY-6
  test('are linked with a passkey, which also takes the place of the code', async () => {
    const [kit, lou] = await library.joinAll('kit', 'lou');
    const [passkey, other] = [softwarePasskey(address), softwarePasskey(address)];
    for (const [account, one] of [
      [kit, passkey],
      [lou, other],
    ] as const)
      await account.ok('addPasskey', { body: { credential: one.attest(await account.ok('startPasskey')) } });
    const anyone = library.anonymous();
    const signed = async (one: typeof passkey) => ({
      passkey: one.assert(await anyone.ok('startPasskeySignIn')),
    });
    const person = { sub: 'id-of-kit', preferred_username: 'kit' };
    const pending = async () => {
      const { browser } = await signInAs(person);
      return waitingIn(browser);
    };
    const linking = await pending();
    expect((await linking.refused('continueSignIn', { body: await signed(other) })).status).toBe(401);
    expect((await linking.ok('continueSignIn', { body: await signed(passkey) })).ref).toBe(kit.ref);
    const { secret_base32: secret } = await kit.ok('enrollTwoFactor');
    await kit.ok('confirmTwoFactor', { body: { code: totpCode(secret) } });
    const waiting = await pending();
    expect(await waiting.refused('continueSignIn', { body: await signed(other) })).toEqual({
      status: 401,
      error: 'invalid_2fa_code',
    });
    expect((await waiting.ok('continueSignIn', { body: await signed(passkey) })).ref).toBe(kit.ref);
  });

  // SSO-18, PASSKEY-8
  test('may unlink the last identity if they have a passkey', async () => {
    const { visitor } = await signInAs({ sub: 'id-of-mia', preferred_username: 'mia' });
    const credential = softwarePasskey(address).attest(await visitor.ok('startPasskey'));
    const { id } = await visitor.ok('addPasskey', { body: { credential } });
    const [identity] = (await visitor.ok('listIdentities')).items;
    // A provider that is not enabled is no way to sign in.
    await change({ enabled: false });
    expect((await visitor.refused('deletePasskey', { params: { id } })).status).toBe(409);
    await change({ enabled: true });
    await visitor.ok('unlinkIdentity', { params: { id: identity?.id ?? '' } });
    expect((await visitor.refused('deletePasskey', { params: { id } })).status).toBe(409);
  });

  // SSO-16, SSO-18
  test('link and unlink identities themselves, but not the last way to sign in', async () => {
    const bea = await library.join('bea');
    const goOn = await startLinking(bea);
    provider.person = { sub: 'id-of-bea', preferred_username: 'beatrix', email: 'b@studio.example' };
    expect(await goOn()).toBe('/settings/security?linked=studio');
    expect((await signInAs(provider.person)).page).toBe('/');
    const { items } = await bea.ok('listIdentities');
    expect(items).toMatchObject([{ provider: 'studio', label: 'Studio account', username: 'beatrix' }]);
    const params = { id: items[0]?.id ?? '' };
    const token = await bearer(library, bea, ['admin']);
    expect((await token.refused('unlinkIdentity', { params })).status).toBe(403);
    expect((await root.refused('unlinkIdentity', { params })).status).toBe(404);
    await bea.ok('unlinkIdentity', { params });
    // The e-mail that followed the provider is still that of the account.
    expect((await signInAs(provider.person)).page).toBe('/sign-in?step=link');
    const stranger = (await signInAs({ sub: 'id-of-last', preferred_username: 'last' })).visitor;
    const [only] = (await stranger.ok('listIdentities')).items;
    expect(await stranger.refused('unlinkIdentity', { params: { id: only?.id ?? '' } })).toEqual({
      status: 409,
      error: 'this is the last way to sign in to the account',
    });
  });

  // SSO-16
  test('are not linked after the session that asked has ended', async () => {
    const [lea, leo] = await library.joinAll('lea', 'leo');
    provider.person = { sub: 'id-of-lea', preferred_username: 'lea' };
    const goOn = await startLinking(lea);
    await lea.ok('logout');
    expect(await goOn()).toBe('/sign-in?error=expired');
    const goOnToo = await startLinking(leo);
    const sessions = deps.db.updateTable('sessions').where('user_ref', '=', leo.ref);
    await sessions.set({ expires_at: '2020-01-01T00:00:00Z' }).execute();
    expect(await goOnToo()).toBe('/settings/security?error=expired');
    const linked = deps.db.selectFrom('user_identities').select('id');
    expect(await linked.where('user_ref', 'in', [lea.ref, leo.ref]).execute()).toEqual([]);
  });

  // SSO-17
  test('with a second factor need a code, unless the provider is trusted', async () => {
    const person = { sub: 'id-of-finn', preferred_username: 'finn' };
    const { visitor } = await signInAs(person);
    const { secret_base32: secret } = await visitor.ok('enrollTwoFactor');
    await visitor.ok('confirmTwoFactor', { body: { code: totpCode(secret) } });
    const { page, browser, token } = await signInAs(person);
    expect([page, token]).toEqual(['/sign-in?step=second_factor', undefined]);
    const pending = waitingIn(browser);
    const codes = [{}, { totp_code: '000000' }];
    for (const body of codes) expect((await pending.refused('continueSignIn', { body })).status).toBe(401);
    const body = { totp_code: totpCode(secret, Date.now() + 30_000) };
    expect((await pending.ok('continueSignIn', { body })).username).toBe('finn');
    await change({ trust_second_factor: true });
    expect((await signInAs(person)).page).toBe('/');
    await change({ trust_second_factor: false });
  });
});
