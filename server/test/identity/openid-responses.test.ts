import type { ServerResponse } from 'node:http';
import type { ProviderChange } from '@vitrine/contract/providers';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { openLibrary } from '../support/library.ts';
import { type Browser, beginAtForger, client, openBrowser } from '../support/openid.ts';
import { openProviders } from './open-providers.ts';

/** Responses of providers of OpenID Connect, most of them forged. */

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address, deps } = library;
const root = await library.join('root', 'admin');
const { provider, forger, signInAs, signInAtForger, accountOf } = await openProviders(library, root);
beforeEach(() => {
  forger.instead = null;
  forger.userInfo = null;
  forger.idToken = (usual) => forger.sign(usual);
});

const mara = { sub: 'id-of-mara', preferred_username: 'mara' };

/** Starts a sign-in of mara in a browser, and returns the address to which the provider sends her back. */
async function callbackFor(browser: Browser): Promise<string> {
  provider.person = mara;
  let at = `${address}/api/v1/auth/oidc/studio/start`;
  while (!at.includes('/callback?')) at = (await browser.open(at)).location ?? '';
  return at;
}

describe('responses', () => {
  // SSO-20, SSO-21
  test('belong to the browser that asked, and count once', async () => {
    const [mine, theirs] = [openBrowser(library), openBrowser(library)];
    const at = await callbackFor(mine);
    expect(await theirs.follow(at)).toBe('/sign-in?error=invalid');
    expect(await mine.follow(at)).toBe('/');
    expect(await mine.follow(at)).toBe('/sign-in?error=expired');
    expect(await mine.follow(at.replace(/state=[^&]*/, 'state=other'))).toBe('/sign-in?error=invalid');
  });

  // SSO-21
  test('are refused after ten minutes', async () => {
    const browser = openBrowser(library);
    const at = await callbackFor(browser);
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
    await signInAs(mara);
    forger.idToken = (usual) => forger.sign({ ...usual, ...mara });
    expect((await signInAtForger()).page).toBe('/sign-in?step=link');
  });

  // SSO-24
  test.each<[string, (response: ServerResponse) => void]>([
    ['is down', (response) => void response.destroy()],
    [
      'answers HTML',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
    ],
    ['fails', (response) => response.writeHead(500).end('{}')],
    [
      'redirects',
      (response) =>
        response.writeHead(302, { location: `${provider.issuer}/.well-known/openid-configuration` }).end(),
    ],
    [
      'has the configuration of another issuer',
      (response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            issuer: 'https://other.example',
            authorization_endpoint: `${forger.issuer}/authorize`,
          }),
        ),
    ],
    [
      'answers too much',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"issuer":"${'x'.repeat(2_000_000)}"}`),
    ],
  ])('say that the provider is unavailable when it %s', async (_, instead) => {
    forger.instead = instead;
    expect((await signInAtForger()).page).toBe('/sign-in?error=unavailable');
  });
});
