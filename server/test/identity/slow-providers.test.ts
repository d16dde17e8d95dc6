import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { visit } from '../support/client.ts';
import { openLibrary, password } from '../support/library.ts';
import { beginAtForger, client, openBrowser } from '../support/openid.ts';
import { openProviders } from './open-providers.ts';

/** Providers that answer late or never. The clock that bounds their requests stands still until a test moves it. */

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address } = library;
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const { forger, signInAs } = await openProviders(library, root);
const saml = {
  name: 'saml',
  kind: 'saml',
  label: 'SAML',
  metadata_url: `${forger.issuer}/metadata`,
} as const;
await root.ok('createProvider', { body: saml });

beforeEach(() => {
  forger.userInfo = { sub: 'forged' };
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'performance'],
    shouldClearNativeTimers: true,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const CONFIGURATION = '/.well-known/openid-configuration';
const PATIENCE_MS = 10_000;
const unavailable = '/sign-in?error=unavailable';

// SSO-24
test.each([
  ['oidc/forger', CONFIGURATION],
  ['saml/saml', '/metadata'],
])(
  'a sign-in at %s says that the provider is unavailable if it does not answer %s in 10 seconds',
  async (way, path) => {
    const asked = forger.silence(path);
    const page = openBrowser(library).follow(`${address}/api/v1/auth/${way}/start`);
    await asked;
    vi.advanceTimersByTime(PATIENCE_MS);
    expect(await page).toBe(unavailable);
  },
);

// SSO-24
test.each([CONFIGURATION, '/token', '/keys', '/userinfo'])(
  'a response is refused as unavailable if the provider does not answer %s in 10 seconds',
  async (path) => {
    const browser = openBrowser(library);
    const callback = await beginAtForger(library, forger, browser);
    const asked = forger.silence(path);
    const page = browser.follow(callback);
    await asked;
    vi.advanceTimersByTime(PATIENCE_MS);
    expect([await page, browser.cookie(address, 'user')]).toEqual([unavailable, undefined]);
  },
);

// SSO-24
test('the requests of a step share the 10 seconds', async () => {
  const browser = openBrowser(library);
  const callback = await beginAtForger(library, forger, browser);
  const [configuration, token] = [forger.silence(CONFIGURATION), forger.silence('/token')];
  const page = browser.follow(callback);
  const { answer } = await configuration;
  vi.advanceTimersByTime(6000);
  answer();
  await token;
  vi.advanceTimersByTime(PATIENCE_MS - 6000);
  expect(await page).toBe(unavailable);
});

// SSO-24
test('other sign-ins continue while a provider does not answer', async () => {
  const asked = Array.from({ length: 12 }, () => forger.silence(CONFIGURATION));
  const waiting = asked.map(() => openBrowser(library).follow(`${address}/api/v1/auth/oidc/forger/start`));
  await Promise.all(asked);
  const user = await visit(address).ok('login', { body: { username: 'mara', password } });
  expect(user.ref).toBe(mara.ref);
  expect((await signInAs({ sub: 'id-of-nina', preferred_username: 'nina' })).page).toBe('/');
  vi.advanceTimersByTime(PATIENCE_MS);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([unavailable]));
});

// SSO-41
test('a logout token is answered with 503 if the provider does not send its keys in 10 seconds', async () => {
  const now = Math.floor(Date.now() / 1000);
  const token = await forger.sign({
    iss: forger.issuer,
    aud: client.id,
    iat: now,
    exp: now + 120,
    jti: 'late',
    sub: 'forged',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  });
  const asked = forger.silence('/keys');
  const sent = fetch(`${address}/api/v1/auth/oidc/forger/backchannel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  });
  await asked;
  vi.advanceTimersByTime(PATIENCE_MS);
  expect((await sent).status).toBe(503);
});
