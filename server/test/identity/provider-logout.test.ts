import { generateKeyPair, type JWTPayload, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { visit } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { client } from '../support/openid.ts';
import { setRole, totpCode } from '../support/people.ts';
import { openProviders } from './open-providers.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address, deps } = library;
const root = await library.join('root', 'admin');
const providers = await openProviders(library, root);
const { provider, forger } = providers;

/** Signs a person in at the real provider in a new browser. */
async function signIn(sub: string) {
  const { page, browser, visitor } = await providers.signInAs({ sub, preferred_username: sub });
  return { page, browser, visitor, isSignedIn: async () => (await visitor.status('GET', '/me')) === 200 };
}

/** Returns the names of the sessions at a provider, the newest first. */
async function sidsOf(name: string): Promise<string[]> {
  const rows = await deps.db
    .selectFrom('sessions')
    .select('provider_sid')
    .where('provider', '=', name)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map(({ provider_sid }) => provider_sid ?? '');
}

/** Signs `forged` in at the forger, whose ID token names this session. */
async function signInAtForger(sid: string) {
  forger.idToken = (usual) => forger.sign({ ...usual, sid });
  const { visitor } = await providers.signInAtForger();
  return async () => (await visitor.status('GET', '/me')) === 200;
}

async function send(token: string, name = 'forger') {
  const response = await fetch(`${address}/api/v1/auth/oidc/${name}/backchannel-logout`, {
    method: 'POST',
    headers: { origin: 'https://login.example' },
    body: new URLSearchParams({ logout_token: token }),
  });
  return { status: response.status, cache: response.headers.get('cache-control') };
}

const now = () => Math.floor(Date.now() / 1000);
const event = { 'http://schemas.openid.net/event/backchannel-logout': {} };
let made = 0;
const usual = (more: JWTPayload = {}): JWTPayload => {
  made += 1;
  return {
    iss: forger.issuer,
    aud: client.id,
    iat: now(),
    exp: now() + 120,
    jti: `token ${made}`,
    events: event,
    sub: 'forged',
    ...more,
  };
};

// SSO-40, SSO-41
test('a sign-out at a real provider ends the sessions that began in that session there', async () => {
  const first = await signIn('mia');
  const [sid = ''] = await sidsOf('studio');
  const second = await signIn('mia');
  const other = await signIn('noa');
  expect(sid).not.toBe('');
  await provider.signOut('mia', sid);
  expect([await first.isSignedIn(), await second.isSignedIn(), await other.isSignedIn()]).toEqual([
    false,
    true,
    true,
  ]);
  const { ref } = await second.visitor.ok('getMe');
  expect(
    await auditEvents(library, { event: 'auth.provider.signed_out', subject_user_ref: ref }),
  ).toMatchObject([{ metadata: { provider: 'studio' } }]);
});

// SSO-40, SSO-41, IMPERSONATION-7, IMPERSONATION-8
test('a sign-out at the provider ends impersonations that began in the session, and what follows from them', async () => {
  const target = await library.join('target');
  const chief = await signIn('chief');
  await setRole(library, await chief.visitor.ok('getMe'), 'admin');
  const [sid = ''] = await sidsOf('studio');
  const token = chief.browser.cookie(address, 'user');
  const [kept, left] = [visit(address, {}, token), visit(address, {}, token)];
  for (const mask of [kept, left])
    await mask.ok('impersonate', { params: { ref: target.ref }, body: undefined });
  await left.ok('endImpersonation');
  const statuses = async () =>
    Promise.all([kept, left, chief.visitor].map((visitor) => visitor.status('GET', '/me')));
  expect(await statuses()).toEqual([200, 200, 200]);
  await provider.signOut('chief', sid);
  expect(await statuses()).toEqual([401, 401, 401]);
});

// SSO-41
test('a logout token without a session ends every session of the person that began at the provider, and no others', async () => {
  const [one, two] = [await signInAtForger('one'), await signInAtForger('two')];
  const elsewhere = await signIn('forged-elsewhere');
  expect(await send(await forger.sign(usual()))).toEqual({ status: 200, cache: 'no-store' });
  expect([await one(), await two(), await elsewhere.isSignedIn()]).toEqual([false, false, true]);
});

// SSO-41
test('a sign-in that waits for the second factor ends, too', async () => {
  const first = await signIn('tom');
  const { secret_base32: secret } = await first.visitor.ok('enrollTwoFactor');
  await first.visitor.ok('confirmTwoFactor', { body: { code: totpCode(secret) } });
  const waiting = await signIn('tom');
  expect(waiting.page).toBe('/sign-in?step=second_factor');
  const { sid } = await deps.db
    .selectFrom('sign_in_flows')
    .select((eb) =>
      eb
        .ref('identity', '->>')
        .key('sid' as never)
        .as('sid'),
    )
    .where('purpose', '=', 'second_factor')
    .executeTakeFirstOrThrow();
  await provider.signOut('tom', String(sid));
  const pending = visit(address, { cookie: `sign_in=${waiting.browser.cookie(address, 'sign_in')}` });
  expect((await pending.refused('continueSignIn', { body: { totp_code: totpCode(secret) } })).status).toBe(
    401,
  );
  expect(await first.isSignedIn()).toBe(true);
});

// SSO-41
test('logout tokens that are forged, old, repeated or not about signing out are refused', async () => {
  const isSignedIn = await signInAtForger('kept');
  const foreign = (await generateKeyPair('RS256')).privateKey;
  const { sub: _, ...nobody } = usual();
  const { jti: __, ...nameless } = usual();
  const { iat: ___, ...timeless } = usual();
  const { events: ____, ...eventless } = usual();
  const refused: Record<string, string> = {
    'another key': await forger.sign(usual(), foreign),
    'no signature': new UnsecuredJWT(usual()).encode(),
    'another issuer': await forger.sign(usual({ iss: 'https://other.example' })),
    'another audience': await forger.sign(usual({ aud: 'someone else' })),
    'too old': await forger.sign(usual({ iat: now() - 3600 })),
    expired: await forger.sign(usual({ exp: now() - 600 })),
    'of the future': await forger.sign(usual({ iat: now() + 3600 })),
    'a nonce': await forger.sign(usual({ nonce: 'x' })),
    'another event': await forger.sign(usual({ events: { other: {} } })),
    'an event that is not an object': await forger.sign(
      usual({ events: { 'http://schemas.openid.net/event/backchannel-logout': true } }),
    ),
    'no event': await forger.sign(eventless),
    'no person or session': await forger.sign(nobody),
    'no id': await forger.sign(nameless),
    'no time': await forger.sign(timeless),
    'a subject that is not a string': await forger.sign(usual({ sub: 7 as never, sid: 'kept' })),
    'no token': 'nothing',
  };
  for (const [what, token] of Object.entries(refused))
    expect([what, (await send(token)).status]).toEqual([what, 400]);
  expect(await isSignedIn()).toBe(true);
  const unknown = await forger.sign(usual({ sid: 'unknown' }));
  expect([(await send(unknown)).status, (await send(unknown)).status]).toEqual([200, 400]);
  expect((await send(unknown, 'studio')).status).toBe(400);
  expect((await send(unknown, 'nothing')).status).toBe(404);
  forger.instead = (response) => void response.writeHead(500).end();
  expect((await send(await forger.sign(usual()))).status).toBe(503);
  forger.instead = null;
  expect(await isSignedIn()).toBe(true);
  expect((await send(await forger.sign(usual({ sid: 'kept' })))).status).toBe(200);
  expect(await isSignedIn()).toBe(false);
});

// SSO-42
test('front-channel logout ends the session that its query names, if the issuer is right', async () => {
  const isSignedIn = await signInAtForger('in the browser');
  const open = async (iss: string, sid: string) => {
    const query = new URLSearchParams({ iss, sid });
    return (await fetch(`${address}/api/v1/auth/oidc/forger/frontchannel-logout?${query}`)).status;
  };
  expect([
    await open('https://other.example', 'in the browser'),
    await open(forger.issuer, 'another'),
    await isSignedIn(),
  ]).toEqual([400, 200, true]);
  expect([await open(forger.issuer, 'in the browser'), await isSignedIn()]).toEqual([200, false]);
});
