import type { ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { databaseText } from '../support/database-text.ts';
import { openLibrary } from '../support/library.ts';
import { client, openForger, openProvider } from '../support/openid.ts';
import { grant, setEmail, setStatus } from '../support/people.ts';
import { openScim } from '../support/scim.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const root = await library.join('root', 'admin');
const [provider, forger] = [await openProvider(library, 'studio'), await openForger()];
afterAll(async () => {
  await provider.close();
  await forger.close();
});
const team = await addTeam(library, 'editors');
const common = { kind: 'oidc', client_id: client.id, client_secret: client.secret, label: 'Studio' } as const;
const mapping = {
  role_mapping: [{ group: 'guests', role: 'viewer' }],
  team_mapping: [{ group: 'editors', team_id: team }],
};
await root.ok('createProvider', {
  body: { ...common, ...mapping, name: 'studio', issuer: provider.issuer, creation: 'first_sign_in' },
});
await root.ok('createProvider', {
  body: { ...common, name: 'forger', issuer: forger.issuer, enabled: false },
});
await root.ok('createProvider', {
  body: { ...mapping, name: 'saml', kind: 'saml', label: 'SAML', metadata_url: `${forger.issuer}/metadata` },
});

const testOf = (name: string, claims?: Record<string, unknown>) =>
  root.ok('testProvider', { params: { name }, body: claims === undefined ? undefined : { claims } });
const outcomeOf = async (claims: Record<string, unknown>, name = 'studio') => {
  const { mapped } = await testOf(name, claims);
  return [mapped?.outcome, mapped?.reason];
};

// SSO-50
test('the test of a provider says whether its configuration and keys can be read', async () => {
  expect(await testOf('studio')).toEqual({
    ok: true,
    checks: [
      { name: 'discovery', ok: true },
      { name: 'jwks', ok: true },
    ],
  });
  expect((await testOf('forger')).ok).toBe(true);
  expect((await root.refused('testProvider', { params: { name: 'nothing' }, body: {} })).status).toBe(404);
  const operator = await library.join('operator');
  await grant(library, operator, 'system.config.read');
  expect((await operator.refused('testProvider', { params: { name: 'studio' }, body: {} })).status).toBe(403);
});

// LANGUAGE-8
test('the test says what is wrong in the language of the reader', async () => {
  const { text } = await root.send('/admin/providers/saml/test', {
    method: 'POST',
    headers: { 'accept-language': 'de' },
    body: {},
  });
  expect(text).toContain('die Metadaten des Anbieters können nicht gelesen oder benutzt werden');
});

// SSO-51
test('the test does not repeat what the address answers', async () => {
  const answers: ((response: ServerResponse) => void)[] = [
    (response) => response.destroy(),
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('secret page'),
    (response) => response.writeHead(503).end('secret page'),
    (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"issuer":"https://secret.example"}'),
  ];
  for (const instead of answers) {
    forger.instead = instead;
    for (const name of ['forger', 'saml']) {
      const tested = await testOf(name);
      expect(tested.checks.map(({ ok }) => ok)).toEqual([false, false]);
      expect(JSON.stringify(tested)).not.toMatch(/secret|503|127\.0\.0\.1/);
    }
  }
  forger.instead = null;
});

// SSO-50
test('the test maps claims to a person, a role and teams, and writes nothing', async () => {
  const before = await databaseText(library);
  const { mapped } = await testOf('studio', {
    sub: 'new',
    preferred_username: 'mara',
    name: 'Mara Lind',
    email: 'mara@studio.example',
    email_verified: true,
    groups: ['editors', 'guests'],
  });
  expect(mapped).toEqual({
    username: 'mara',
    fullname: 'Mara Lind',
    email: 'mara@studio.example',
    email_verified: true,
    groups: ['editors', 'guests'],
    role: 'viewer',
    teams: [team],
    outcome: 'create',
  });
  expect(await outcomeOf({})).toEqual(['refuse', 'invalid']);
  expect(await outcomeOf({ sub: 7, preferred_username: [], groups: { a: 1 } })).toEqual([
    'refuse',
    'invalid',
  ]);
  const saml = await testOf('saml', {
    name_id: 'ole',
    attributes: { displayName: 'Ole', groups: 'editors' },
  });
  expect(saml.mapped).toMatchObject({
    username: 'ole',
    fullname: 'Ole',
    teams: [team],
    outcome: 'refuse',
    reason: 'not_invited',
  });
  expect(await databaseText(library)).toBe(before);
});

// SSO-50, SCIM-16
test('the test says to which account a sign-in would lead', async () => {
  const ada = await library.join('Ada');
  await setEmail(library, ada, 'ada@studio.example');
  expect(await outcomeOf({ sub: 'x', preferred_username: 'aDa' })).toEqual(['link', undefined]);
  expect(await outcomeOf({ sub: 'x', email: 'ADA@studio.example' })).toEqual(['link', undefined]);
  const directory = await openScim(library, root, 'studio');
  const { body } = await directory.send('POST', '/Users', { userName: 'ida', externalId: 'id-of-ida' });
  expect(await outcomeOf({ sub: 'id-of-ida' })).toEqual(['sign_in', undefined]);
  await setStatus(library, { ref: Number(body.id) }, 'disabled');
  expect(await outcomeOf({ sub: 'id-of-ida' })).toEqual(['refuse', 'inactive']);
  await root.ok('updateProvider', { params: { name: 'studio' }, body: { allowed_domains: ['a.example'] } });
  expect(await outcomeOf({ sub: 'x', preferred_username: 'new' })).toEqual(['refuse', 'domain']);
  await root.ok('updateProvider', {
    params: { name: 'studio' },
    body: { clear_allowed_domains: true, creation: 'invited' },
  });
  const invited = { sub: 'x', preferred_username: 'ivo', email: 'ivo@studio.example', email_verified: true };
  expect(await outcomeOf(invited)).toEqual(['refuse', 'not_invited']);
  await root.ok('createInvitation', { body: { email: 'ivo@studio.example' } });
  expect(await outcomeOf(invited)).toEqual(['create', undefined]);
});
