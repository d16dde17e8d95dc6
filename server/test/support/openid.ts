import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import type { Library } from './library.ts';
import { listen } from './listen.ts';

/** The claims of a person at a provider; `sub` is their permanent id. */
export interface ProvidedPerson {
  sub: string;
  [claim: string]: unknown;
}

export const client = { id: 'vitrine', secret: 'the secret of the client' };

/** A real provider of OpenID Connect, at which the current person is signed in without a form. */
export interface OpenIdProvider {
  issuer: string;
  /** Who signs in next; null: they cancel. */
  person: ProvidedPerson | null;
  /** Sends a logout token to the library (OpenID Connect Back-Channel Logout). Rejects if the library refuses it. */
  signOut(sub: string, sid: string): Promise<void>;
  close(): Promise<void>;
}

const close = (server: Server) =>
  new Promise<void>((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

/** Opens a provider for a client of this library. */
export async function openProvider(library: Pick<Library, 'address'>, name: string): Promise<OpenIdProvider> {
  const people = new Map<string, ProvidedPerson>();
  let handler: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => handler(request, response));
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const opened: OpenIdProvider = {
    issuer,
    person: null,
    async signOut(sub, sid) {
      const found = await provider.Client.find(client.id);
      // The method is not part of the package's types.
      await (
        found as unknown as { backchannelLogout(sub: string, sid: string): Promise<void> }
      ).backchannelLogout(sub, sid);
    },
    close: () => close(server),
  };
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${library.address}/api/v1/auth/oidc/${name}/callback`],
        backchannel_logout_uri: `${library.address}/api/v1/auth/oidc/${name}/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of the tests'] },
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username', 'picture'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    // Its dispatcher refuses the address of the library, which is on this machine.
    fetch: (url: string | URL | Request, init?: RequestInit) => {
      const { method = 'GET', headers = {}, body = null, redirect = 'manual' } = init ?? {};
      return fetch(url, { method, headers, body, redirect });
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        clientId: client.id,
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  });
  const callback = provider.callback();
  handler = (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return void callback(request, response);
    const { person } = opened;
    if (person !== null) people.set(person.sub, person);
    const result =
      person === null
        ? { error: 'access_denied', error_description: 'cancelled' }
        : { login: { accountId: person.sub, remember: false } };
    void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };
  return opened;
}

/** A request that a provider keeps waiting. */
interface UnansweredRequest {
  response: ServerResponse;
  /** Answers it as usual. */
  answer(): void;
}

/** A provider whose responses the test decides, with real keys and signatures. */
export interface ForgingProvider {
  issuer: string;
  /** The key whose public half the provider publishes. */
  key: CryptoKey;
  /** The parameters of the last authorization request, from `authorize`. */
  nonce: string;
  /** Returns the ID token of the next response. */
  idToken: (usual: JWTPayload) => Promise<string>;
  /** Answers every request instead of the provider; null: it works. */
  instead: ((response: ServerResponse) => void) | null;
  /** What its userinfo endpoint answers; null: it has none. */
  userInfo: ProvidedPerson | null;
  /** Does not answer the next request for this path. Resolves when it arrives. */
  silence(path: string): Promise<UnansweredRequest>;
  /** Publishes another key beside the others, with which nothing is signed. */
  publishAnother(): Promise<void>;
  /** Replaces the published keys by one for this algorithm, RS256 by default, with which tokens are signed then. */
  rotate(kid: string, algorithm?: string): Promise<void>;
  /** Signs an ID token. With the kid null, its header names no key. */
  sign(claims: JWTPayload, key?: CryptoKey, kid?: string | null): Promise<string>;
  close(): Promise<void>;
}

export async function openForger(): Promise<ForgingProvider> {
  let kid = 'one';
  let alg = 'RS256';
  let pair = await generateKeyPair(alg);
  const others: JWK[] = [];
  const silenced: { path: string; arrived: (request: UnansweredRequest) => void }[] = [];
  const sendJson = (response: ServerResponse, body: unknown) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const answer = async (pathname: string, response: ServerResponse) => {
    if (pathname === '/.well-known/openid-configuration')
      return sendJson(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        ...(forger.userInfo === null ? {} : { userinfo_endpoint: `${issuer}/userinfo` }),
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: [alg],
      });
    if (pathname === '/userinfo') return sendJson(response, forger.userInfo);
    if (pathname === '/keys')
      return sendJson(response, {
        keys: [{ ...(await exportJWK(pair.publicKey)), kid, use: 'sig' }, ...others],
      });
    if (pathname !== '/token') return response.writeHead(404).end();
    const usual = {
      iss: issuer,
      aud: client.id,
      sub: 'forged',
      preferred_username: 'forged',
      nonce: forger.nonce,
      iat: Math.floor(Date.now() / 1000),
      exp: Math.floor(Date.now() / 1000) + 300,
    };
    const id_token = await forger.idToken(usual);
    sendJson(response, { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token });
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer);
    request.resume();
    const at = silenced.findIndex(({ path }) => path === pathname);
    const [silent] = at === -1 ? [] : silenced.splice(at, 1);
    if (silent !== undefined)
      return silent.arrived({ response, answer: () => void answer(pathname, response) });
    if (forger.instead !== null) return forger.instead(response);
    void answer(pathname, response);
  });
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const forger: ForgingProvider = {
    issuer,
    key: pair.privateKey,
    nonce: '',
    idToken: (usual) => forger.sign(usual),
    instead: null,
    userInfo: null,
    silence(path) {
      const { promise, resolve } = Promise.withResolvers<UnansweredRequest>();
      silenced.push({ path, arrived: resolve });
      return promise;
    },
    async publishAnother() {
      const { publicKey } = await generateKeyPair('RS256');
      others.push({ ...(await exportJWK(publicKey)), kid: `other ${others.length}`, use: 'sig' });
    },
    async rotate(next, algorithm = 'RS256') {
      kid = next;
      alg = algorithm;
      others.length = 0;
      pair = await generateKeyPair(alg);
      forger.key = pair.privateKey;
    },
    sign: (claims, key = forger.key, named = kid) =>
      new SignJWT(claims).setProtectedHeader({ alg, ...(named === null ? {} : { kid: named }) }).sign(key),
    close: () => close(server),
  };
  return forger;
}

/** A browser with cookies that opens addresses of several sites. */
export interface Browser {
  /** Sends one request without following a redirect. */
  open(url: string): Promise<{ status: number; location: string | null; text: string }>;
  /** Posts a form, as a page of the other site does. */
  post(
    url: string,
    fields: Record<string, string>,
    origin: string,
  ): Promise<{ status: number; location: string | null; text: string }>;
  /** Follows redirects from here to a page of the library, and returns its path with the query. */
  follow(url: string): Promise<string>;
  cookie(url: string, name: string): string | undefined;
  setCookie(url: string, name: string, value: string): void;
}

export function openBrowser({ address }: Pick<Library, 'address'>): Browser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };
  const send = async (
    url: string,
    init: { method?: string; body?: URLSearchParams; headers?: Record<string, string> },
  ) => {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...init.headers, ...(cookie === '' ? {} : { cookie }) };
    const response = await fetch(url, { ...init, redirect: 'manual', headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const to = response.headers.get('location');
    const location = to === null ? null : new URL(to, url).href;
    return { status: response.status, location, text: await response.text() };
  };
  const browser: Browser = {
    open: (url) => send(url, {}),
    post: (url, fields, origin) =>
      send(url, { method: 'POST', body: new URLSearchParams(fields), headers: { origin } }),
    async follow(url) {
      let at = url;
      for (let step = 0; step < 10; step += 1) {
        if (at.startsWith(`${address}/`) && !at.startsWith(`${address}/api/`))
          return at.slice(address.length);
        const { status, location, text } = await browser.open(at);
        if (location === null) throw new Error(`${at} answers ${status}: ${text.slice(0, 300)}`);
        at = location;
      }
      throw new Error(`${url} redirects too often`);
    },
    cookie: (url, name) => jarOf(url).get(name),
    setCookie: (url, name, value) => jarOf(url).set(name, value),
  };
  return browser;
}

/** Starts a sign-in at the forger in a browser, and returns the address to which the page of the forger leads back. */
export async function beginAtForger(
  { address }: Pick<Library, 'address'>,
  forger: ForgingProvider,
  browser: Browser,
): Promise<string> {
  const { location } = await browser.open(`${address}/api/v1/auth/oidc/forger/start`);
  const asked = new URL(location ?? '');
  if (asked.origin !== forger.issuer) return asked.href;
  forger.nonce = asked.searchParams.get('nonce') ?? '';
  const callback = new URL(asked.searchParams.get('redirect_uri') ?? '');
  callback.searchParams.set('code', 'a code');
  callback.searchParams.set('state', asked.searchParams.get('state') ?? '');
  return callback.href;
}
