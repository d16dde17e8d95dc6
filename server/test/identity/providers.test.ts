import { describe, expect, test } from 'vitest';
import { openLibrary } from '../support/library.ts';
import { client } from '../support/openid.ts';
import { grant } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';
import { openProviders } from './open-providers.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { address, deps } = library;
const root = await library.join('root', 'admin');
const team = await addTeam(library, 'editors');
const { forger } = await openProviders(library, root, {
  role_mapping: [{ group: 'chiefs', role: 'admin' }],
});
const common = { kind: 'oidc', client_id: client.id, client_secret: client.secret } as const;

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
      VITRINE_OIDC_DEFAULT_ROLE: 'newcomer',
      VITRINE_SAML_METADATA_URL: 'https://login.example/metadata',
      VITRINE_SAML_ROLE_MAPPING: '[{"group":"Prints","role":"printer"}]',
    });
    const admin = await strict.join('root', 'admin');
    // ROLE-23
    for (const code of ['newcomer', 'printer']) {
      const { id } = await admin.ok('createRole', { body: { code, name: code, capabilities: [] } });
      expect((await admin.refused('deleteRole', { params: { id } })).error).toBe(
        'the role is used by identity providers',
      );
    }
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
