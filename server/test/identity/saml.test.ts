import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { encrypt } from 'xml-encryption';
import { auditEvents } from '../support/audit.ts';
import { visit } from '../support/client.ts';
import { openLibrary, password } from '../support/library.ts';
import { listen } from '../support/listen.ts';
import { openBrowser } from '../support/openid.ts';
import {
  type AssertedPerson,
  assertionXml,
  openSamlProvider,
  type ResponseParts,
  readRequest,
  responseXml,
} from '../support/saml.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address, deps } = library;
const root = await library.join('root', 'admin');
const provider = await openSamlProvider('https://login.example/saml');
const { entityId, sign } = provider;

const saml = { kind: 'saml', label: 'Studio', creation: 'first_sign_in' } as const;
const stored = await root.ok('createProvider', {
  body: {
    ...saml,
    name: 'studio',
    metadata: provider.metadata,
    role_mapping: [{ group: 'chiefs', role: 'admin' }],
  },
});
const acs = `${address}/api/v1/auth/saml/studio/callback`;
const start = (name = 'studio', query = '') => `${address}/api/v1/auth/saml/${name}/start${query}`;

/** Starts a sign-in in a browser and returns what the library sends. */
async function begin(query = '', browser = openBrowser(library)) {
  const { location } = await browser.open(start('studio', query));
  return { browser, request: readRequest(location ?? ''), location: location ?? '' };
}

type Begun = Awaited<ReturnType<typeof begin>>;

const usual = (request: string, person: AssertedPerson): ResponseParts => ({
  issuer: entityId,
  responseIssuer: entityId,
  acs,
  recipient: acs,
  destination: acs,
  audience: stored.sp_entity_id ?? '',
  request,
  subjectRequest: request,
  nameId: person.nameId,
  format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  person,
  notBefore: new Date(Date.now() - 1000),
  notOnOrAfter: new Date(Date.now() + 300_000),
  status: 'Success',
});

/** Posts a response in the browser, and returns the path where it goes on. */
async function deliver({ browser, request }: Begun, xml: string, relayState = request.relayState) {
  const fields = { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: relayState };
  const { status, location, text } = await browser.post(acs, fields, 'https://login.example');
  expect(status, text).toBe(303);
  return (location ?? '').slice(address.length);
}

/** Returns a signed response with some parts changed. */
function responseOf({ request }: Begun, person: AssertedPerson, change: Partial<ResponseParts> = {}): string {
  const parts = { ...usual(request.id, person), ...change };
  return sign(responseXml(parts, assertionXml(parts)), 'Assertion');
}

/** Returns what everyone who knows the metadata can encrypt for this library. */
async function encryptForUs(xml: string): Promise<string> {
  const metadata = await (await fetch(stored.metadata_url ?? '')).text();
  const [, body = ''] = /<(?:ds:)?X509Certificate>([^<]+)</.exec(metadata) ?? [];
  const pem = `-----BEGIN CERTIFICATE-----\n${body.trim()}\n-----END CERTIFICATE-----`;
  const encrypted = await promisify(encrypt)(xml, {
    rsa_pub: new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    pem,
    encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  });
  return `<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${encrypted}</saml:EncryptedAssertion>`;
}

async function signInAs(person: AssertedPerson, query = '') {
  const begun = await begin(query);
  const page = await deliver(begun, responseOf(begun, person));
  return { page, visitor: visit(address, {}, begun.browser.cookie(address, 'user')), begun };
}

const accounts = async () =>
  (await deps.db.selectFrom('users').select('username').execute()).map(({ username }) => username).sort();

describe('signing in with SAML', () => {
  // SSO-2, SSO-11, SSO-12, SSO-13, SSO-26
  test('creates an account from the response of a provider, and finds it by its NameID later', async () => {
    expect(await library.anonymous().ok('listSignInProviders')).toContainEqual({
      name: 'studio',
      kind: 'saml',
      label: 'Studio',
      start_url: '/api/v1/auth/saml/studio/start',
    });
    const spMetadata = await (await fetch(`${address}/api/v1/auth/saml/studio/metadata`)).text();
    const begun = await begin('?return_to=/search?q=cats');
    expect(begun.location.startsWith(`${entityId}/sso?`)).toBe(true);
    const person = { nameId: 'mara', displayName: 'Mara Lind', mail: 'mara@studio.example' };
    const response = await provider.respond(begun.request, person, spMetadata);
    const fields = { SAMLResponse: response, RelayState: begun.request.relayState };
    const { location } = await begun.browser.post(acs, fields, 'https://login.example');
    expect(location).toBe(`${address}/search?q=cats`);
    const user = await visit(address, {}, begun.browser.cookie(address, 'user')).ok('getMe');
    expect(user).toMatchObject({
      username: 'mara',
      fullname: 'Mara Lind',
      email: 'mara@studio.example',
    });
    const again = await signInAs({ nameId: 'mara', displayName: 'Mara Berg' });
    expect(await again.visitor.ok('getMe')).toMatchObject({ ref: user.ref, fullname: 'Mara Berg' });
    expect(await auditEvents(library, { event: 'auth.signed_in', subject_user_ref: user.ref })).toHaveLength(
      2,
    );
  });

  // SSO-27
  test('decrypts an assertion that is encrypted with the published certificate', async () => {
    const begun = await begin();
    const parts = usual(begun.request.id, { nameId: 'secretive' });
    const signed = sign(assertionXml(parts), 'Assertion');
    expect(await deliver(begun, responseXml(parts, await encryptForUs(signed)))).toBe('/');
  });

  // SSO-30
  test('applies the groups of the attributes to roles', async () => {
    const { visitor } = await signInAs({ nameId: 'chief', groups: ['others', 'chiefs'] });
    expect((await visitor.ok('getMyCapabilities')).capabilities).toContain('system.admin');
  });

  // SSO-11
  test('creates one account for concurrent first sign-ins of one person', async () => {
    const twin = { nameId: 'twin' };
    const ends = await Promise.all([signInAs(twin), signInAs(twin), signInAs(twin)]);
    const users = await Promise.all(ends.map(({ visitor }) => visitor.ok('getMe')));
    expect(new Set(users.map(({ ref }) => ref)).size).toBe(1);
  });

  // SSO-15
  test('asks for the password of an account that has the name already', async () => {
    await library.join('ada');
    const { page, begun } = await signInAs({ nameId: 'Ada' });
    expect(page).toBe('/sign-in?step=link');
    const cookie = `sign_in=${begun.browser.cookie(address, 'sign_in')}`;
    const user = await visit(address, { cookie }).ok('continueSignIn', { body: { password } });
    expect(user.username).toBe('ada');
  });

  // SSO-14: SAML has no claim for it.
  test('takes every e-mail of the provider as verified for the allowed domains', async () => {
    await root.ok('updateProvider', {
      params: { name: 'studio' },
      body: { allowed_domains: ['studio.example'] },
    });
    expect((await signInAs({ nameId: 'inside', mail: 'a@studio.example' })).page).toBe('/');
    expect((await signInAs({ nameId: 'outside', mail: 'a@evil.example' })).page).toBe(
      '/sign-in?error=domain',
    );
    await root.ok('updateProvider', { params: { name: 'studio' }, body: { clear_allowed_domains: true } });
  });
});

describe('a response', () => {
  const eve: AssertedPerson = { nameId: 'eve' };
  /** Delivers a response that must be refused, and returns the recorded reason. */
  const refused = async (xml: string, begun: Begun) => {
    const before = await accounts();
    expect(await deliver(begun, xml)).toBe('/sign-in?error=invalid');
    expect(begun.browser.cookie(address, 'user')).toBeUndefined();
    expect(await accounts()).toEqual(before);
    const failures = await auditEvents(library, { event: 'auth.provider.failed' });
    return new Map(Object.entries(failures.at(-1)?.metadata ?? {})).get('reason');
  };

  const changes: Record<string, Partial<ResponseParts>> = {
    'another issuer of the assertion': { issuer: 'https://evil.example' },
    'another issuer of the response': { responseIssuer: 'https://evil.example' },
    'another audience': { audience: 'https://other.example' },
    'another recipient': { recipient: 'https://other.example/acs' },
    'another destination': { destination: 'https://other.example/acs' },
    'the answer to another request': { request: '_other' },
    'a subject of another request': { subjectRequest: '_other' },
    'a time that is over': { notOnOrAfter: new Date(Date.now() - 60_000) },
    'a time to come': { notBefore: new Date(Date.now() + 60_000) },
    'a status other than success': { status: 'Requester' },
    'a NameID that changes each time': { format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
    'a comment in the name': { nameId: 'eve<!-- -->.evil' },
  };
  // SSO-25
  test.each(Object.entries(changes))('is refused with %s', async (_, change) => {
    const begun = await begin();
    await refused(responseOf(begun, eve, change), begun);
  });

  // SSO-25
  test('is refused without signature, with the key of another provider, or changed afterwards', async () => {
    const begun = await begin();
    const parts = usual(begun.request.id, eve);
    await refused(responseXml(parts, assertionXml(parts)), begun);
    const other = await begin();
    const unsigned = responseXml(usual(other.request.id, eve), assertionXml(usual(other.request.id, eve)));
    await refused(sign(unsigned, 'Assertion', provider.foreignKey), other);
    const changed = await begin();
    await refused(responseOf(changed, eve).replace('>eve<', '>root<'), changed);
  });

  // SSO-25
  test('is refused when the signed assertion is wrapped or accompanied by another one', async () => {
    const wrapped = await begin();
    const parts = usual(wrapped.request.id, eve);
    const signed = sign(responseXml(parts, assertionXml(parts)), 'Assertion');
    const [assertion = ''] = /<saml:Assertion.*<\/saml:Assertion>/.exec(signed) ?? [];
    const forged = assertionXml({ ...parts, nameId: 'root' }, '_forged');
    await refused(responseXml(parts, forged + assertion), wrapped);
    const hidden = await begin();
    const own = usual(hidden.request.id, eve);
    const inside = sign(responseXml(own, assertionXml(own)), 'Assertion');
    const [kept = ''] = /<saml:Assertion.*<\/saml:Assertion>/.exec(inside) ?? [];
    const around = `<samlp:Extensions>${kept}</samlp:Extensions>${assertionXml({ ...own, nameId: 'root' }, '_forged')}`;
    await refused(responseXml(own, around), hidden);
  });

  // SSO-25
  test('is refused before a tree is built of it if it is deep, large, has a document type, or is no XML', async () => {
    const reasons: unknown[] = [];
    const deep = await begin();
    reasons.push(await refused(responseXml(usual(deep.request.id, eve), '<a>'.repeat(12_000)), deep));
    const large = await begin();
    const text = `<a>${'x'.repeat(300_000)}</a>`;
    reasons.push(await refused(responseXml(usual(large.request.id, eve), text), large));
    const typed = await begin();
    const type = '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>';
    reasons.push(await refused(type + responseOf(typed, eve), typed));
    const told = await begin();
    reasons.push(await refused(`<?xml-stylesheet href="a"?>${responseOf(told, eve)}`, told));
    const wide = await begin();
    reasons.push(await refused(responseXml(usual(wide.request.id, eve), '<a b="c"/>'.repeat(20_000)), wide));
    const none = await begin();
    reasons.push(await refused('<html><body>503', none));
    // Only the check before the tree gives these reasons.
    expect(reasons).toEqual([
      'the document is nested too deeply',
      'the document is too large',
      'the document has a document type',
      'the document has an instruction',
      'the response must have exactly one assertion',
      'the document is not a response',
    ]);
  });

  // SSO-27
  test('is refused when everyone could have encrypted what it contains', async () => {
    const begun = await begin();
    const parts = usual(begun.request.id, { nameId: 'root' });
    await refused(responseXml(parts, await encryptForUs(assertionXml(parts))), begun);
    const deep = await begin();
    const own = usual(deep.request.id, eve);
    expect(await refused(responseXml(own, await encryptForUs('<a>'.repeat(12_000))), deep)).toBe(
      'the document is nested too deeply',
    );
  });

  // SSO-20, SSO-21
  test('counts once, and in the browser that began the sign-in', async () => {
    const { begun } = await signInAs({ nameId: 'once' });
    expect(await deliver(begun, responseOf(begun, { nameId: 'once' }))).toBe('/sign-in?error=expired');
    const other = await begin();
    const stranger = { ...other, browser: openBrowser(library) };
    expect(await deliver(stranger, responseOf(other, eve))).toBe('/sign-in?error=invalid');
    expect(await deliver(other, responseOf(other, eve), 'nonsense')).toBe('/sign-in?error=invalid');
    expect(await deliver(other, responseOf(other, { nameId: 'late' }))).toBe('/');
  });

  test('must be a form', async () => {
    const response = await fetch(acs, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(415);
    const missing = await begin();
    const { location } = await missing.browser.post(acs, {}, 'https://login.example');
    expect(location).toBe(`${address}/sign-in?error=invalid`);
  });
});

describe('what a provider must sign', () => {
  test.each([
    ['assertion', 'Assertion', '/'],
    ['assertion', 'Response', '/sign-in?error=invalid'],
    ['response', 'Response', '/'],
    ['response', 'Assertion', '/sign-in?error=invalid'],
    ['either', 'Response', '/'],
    ['both', 'Assertion', '/sign-in?error=invalid'],
  ] as const)('is configured: with %s, a signed %s leads to %s', async (signed, element, page) => {
    await root.ok('updateProvider', { params: { name: 'studio' }, body: { signed } });
    const begun = await begin();
    const parts = usual(begun.request.id, { nameId: 'signed-person' });
    expect(await deliver(begun, sign(responseXml(parts, assertionXml(parts)), element))).toBe(page);
    await root.ok('updateProvider', { params: { name: 'studio' }, body: { clear_signed: true } });
  });
});

describe('the settings of a SAML provider', () => {
  const create = { ...saml, name: 'other' };

  // SSO-1, SSO-26
  test('come from metadata, or are given one by one', async () => {
    expect(stored).toMatchObject({
      entity_id: entityId,
      sso_url: `${entityId}/sso`,
      signed: 'either',
      acs_url: acs,
      metadata_url: `${address}/api/v1/auth/saml/studio/metadata`,
      sp_entity_id: `${address}/api/v1/auth/saml/studio/metadata`,
    });
    const { certificates = [] } = stored;
    const body = {
      ...create,
      entity_id: entityId,
      sso_url: `${entityId}/sso`,
      certificates,
      sp_entity_id: 'urn:us',
    };
    expect(await root.ok('createProvider', { body })).toMatchObject({ certificates, sp_entity_id: 'urn:us' });
    await root.ok('deleteProvider', { params: { name: 'other' } });
  });

  // SSO-24
  test('are read from the address of the metadata at each sign-in', async () => {
    let answer = provider.metadata;
    const server = createServer((_, response) => response.end(answer));
    const port = await listen(server);
    afterAll(() => server.close());
    const metadata_url = `http://127.0.0.1:${port}/metadata`;
    await root.ok('createProvider', { body: { ...create, metadata_url } });
    const browser = openBrowser(library);
    expect((await browser.open(start('other'))).location).toContain(`${entityId}/sso?`);
    answer = '<html>';
    expect((await browser.open(start('other'))).location).toBe(`${address}/sign-in?error=unavailable`);
    await root.ok('deleteProvider', { params: { name: 'other' } });
  });

  test.each([
    ['no source', {}, 'body must have required properties entity_id, sso_url, certificates'],
    [
      'two sources',
      { metadata: provider.metadata, metadata_url: 'https://a.example' },
      'metadata and metadata_url are mutually exclusive',
    ],
    [
      'broken metadata',
      { metadata: '<a' },
      'metadata cannot be used: 1:2: document must contain a root element.',
    ],
    [
      'metadata without a provider',
      { metadata: '<a/>' },
      'metadata cannot be used: the metadata must describe one provider',
    ],
    [
      'no certificate',
      { entity_id: 'a', sso_url: 'https://a.example', certificates: ['x'] },
      'certificates must be certificates as PEM',
    ],
    [
      'a property of OpenID Connect',
      { metadata: provider.metadata, issuer: 'https://a.example' },
      'issuer is for providers of the kind oidc',
    ],
    [
      'an address with a scheme of its own',
      { metadata_url: 'ftp://a.example' },
      'metadata_url must match pattern "^https?://[^\\s]+$"',
    ],
  ])('are refused with %s', async (_, body, text) => {
    const { status, error } = await root.refused('createProvider', { body: { ...create, ...body } });
    expect([status, error]).toEqual([400, text]);
  });
});
