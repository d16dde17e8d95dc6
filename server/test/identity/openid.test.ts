import type { ProviderChange } from '@vitrine/contract/providers';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { softwarePasskey } from '../support/authenticator.ts';
import { visit } from '../support/client.ts';
import { openLibrary, password } from '../support/library.ts';
import {
  beginAtForger,
  client,
  openBrowser,
  openForger,
  openProvider,
  type ProvidedPerson,
} from '../support/openid.ts';
import { bearer, grant, setEmail, setRole, setStatus, totpCode } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address, deps } = library;
const root = await library.join('root', 'admin');
const [provider, forger] = [await openProvider(library, 'studio'), await openForger()];
afterAll(async () => {
  await provider.close();
  await forger.close();
});

const team = await addTeam(library, 'editors');
const other = await addTeam(library, 'lookers');
const common = { kind: 'oidc', client_id: client.id, client_secret: client.secret } as const;
await root.ok('createProvider', {
  body: {
    ...common,
    name: 'studio',
    label: 'Studio account',
    issuer: provider.issuer,
    creation: 'first_sign_in',
    scopes: ['openid', 'profile', 'email', 'groups'],
    role_mapping: [
      { group: 'chiefs', role: 'admin' },
      { group: 'guests', role: 'viewer' },
    ],
    team_mapping: [
      { group: 'editors', team_id: team },
      { group: 'lookers', team_id: other },
    ],
  },
});
await root.ok('createProvider', {
  body: { ...common, name: 'forger', label: 'Forger', issuer: forger.issuer, creation: 'first_sign_in' },
});

const change = (body: ProviderChange) => root.ok('updateProvider', { params: { name: 'studio' }, body });
beforeEach(() => {
  forger.instead = null;
  forger.userInfo = null;
  forger.idToken = (usual) => forger.sign(usual);
});

const start = (name: string, query = '') => `${address}/api/v1/auth/oidc/${name}/start${query}`;

/** Signs a person in at the provider in a new browser. Returns where that ends, and the browser. */
async function signInAs(person: ProvidedPerson | null, query = '', browser = openBrowser(library)) {
  provider.person = person;
  const page = await browser.follow(start('studio', query));
  const token = browser.cookie(address, 'user');
  return { page, browser, token, visitor: visit(address, {}, token) };
}

/** Signs in at the forger, whose page does nothing but redirect. */
async function signInAtForger(browser = openBrowser(library)) {
  return { page: await browser.follow(await beginAtForger(library, forger, browser)), browser };
}

const mara = (more: Record<string, unknown> = {}): ProvidedPerson => ({
  sub: 'id-of-mara',
  preferred_username: 'mara',
  name: 'Mara Lind',
  email: 'mara@studio.example',
  email_verified: true,
  groups: ['editors'],
  ...more,
});

async function accountOf(username: string) {
  return deps.db
    .selectFrom('users as u')
    .innerJoin('roles as r', 'r.id', 'u.role_id')
    .select(['u.ref', 'u.fullname', 'u.email', 'r.code as role', 'u.status'])
    .where('u.username', '=', username)
    .executeTakeFirst();
}

async function teamsOf(ref: number | undefined) {
  const rows = await deps.db
    .selectFrom('team_members')
    .select('team_id')
    .where('user_ref', '=', ref ?? 0)
    .execute();
  return rows.map(({ team_id }) => team_id).sort();
}

describe('signing in', () => {
  // SSO-2, SSO-11, SSO-12, SSO-13
  test('creates an account at the first sign-in, and finds it by its permanent id later', async () => {
    expect(await library.anonymous().ok('listSignInProviders')).toContainEqual({
      name: 'studio',
      kind: 'oidc',
      label: 'Studio account',
      start_url: '/api/v1/auth/oidc/studio/start',
    });
    const first = await signInAs(mara(), '?return_to=/search?q=cats');
    expect(first.page).toBe('/search?q=cats');
    const user = await first.visitor.ok('getMe');
    expect(user).toMatchObject({ username: 'mara', fullname: 'Mara Lind', email: 'mara@studio.example' });
    const again = await signInAs(mara({ preferred_username: 'mara-lind', name: 'Mara Lind-Berg' }));
    expect(await again.visitor.ok('getMe')).toMatchObject({
      ref: user.ref,
      username: 'mara',
      fullname: 'Mara Lind-Berg',
    });
    expect(await auditEvents(library, { event: 'auth.signed_in', subject_user_ref: user.ref })).toMatchObject(
      [{ metadata: { provider: 'studio' } }, { metadata: { provider: 'studio' } }],
    );
  });

  // SSO-11
  test('creates one account for concurrent first sign-ins of one person', async () => {
    const twin = { sub: 'id-of-twin', preferred_username: 'twin' };
    const ends = await Promise.all([signInAs(twin), signInAs(twin), signInAs(twin)]);
    const users = await Promise.all(ends.map(({ visitor }) => visitor.ok('getMe')));
    expect(new Set(users.map(({ ref }) => ref)).size).toBe(1);
  });

  // SSO-23
  test('returns only to pages of this library', async () => {
    const paths = ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example', '/a\\b'];
    for (const path of paths)
      expect((await signInAs(mara(), `?return_to=${encodeURIComponent(path)}`)).page, path).toBe('/');
  });

  // SSO-24
  test('says that the person cancelled, and starts no session', async () => {
    const { page, token } = await signInAs(null, '?return_to=/search');
    expect([page, token]).toEqual(['/sign-in?error=cancelled&next=%2Fsearch', undefined]);
  });

  // SSO-11, SSO-14
  test('refuses people without an invitation, of other domains and with disabled accounts', async () => {
    await change({ creation: 'invited' });
    const uninvited = await signInAs({ sub: 'id-of-uri', preferred_username: 'uri' });
    await change({ creation: 'first_sign_in', allowed_domains: ['Studio.Example'] });
    const nina = { sub: 'id-of-nina', preferred_username: 'nina' };
    const other = await signInAs({ ...nina, email: 'nina@studio.example.org', email_verified: true });
    const unverified = await signInAs({ ...nina, email: 'nina@studio.example' });
    const fitting = await signInAs({ ...nina, email: 'nina@STUDIO.example', email_verified: true });
    const moved = await signInAs({ ...nina, email: 'nina@elsewhere.example', email_verified: true });
    await change({ clear_allowed_domains: true });
    const ref = (await accountOf('nina'))?.ref ?? 0;
    await setStatus(library, { ref }, 'disabled');
    const disabled = await signInAs(nina);
    expect([uninvited, other, unverified, fitting, moved, disabled].map(({ page }) => page)).toEqual([
      '/sign-in?error=not_invited',
      '/sign-in?error=domain',
      '/sign-in?error=domain',
      '/',
      '/sign-in?error=domain',
      '/sign-in?error=inactive',
    ]);
    expect(disabled.token).toBeUndefined();
    expect(await accountOf('uri')).toBeUndefined();
  });

  // SSO-11, SSO-30, INVITE-9
  test('makes accounts of invited people, with the role and teams of the invitation', async () => {
    await change({ creation: 'invited' });
    const invite = async (body: { email?: string; role?: string; team_ids?: string[] }) => {
      const made = await root.ok('createInvitation', { body });
      return { id: made.id, token: made.url.split('/').at(-1) ?? '' };
    };
    const byLink = await invite({ role: 'viewer', team_ids: [other] });
    await invite({ email: 'Ivo@Studio.example', role: 'viewer' });
    const ida = { sub: 'id-of-ida', preferred_username: 'ida' };
    const ivo = { sub: 'id-of-ivo', preferred_username: 'ivo', email: 'ivo@studio.example' };
    const revoked = await invite({});
    await root.ok('revokeInvitation', { params: { id: revoked.id } });
    const pages = [
      (await signInAs(ida, `?invitation=${revoked.token}`)).page,
      (await signInAs(ivo)).page,
      (await signInAs({ ...ivo, email_verified: true, groups: ['chiefs', 'editors'] })).page,
      (await signInAs(ida, `?invitation=${byLink.token}&return_to=/search`)).page,
      (await signInAs({ sub: 'id-of-ike', preferred_username: 'ike' }, `?invitation=${byLink.token}`)).page,
    ];
    const refused = '/sign-in?error=not_invited';
    expect(pages).toEqual([refused, refused, '/', '/search', refused]);
    await change({ creation: 'first_sign_in' });
    const [first, second] = [await accountOf('ida'), await accountOf('ivo')];
    expect([first?.role, second?.role]).toEqual(['viewer', 'viewer']);
    expect([await teamsOf(first?.ref), await teamsOf(second?.ref)]).toEqual([[other], [team]]);
    // A person with an account does not use up an invitation.
    const spare = await invite({ role: 'admin' });
    expect((await signInAs(ida, `?invitation=${spare.token}`)).page).toBe('/');
    const state = (await root.ok('listInvitations')).items.find(({ id }) => id === spare.id)?.state;
    expect([state, (await accountOf('ida'))?.role]).toEqual(['open', 'viewer']);
  });

  // SSO-12
  test('uses the local part of the e-mail without a usable name, and claims within claims', async () => {
    await change({ claims: { username: 'nick', fullname: 'more.full', groups: 'groups' } });
    const { visitor } = await signInAs({ sub: 'id-of-ole', nick: 7, email: 'ole@studio.example' });
    await change({ clear_claims: true });
    expect(await visitor.ok('getMe')).toMatchObject({ username: 'ole', email: 'ole@studio.example' });
  });

  // SIGNIN-4, SSO-2
  test('names the address to start at when a password is sent for the provider', async () => {
    const body = { username: 'mara', password, provider: 'studio' };
    expect(await library.anonymous().refused('login', { body })).toEqual({
      status: 501,
      error: 'this provider signs in by redirect; start at /api/v1/auth/oidc/studio/start',
    });
    await change({ enabled: false });
    expect((await library.anonymous().refused('login', { body })).status).toBe(401);
    const listed = await library.anonymous().ok('listSignInProviders');
    expect(listed.map(({ name }) => name)).toEqual(['forger']);
    expect((await library.anonymous().send('/auth/oidc/studio/start')).status).toBe(404);
    await change({ enabled: true });
  });
});

describe('roles and teams', () => {
  // SSO-30, SSO-31
  test('follow the groups at every sign-in, except what a person gave', async () => {
    const person = { sub: 'id-of-rita', preferred_username: 'rita' };
    await signInAs({ ...person, groups: ['editors', 'guests'] });
    const ref = (await accountOf('rita'))?.ref;
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['viewer', [team]]);
    await signInAs({ ...person, groups: ['lookers'] });
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['member', [other]]);
    // From now on, a person is responsible for the membership and the role.
    await root.ok('addTeamMember', { params: { id: other, user_ref: ref ?? 0 } });
    const roles = (await root.ok('listRoles')).items;
    const viewer = roles.find(({ code }) => code === 'viewer')?.id ?? '';
    await root.ok('setUserRole', { params: { ref: ref ?? 0 }, body: { role_id: viewer } });
    await signInAs({ ...person, groups: 'editors' });
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['viewer', [team, other].sort()]);
    await signInAs(person);
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['viewer', [other]]);
  });

  // SSO-32
  test('never take away the last administrator', async () => {
    const person = { sub: 'id-of-chief', preferred_username: 'chief' };
    await signInAs({ ...person, groups: ['chiefs'] });
    await setRole(library, root, 'member');
    const { page } = await signInAs(person);
    await setRole(library, root, 'admin');
    const chief = await accountOf('chief');
    expect([page, chief?.role]).toEqual(['/', 'admin']);
    expect(
      await auditEvents(library, { event: 'provider.last_admin_kept', subject_user_ref: chief?.ref ?? 0 }),
    ).toHaveLength(1);
    await signInAs(person);
    expect((await accountOf('chief'))?.role).toBe('member');
  });
});

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
    const cookie = `sign_in=${browser.cookie(address, 'sign_in')}`;
    const pending = visit(address, { cookie });
    expect(await pending.refused('continueSignIn', { body: { password: 'wrong' } })).toMatchObject({
      status: 401,
    });
    expect((await pending.ok('continueSignIn', { body: { password } })).ref).toBe(ada.ref);
    expect((await visit(address, { cookie }).refused('continueSignIn', { body: { password } })).status).toBe(
      401,
    );
    expect((await signInAs({ sub: 'id-of-ada', preferred_username: 'ada' })).page).toBe('/');
    // The role was given by a person.
    expect((await accountOf('Ada'))?.role).toBe('member');
  });

  // SSO-15, SIGNIN-10
  test('lock their name when their password is guessed, and wait for ten minutes', async () => {
    const ela = await library.join('ela');
    const pending = async () => {
      const { browser } = await signInAs({ sub: 'id-of-ela', preferred_username: 'ela' });
      return visit(address, { cookie: `sign_in=${browser.cookie(address, 'sign_in')}` });
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
      return visit(address, { cookie: `sign_in=${browser.cookie(address, 'sign_in')}` });
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
    const browser = openBrowser(library);
    const sent = await bea.send('/account/identities', { method: 'POST', body: { provider: 'studio' } });
    browser.setCookie(
      address,
      'sign_in',
      /sign_in=([^;]*)/.exec(sent.headers.get('set-cookie') ?? '')?.[1] ?? '',
    );
    provider.person = { sub: 'id-of-bea', preferred_username: 'beatrix', email: 'b@studio.example' };
    expect(await browser.follow(JSON.parse(sent.text).url)).toBe('/settings/security?linked=studio');
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
    const begin = async (account: typeof lea) => {
      const browser = openBrowser(library);
      const begun = { method: 'POST', body: { provider: 'studio' } };
      const sent = await account.send('/account/identities', begun);
      const [, secret = ''] = /sign_in=([^;]*)/.exec(sent.headers.get('set-cookie') ?? '') ?? [];
      browser.setCookie(address, 'sign_in', secret);
      provider.person = { sub: `id-of-${account.username}`, preferred_username: account.username };
      return () => browser.follow(JSON.parse(sent.text).url);
    };
    const goOn = await begin(lea);
    await lea.ok('logout');
    expect(await goOn()).toBe('/sign-in?error=expired');
    const goOnToo = await begin(leo);
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
    const pending = visit(address, { cookie: `sign_in=${browser.cookie(address, 'sign_in')}` });
    const codes = [{}, { totp_code: '000000' }];
    for (const body of codes) expect((await pending.refused('continueSignIn', { body })).status).toBe(401);
    const body = { totp_code: totpCode(secret, Date.now() + 30_000) };
    expect((await pending.ok('continueSignIn', { body })).username).toBe('finn');
    await change({ trust_second_factor: true });
    expect((await signInAs(person)).page).toBe('/');
    await change({ trust_second_factor: false });
  });
});

describe('responses', () => {
  // SSO-20, SSO-21
  test('belong to the browser that asked, and count once', async () => {
    provider.person = mara();
    const [mine, theirs] = [openBrowser(library), openBrowser(library)];
    let at = start('studio');
    while (!at.includes('/callback?')) at = (await mine.open(at)).location ?? '';
    expect(await theirs.follow(at)).toBe('/sign-in?error=invalid');
    expect(await mine.follow(at)).toBe('/');
    expect(await mine.follow(at)).toBe('/sign-in?error=expired');
    expect(await mine.follow(at.replace(/state=[^&]*/, 'state=other'))).toBe('/sign-in?error=invalid');
  });

  // SSO-21
  test('are refused after ten minutes', async () => {
    provider.person = mara();
    const browser = openBrowser(library);
    let at = start('studio');
    while (!at.includes('/callback?')) at = (await browser.open(at)).location ?? '';
    await deps.db.updateTable('sign_in_flows').set({ expires_at: '2020-01-01T00:00:00Z' }).execute();
    expect(await browser.follow(at)).toBe('/sign-in?error=expired');
  });

  // SSO-22
  test('with an ID token that is forged in any way are refused, and write nothing', async () => {
    const foreign = (await generateKeyPair('RS256')).privateKey;
    const now = Math.floor(Date.now() / 1000);
    const forged: Record<string, typeof forger.idToken> = {
      'another key': (usual) => forger.sign(usual, foreign),
      'no signature': async (usual) => new UnsecuredJWT(usual).encode(),
      'the secret of the client as key': (usual) =>
        new SignJWT(usual)
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(new TextEncoder().encode(client.secret)),
      'a key that is not published': (usual) => forger.sign(usual, undefined, 'unknown'),
      'another issuer': (usual) => forger.sign({ ...usual, iss: 'https://other.example' }),
      'another audience': (usual) => forger.sign({ ...usual, aud: 'someone else' }),
      'no audience': ({ aud, ...usual }) => forger.sign(usual),
      'no time': ({ iat, ...usual }) => forger.sign(usual),
      'no nonce': ({ nonce, ...usual }) => forger.sign(usual),
      'another nonce': (usual) => forger.sign({ ...usual, nonce: 'other' }),
      'the past': (usual) => forger.sign({ ...usual, iat: now - 900, exp: now - 600 }),
      'no subject': ({ sub, ...usual }) => forger.sign(usual),
      'changed claims': async (usual) => {
        const [header, , signature] = (await forger.sign(usual)).split('.');
        const claims = Buffer.from(JSON.stringify({ ...usual, sub: 'id-of-mara' })).toString('base64url');
        return [header, claims, signature].join('.');
      },
      'no token': async () => 'nothing',
    };
    for (const [what, idToken] of Object.entries(forged)) {
      forger.idToken = idToken;
      const { page, browser } = await signInAtForger();
      expect([what, page, browser.cookie(address, 'user')]).toEqual([
        what,
        '/sign-in?error=invalid',
        undefined,
      ]);
    }
    expect(await accountOf('forged')).toBeUndefined();
    const failures = await auditEvents(library, { event: 'auth.provider.failed' });
    expect(JSON.stringify(failures)).not.toContain('eyJ');
  });

  // SSO-22
  test('without the name of a key are accepted if one key is published, and refused if several are', async () => {
    forger.idToken = (usual) => forger.sign(usual, undefined, null);
    expect((await signInAtForger()).page).toBe('/');
    await forger.publishAnother();
    expect((await signInAtForger()).page).toBe('/sign-in?error=invalid');
    forger.idToken = (usual) => forger.sign(usual);
    expect((await signInAtForger()).page).toBe('/');
  });

  // SSO-22
  test('are signed with an algorithm that is allowed: the configured one, else one of the usual ones', async () => {
    const allow = (body: ProviderChange) => root.ok('updateProvider', { params: { name: 'forger' }, body });
    const pages: string[] = [];
    for (const [algorithm, change] of [
      ['ES256', {}],
      ['RS512', {}],
      ['RS512', { id_token_alg: 'RS512' }],
      ['ES256', {}],
      ['RS256', { clear_id_token_alg: true }],
    ] as const) {
      await allow(change);
      await forger.rotate(`for ${algorithm}`, algorithm);
      pages.push((await signInAtForger()).page);
    }
    const refused = '/sign-in?error=invalid';
    expect(pages).toEqual(['/', refused, '/', refused, '/']);
  });

  // SSO-22
  test('are completed by the userinfo endpoint, unless it answers about another person', async () => {
    forger.userInfo = { sub: 'forged', name: 'Of the Endpoint' };
    expect((await signInAtForger()).page).toBe('/');
    expect((await accountOf('forged'))?.fullname).toBe('Of the Endpoint');
    forger.userInfo = { sub: 'id-of-mara', name: 'Somebody Else' };
    expect((await signInAtForger()).page).toBe('/sign-in?error=invalid');
    expect((await accountOf('forged'))?.fullname).toBe('Of the Endpoint');
  });

  // SSO-22, SSO-24
  test('whose code the provider does not accept, or no longer accepts, are refused', async () => {
    const browser = openBrowser(library);
    const callback = await beginAtForger(library, forger, browser);
    const token = forger.silence('/token');
    const page = browser.follow(callback);
    (await token).response
      .writeHead(400, { 'content-type': 'application/json' })
      .end('{"error":"invalid_grant"}');
    expect([await page, browser.cookie(address, 'user')]).toEqual(['/sign-in?error=invalid', undefined]);
  });

  // SSO-22, SSO-10
  test('are accepted with a key that the provider has just published, for its own people', async () => {
    expect((await signInAtForger()).page).toBe('/');
    await forger.rotate('two');
    forger.idToken = (usual) => forger.sign({ ...usual, exp: Math.floor(Date.now() / 1000) - 10 });
    expect((await signInAtForger()).page).toBe('/');
    // The same subject at another issuer is another person.
    forger.idToken = (usual) => forger.sign({ ...usual, sub: 'id-of-mara', preferred_username: 'mara' });
    expect((await signInAtForger()).page).toBe('/sign-in?step=link');
  });

  // SSO-24
  test.each([
    ['is down', (response: Parameters<NonNullable<typeof forger.instead>>[0]) => response.destroy()],
    [
      'answers HTML',
      (response: Parameters<NonNullable<typeof forger.instead>>[0]) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
    ],
    [
      'fails',
      (response: Parameters<NonNullable<typeof forger.instead>>[0]) => response.writeHead(500).end('{}'),
    ],
    [
      'redirects',
      (response: Parameters<NonNullable<typeof forger.instead>>[0]) =>
        response.writeHead(302, { location: `${provider.issuer}/.well-known/openid-configuration` }).end(),
    ],
    [
      'has the configuration of another issuer',
      (response: Parameters<NonNullable<typeof forger.instead>>[0]) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            issuer: 'https://other.example',
            authorization_endpoint: `${forger.issuer}/authorize`,
          }),
        ),
    ],
    [
      'answers too much',
      (response: Parameters<NonNullable<typeof forger.instead>>[0]) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"issuer":"${'x'.repeat(2_000_000)}"}`),
    ],
  ])('say that the provider is unavailable when it %s', async (_, instead) => {
    forger.instead = (response) => void instead(response);
    expect((await signInAtForger()).page).toBe('/sign-in?error=unavailable');
  });
});

describe('providers', () => {
  const body = { ...common, name: 'new', label: 'New', issuer: forger.issuer } as const;

  // SSO-1, SSO-3
  test('are stored with their defaults, and their secret is never shown', async () => {
    const shown = {
      name: 'new',
      source: 'library',
      creation: 'invited',
      default_role: 'member',
      has_client_secret: true,
      redirect_uri: `${address}/api/v1/auth/oidc/new/callback`,
      scopes: ['openid', 'profile', 'email'],
    };
    expect(await root.ok('createProvider', { body })).toMatchObject(shown);
    expect((await root.refused('createProvider', { body })).status).toBe(409);
    expect((await root.refused('createProvider', { body: { ...body, name: 'ldap' } })).status).toBe(409);
    const params = { name: 'new' };
    const changed = { label: 'Newer', clear_client_secret: true, allowed_domains: ['a.example'] };
    expect(await root.ok('updateProvider', { params, body: changed })).toMatchObject({
      label: 'Newer',
      has_client_secret: false,
      allowed_domains: ['a.example'],
      issuer: forger.issuer,
    });
    expect(await root.ok('getProvider', { params })).toMatchObject({ label: 'Newer' });
    expect((await root.ok('listProviders', { query: { limit: 2 } })).items.map(({ name }) => name)).toEqual([
      'forger',
      'new',
    ]);
    await root.ok('deleteProvider', { params });
    expect((await root.refused('deleteProvider', { params })).status).toBe(404);
    const rows = await deps.db.selectFrom('identity_providers').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(client.secret);
  });

  // SSO-5
  test('give only roles and teams that the administrator may give', async () => {
    const operator = await library.join('operator', 'viewer');
    await grant(library, operator, ['system.config.write', 'system.config.read']);
    const given = [
      { default_role: 'admin' },
      { default_role: 'viewer', role_mapping: [{ group: 'x', role: 'admin' }] },
      { default_role: 'viewer', team_mapping: [{ group: 'x', team_id: team }] },
    ];
    for (const more of given)
      expect((await operator.refused('createProvider', { body: { ...body, ...more } })).status).toBe(403);
    const roleless = { ...body, default_role: 'nobody' };
    expect((await operator.refused('createProvider', { body: roleless })).status).toBe(404);
    const params = { name: 'studio' };
    expect((await operator.refused('updateProvider', { params, body: { label: 'Mine' } })).status).toBe(403);
    await operator.ok('createProvider', { body: { ...body, default_role: 'viewer' } });
    await operator.ok('deleteProvider', { params: { name: 'new' } });
  });

  // SSO-4, SSO-6
  test('of the environment are read-only, and none may have a private address without the setting', async () => {
    const strict = await openLibrary({
      VITRINE_OIDC_ISSUER: 'https://login.example',
      VITRINE_OIDC_CLIENT_ID: 'vitrine',
      VITRINE_OIDC_CLIENT_SECRET: 'a secret',
      VITRINE_OIDC_ALLOWED_DOMAINS: 'a.example, b.example',
    });
    const admin = await strict.join('root', 'admin');
    const params = { name: 'oidc' };
    expect(await admin.ok('getProvider', { params })).toMatchObject({
      source: 'environment',
      allowed_domains: ['a.example', 'b.example'],
    });
    const label = { label: 'Other' };
    expect((await admin.refused('updateProvider', { params, body: label })).status).toBe(409);
    expect((await admin.refused('deleteProvider', { params })).status).toBe(409);
    for (const issuer of [
      'http://login.example',
      'https://127.0.0.1',
      'https://[::1]',
      'https://localhost',
      'https://169.254.169.254',
      'https://10.0.0.1:8443/realms/x',
    ])
      expect((await admin.refused('createProvider', { body: { ...body, issuer } })).status, issuer).toBe(400);
  });
});
