import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { databaseText } from '../support/database-text.ts';
import { openLibrary } from '../support/library.ts';
import { client, openBrowser, openProvider, type ProvidedPerson } from '../support/openid.ts';
import { anotherSession, bearer, grant, setEmail, setRole, setStatus } from '../support/people.ts';
import { openScim, type ScimAnswer, type ScimClient, sendScim, urns } from '../support/scim.ts';
import { countStatements } from '../support/statements.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { db } = library.deps;
const root = await library.join('root', 'admin');
const provider = await openProvider(library, 'studio');
afterAll(() => provider.close());
const team = await addTeam(library, 'editors');
const other = await addTeam(library, 'lookers');
const common = { kind: 'oidc', client_id: client.id, client_secret: client.secret } as const;
for (const name of ['studio', 'other'])
  await root.ok('createProvider', {
    body: {
      ...common,
      name,
      label: 'Studio account',
      issuer: provider.issuer,
      creation: 'first_sign_in',
      scopes: ['openid', 'profile', 'email', 'groups'],
      role_mapping: [
        { group: 'Chiefs', role: 'admin' },
        { group: 'Guests', role: 'viewer' },
      ],
      team_mapping: [
        { group: 'Editors', team_id: team },
        { group: 'Lookers', team_id: other },
      ],
    },
  });
const studio = await openScim(library, root, 'studio');

async function signIn(person: ProvidedPerson) {
  provider.person = person;
  const browser = openBrowser(library);
  return browser.follow(`${library.address}/api/v1/auth/oidc/studio/start`);
}

/** Creates a user and returns its id. */
async function addUser(userName: string, more: object = {}, directory: ScimClient = studio): Promise<string> {
  const { status, body } = await directory.send('POST', '/Users', {
    schemas: [urns.user],
    userName,
    active: true,
    ...more,
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id ?? '';
}

async function addGroup(displayName: string, ids: readonly string[] = []): Promise<string> {
  const members = ids.map((value) => ({ value }));
  const { status, body } = await studio.send('POST', '/Groups', {
    schemas: [urns.group],
    displayName,
    members,
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id ?? '';
}

async function accountOf(id: string) {
  return db
    .selectFrom('users as u')
    .innerJoin('roles as r', 'r.id', 'u.role_id')
    .select(['u.username', 'u.fullname', 'u.email', 'u.status', 'u.provider', 'r.code as role'])
    .where('u.ref', '=', Number(id))
    .executeTakeFirst();
}

async function teamsOf(id: string) {
  const rows = await db
    .selectFrom('team_members')
    .select('team_id')
    .where('user_ref', '=', Number(id))
    .execute();
  return rows.map(({ team_id }) => team_id).sort();
}

const namesOf = ({ body }: ScimAnswer) => body.Resources?.map(({ userName }) => userName);
const search = async (filter: string, more = '') =>
  studio.send('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`);

describe('tokens', () => {
  // SCIM-1
  test('are shown once, stored as SHA-256, listed and revoked', async () => {
    const made = await root.ok('createScimToken', {
      params: { name: 'studio' },
      body: { name: 'Entra', expires_at: '2040-05-06T07:08:09Z' },
    });
    expect(made).toMatchObject({
      name: 'Entra',
      last_used_at: null,
      token: expect.stringMatching(/^vt_scim_/),
    });
    const text = await databaseText(library);
    expect(text).toContain(createHash('sha256').update(made.token).digest('hex'));
    expect(text).not.toContain(made.token.slice('vt_scim_'.length));
    const ask = () => sendScim(library, `Bearer ${made.token}`, { method: 'GET', path: '/Users' });
    expect((await ask()).status).toBe(200);
    const { items } = await root.ok('listScimTokens', { params: { name: 'studio' } });
    expect(items[0]).toMatchObject({ id: made.id, last_used_at: expect.any(String) });
    expect(items[0]).not.toHaveProperty('token');
    const wrong = { params: { name: 'other', id: made.id } };
    expect((await root.refused('deleteScimToken', wrong)).status).toBe(404);
    await root.ok('deleteScimToken', { params: { name: 'studio', id: made.id } });
    expect(await ask()).toMatchObject({
      status: 401,
      body: { schemas: [urns.error], status: '401', detail: expect.any(String) },
    });
  });

  // SCIM-1
  test('need the rights that the mapping gives, and a provider', async () => {
    const operator = await library.join('operator');
    await grant(library, operator, ['system.config.write', 'system.config.read']);
    const body = { name: 'x' };
    expect((await operator.refused('createScimToken', { params: { name: 'studio' }, body })).status).toBe(
      403,
    );
    expect((await root.refused('createScimToken', { params: { name: 'nothing' }, body })).status).toBe(404);
    const past = { name: 'x', expires_at: '2020-01-01T00:00:00Z' };
    expect((await root.refused('createScimToken', { params: { name: 'studio' }, body: past })).status).toBe(
      400,
    );
  });

  // SCIM-2
  test('are valid at SCIM only, and nothing else is valid there', async () => {
    const asApi = await fetch(`${library.address}/api/v1/me`, {
      headers: { authorization: `Bearer ${studio.token}` },
    });
    expect(asApi.status).toBe(401);
    const personal = await bearer(library, root, ['admin']);
    expect((await personal.send('/scim/v2/Users')).status).toBe(401);
    expect((await root.send('/scim/v2/Users')).status).toBe(401);
    for (const credential of [null, 'Bearer vt_scim_', `Basic ${studio.token}`, `Bearer ${studio.token}x`])
      expect((await sendScim(library, credential, { method: 'GET', path: '/Users' })).status).toBe(401);
    await db
      .updateTable('scim_tokens')
      .set({ expires_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', studio.id)
      .execute();
    expect((await studio.send('GET', '/Users')).status).toBe(401);
    await db.updateTable('scim_tokens').set({ expires_at: null }).where('id', '=', studio.id).execute();
  });
});

describe('the service', () => {
  // SCIM-4
  test('describes itself', async () => {
    const config = await studio.send('GET', '/ServiceProviderConfig');
    expect(config).toMatchObject({
      status: 200,
      type: 'application/scim+json; charset=utf-8',
      body: { patch: { supported: true }, bulk: { supported: false }, filter: { supported: true } },
    });
    const types = await studio.send('GET', '/ResourceTypes');
    expect(types.body.Resources?.map(({ id }) => id)).toEqual(['User', 'Group']);
    expect((await studio.send('GET', '/ResourceTypes/User')).body.endpoint).toBe('/Users');
    const described = await studio.send('GET', `/Schemas/${urns.user}`);
    const names = described.body.attributes?.map(({ name }) => name);
    expect(names).toEqual(['userName', 'externalId', 'name', 'displayName', 'emails', 'active', 'groups']);
    expect((await studio.send('GET', '/Schemas')).body.totalResults).toBe(2);
  });

  // SCIM-4
  test('refuses what it cannot read in the form of SCIM, and never with 500', async () => {
    const bad: [string, string, unknown, number][] = [
      ['POST', '/Users', '{"userName": "x"', 400],
      ['POST', '/Users', 'null', 400],
      ['POST', '/Users', '[]', 400],
      ['POST', '/Users', {}, 400],
      ['POST', '/Users', { userName: 7 }, 400],
      ['POST', '/Users', { userName: ' x ' }, 400],
      ['POST', '/Users', { userName: 'x'.repeat(101) }, 400],
      ['POST', '/Users', { userName: 'nul \0' }, 400],
      ['POST', '/Users', '{"userName": "\\ud800"}', 400],
      ['POST', '/Users', { userName: 'a', USERNAME: 'b' }, 400],
      ['POST', '/Users', { userName: 'a', emails: [{ value: 'no address' }] }, 400],
      ['POST', '/Users', { userName: 'a', emails: 'x' }, 400],
      ['POST', '/Users', { userName: 'a', name: 'x' }, 400],
      ['POST', '/Users', { userName: 'a', active: 'perhaps' }, 400],
      ['POST', '/Users', { userName: 'a', externalId: { a: 1 } }, 400],
      ['POST', '/Users', `${'[1,'.repeat(2000)}1${']'.repeat(2000)}`, 400],
      ['POST', '/Users', { userName: 'x'.repeat(1_100_000) }, 413],
      ['POST', '/Groups', { displayName: '' }, 400],
      ['POST', '/Groups', { displayName: 'g', members: [{ value: 'nobody' }] }, 400],
      ['POST', '/Groups', { displayName: 'g', members: [{}] }, 400],
      ['POST', '/Groups', { displayName: 'g', members: 'x' }, 400],
      ['GET', '/Users/none', undefined, 404],
      ['GET', '/Users/999999999999999', undefined, 404],
      ['GET', `/Users/${root.ref}`, undefined, 404],
      ['DELETE', `/Users/${root.ref}`, undefined, 404],
      ['GET', '/Groups/none', undefined, 404],
      ['GET', '/Nothing', undefined, 404],
      ['POST', '/Nothing/a', {}, 404],
      ['DELETE', '/Users', undefined, 405],
      ['GET', '/Users?count=many', undefined, 400],
    ];
    for (const [method, path, body, due] of bad) {
      const { status, body: error } = await studio.send(method, path, body);
      const label = `${method} ${path} ${JSON.stringify(body)?.slice(0, 60)}`;
      expect({ label, status }).toEqual({ label, status: due });
      expect(error).toMatchObject({ schemas: [urns.error], status: String(due), detail: expect.any(String) });
    }
    expect((await studio.send('POST', '/Users', 'x=1', 'application/x-www-form-urlencoded')).status).toBe(
      415,
    );
  });
});

describe('users', () => {
  // SCIM-10, SCIM-11
  test('are accounts of the provider with its default role; unknown attributes are ignored', async () => {
    const made = await studio.send(
      'POST',
      '/Users',
      {
        schemas: [urns.user, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
        userName: 'Mara@Studio.example',
        externalId: 'id-1',
        name: { givenName: 'Mara', familyName: 'Lind' },
        displayName: 'Mara L.',
        emails: [
          { value: 'private@example.org', type: 'home' },
          { value: 'mara@studio.example', type: 'work', primary: 'True' },
        ],
        title: 'Editor',
        password: 'is not taken over',
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Film' },
      },
      'application/json',
    );
    const { id = '' } = made.body;
    expect(made).toMatchObject({
      status: 201,
      location: `${library.address}/api/v1/scim/v2/Users/${id}`,
      body: { userName: 'Mara@Studio.example', externalId: 'id-1', active: true, groups: [] },
    });
    expect(made.body.meta).toMatchObject({ resourceType: 'User', location: made.location });
    expect(await accountOf(id)).toEqual({
      username: 'Mara@Studio.example',
      fullname: 'Mara Lind',
      email: 'mara@studio.example',
      status: 'active',
      provider: 'studio',
      role: 'member',
    });
    expect(await auditEvents(library, { event: 'user.created', subject_user_ref: Number(id) })).toMatchObject(
      [{ metadata: { provider: 'studio' } }],
    );
    const elsewhere = await openScim(library, root, 'other');
    expect((await elsewhere.send('GET', `/Users/${id}`)).status).toBe(404);
    expect((await elsewhere.send('GET', '/Users')).body.totalResults).toBe(0);
  });

  // SCIM-13
  test('have names, external ids and e-mails that no other account has, in any spelling', async () => {
    const ada = await library.join('Ada');
    await db
      .updateTable('users')
      .set({ email: 'ada@studio.example', email_key: 'ada@studio.example' })
      .where('ref', '=', ada.ref)
      .execute();
    const id = await addUser('straße', { externalId: 'Id-2' });
    const attempts = [
      { userName: 'STRASSE' },
      { userName: 'stra\u00dfe', externalId: 'other' },
      { userName: 'aDa' },
      { userName: 'new one', externalId: 'Id-2' },
      { userName: 'new one', emails: [{ value: 'ADA@studio.example' }] },
    ];
    for (const user of attempts)
      expect(await studio.send('POST', '/Users', user), JSON.stringify(user)).toMatchObject({
        status: 409,
        body: { scimType: 'uniqueness' },
      });
    expect(
      (await studio.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: 'ada' })).status,
    ).toBe(409);
    expect(
      (await studio.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: 'STRASSE' })).status,
    ).toBe(200);
    // REGISTER-3: everybody may register with any address.
    const squatter = await library.join('squatter');
    await sql`update users set email = 'lea@studio.example', email_key = 'lea@studio.example', status = 'pending',
      registration = 'unverified' where ref = ${squatter.ref}`.execute(db);
    await addUser('lea', { emails: [{ value: 'lea@studio.example' }] });
    // The case of external ids counts.
    await addUser('new one', { externalId: 'id-2' });
  });

  // SCIM-13
  test('are created once by concurrent requests', async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, () =>
        studio.send('POST', '/Users', { userName: 'twin', externalId: 'twin' }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  // SCIM-5
  test('are found by filters', async () => {
    await addUser('Find@studio.example', {
      externalId: 'Ext-9',
      displayName: 'Find Me',
      emails: [{ value: 'find@mail.example' }],
    });
    await addUser('hide@studio.example', { active: false, externalId: 'STUDIO\\hide' });
    const hits: [string, string[]][] = [
      ['userName eq "find@STUDIO.example"', ['Find@studio.example']],
      ['USERNAME Eq "find@studio.example"', ['Find@studio.example']],
      ['externalId eq "Ext-9"', ['Find@studio.example']],
      ['externalId eq "ext-9"', []],
      ['displayName eq "find me"', ['Find@studio.example']],
      ['userName eq "find@studio.example" and active eq true', ['Find@studio.example']],
      ['userName eq "find@studio.example" and active eq false', []],
      [
        '(externalId eq "Ext-9" or userName eq "hide@studio.example") and not (active eq true)',
        ['hide@studio.example'],
      ],
      ['emails[type eq "work"].value eq "FIND@mail.example"', ['Find@studio.example']],
      ['emails[value eq "FIND@mail.example"]', ['Find@studio.example']],
      ['emails[type eq "work" and value sw "find@"]', ['Find@studio.example']],
      ['emails[value eq "none@mail.example"]', []],
      ['userName sw "find@" and externalId pr', ['Find@studio.example']],
      ['userName co "%"', []],
      ['externalId eq "STUDIO\\\\hide"', ['hide@studio.example']],
      [
        'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "hide@studio.example"',
        ['hide@studio.example'],
      ],
      ['userName eq "x" or meta.created lt "2001-01-01T00:00:00Z"', []],
    ];
    for (const [filter, due] of hits) expect(namesOf(await search(filter)), filter).toEqual(due);
    for (const filter of [
      'userName',
      'userName eq',
      'userName eq x',
      'userName eq "x" and',
      'userName eq "x")',
      'userName eq 7',
      'userName eq "\0"',
      'active co "t"',
      'password eq "x"',
      'emails[color eq "x"]',
      'meta.created gt "soon"',
      '('.repeat(1000),
      `userName eq "x"${' or userName eq "x"'.repeat(60)}`,
      'x'.repeat(5000),
      "userName eq 'x' ; drop table users",
    ])
      expect(await search(filter), filter.slice(0, 50)).toMatchObject({
        status: 400,
        body: { scimType: 'invalidFilter' },
      });
  });

  // SCIM-6
  test('are listed in pages, with the attributes that are asked for', async () => {
    const total = (await studio.send('GET', '/Users?count=0')).body.totalResults;
    expect(total).toBeGreaterThan(3);
    const page = await studio.send('GET', '/Users?startIndex=2&count=2');
    expect(page.body).toMatchObject({
      schemas: [urns.list],
      totalResults: total,
      startIndex: 2,
      itemsPerPage: 2,
    });
    const all = namesOf(await studio.send('GET', '/Users?startIndex=-5&count=100000'));
    expect(namesOf(page)).toEqual(all?.slice(1, 3));
    for (const many of ['1000000', '9'.repeat(30)])
      expect((await studio.send('GET', `/Users?startIndex=${many}`)).body.Resources).toEqual([]);
    expect(namesOf(await studio.send('GET', '/Users?count=2147483647'))).toEqual(all);
    const [some] = (await studio.send('GET', '/Users?count=1&attributes=userName')).body.Resources ?? [];
    expect(Object.keys(some ?? {}).sort()).toEqual(['id', 'meta', 'schemas', 'userName']);
    const without = await studio.send('GET', '/Users?count=1&excludedAttributes=groups,emails');
    const rest = Object.keys(without.body.Resources?.[0] ?? {});
    expect(rest).not.toContain('groups');
    expect(rest).toContain('userName');
  });

  // SCIM-7, SCIM-11
  test('are changed by PATCH as Entra ID, Okta and RFC 7644 write it', async () => {
    const id = await addUser('patched', { name: { givenName: 'A', familyName: 'B' }, externalId: 'p' });
    const changed = await studio.patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'displayName', value: 'Shown' },
      { op: 'Add', path: 'emails[type eq "work"].value', value: 'first@studio.example' },
      {
        op: 'Add',
        value: { 'name.familyName': 'C', 'urn:ietf:params:scim:schemas:core:2.0:User:externalId': 'q' },
      },
      {
        op: 'Replace',
        path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
        value: 'x',
      },
      { op: 'Add', path: 'title', value: 'unknown here' },
    );
    expect(changed).toMatchObject({
      status: 200,
      body: {
        displayName: 'Shown',
        externalId: 'q',
        name: { givenName: 'A', familyName: 'C' },
        emails: [{ type: 'work', value: 'first@studio.example' }],
      },
    });
    expect(await accountOf(id)).toMatchObject({ fullname: 'A C', email: 'first@studio.example' });
    await studio.patch(
      `/Users/${id}`,
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'next@studio.example' },
      { op: 'add', path: 'emails', value: [{ value: 'home@studio.example', type: 'home' }] },
      { op: 'remove', path: 'name' },
      { op: 'REMOVE', path: 'externalId' },
    );
    const { body } = await studio.send('GET', `/Users/${id}`);
    expect(body.emails?.map(({ value }) => value)).toEqual(['next@studio.example', 'home@studio.example']);
    expect(body).not.toHaveProperty('externalId');
    await studio.patch(`/Users/${id}`, { op: 'remove', path: 'emails[type eq "home"]' });
    expect((await studio.send('GET', `/Users/${id}`)).body.emails).toHaveLength(1);
    const replaced = await studio.send('PUT', `/Users/${id}`, { userName: 'patched anew' });
    expect(replaced.body).not.toHaveProperty('emails');
    expect(await accountOf(id)).toMatchObject({ username: 'patched anew', fullname: null, email: null });
    const emails = [
      { value: 'old@studio.example', type: 'work', primary: true },
      { value: 'new@studio.example', type: 'home' },
    ];
    await studio.send('PUT', `/Users/${id}`, { userName: 'patched', emails });
    // Only one is primary, values are compared regardless of case, and a value that is added again is not there twice.
    await studio.patch(
      `/Users/${id}`,
      { op: 'add', path: 'emails[type eq "HOME"].primary', value: 'True' },
      { op: 'add', path: 'emails', value: [{ value: 'Old@studio.example', type: 'work' }] },
    );
    expect(await accountOf(id)).toMatchObject({ email: 'new@studio.example' });
    expect((await studio.send('GET', `/Users/${id}`)).body.emails).toEqual([
      { value: 'new@studio.example', type: 'home', primary: true },
      { value: 'Old@studio.example', type: 'work' },
    ]);
    await studio.patch(`/Users/${id}`, {
      op: 'add',
      value: { emails: [{ value: 'last@studio.example', primary: true }] },
    });
    expect(await accountOf(id)).toMatchObject({ email: 'last@studio.example' });
    for (const [operation, type] of [
      [{ op: 'move', path: 'userName' }, 'invalidSyntax'],
      [{ op: 'remove' }, 'noTarget'],
      [{ op: 'replace', path: 'emails[', value: 'x' }, 'invalidPath'],
      [{ op: 'replace', path: 'emails[type eq "x"', value: 'x' }, 'invalidPath'],
      [{ op: 'replace', path: 7, value: 'x' }, 'invalidPath'],
      [{ op: 'replace', path: 'id', value: '1' }, 'mutability'],
      [{ op: 'add', path: 'groups', value: [] }, 'mutability'],
      [{ op: 'remove', path: 'userName' }, 'invalidValue'],
      [{ op: 'replace', path: 'name', value: 'x' }, 'invalidSyntax'],
      [{ op: 'replace', path: 'emails[value sw "x"].value', value: { toString: 1 } }, 'invalidValue'],
      ['no operation', 'invalidSyntax'],
    ] as const)
      expect(await studio.patch(`/Users/${id}`, operation), JSON.stringify(operation)).toMatchObject({
        status: 400,
        body: { scimType: type },
      });
    expect((await studio.send('PATCH', `/Users/${id}`, { Operations: [] })).status).toBe(400);
  });

  // SCIM-12
  test('lose sessions and tokens at once when they are disabled', async () => {
    const id = await addUser('leaver', { emails: [{ value: 'leaver@studio.example' }] });
    // SCIM-13: another account with the e-mail, which the directory does not change, is no obstacle.
    const alias = await library.join('alias of leaver');
    await setEmail(library, alias, 'LEAVER@studio.example');
    const session = await anotherSession(library, { ref: Number(id) });
    const token = await bearer(library, { ref: Number(id) }, ['read']);
    await session.ok('getMe');
    const disabled = await studio.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
    expect(disabled).toMatchObject({ status: 200, body: { active: false } });
    expect([await session.status('GET', '/me'), await token.status('GET', '/me')]).toEqual([401, 401]);
    const enabled = await studio.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
    expect(enabled.body.active).toBe(true);
    // They do not return with the account.
    expect([await session.status('GET', '/me'), await token.status('GET', '/me')]).toEqual([401, 401]);
  });

  // SCIM-12
  test('stay disabled if a person disabled them', async () => {
    const id = await addUser('banned');
    const params = { ref: Number(id) };
    await root.ok('setUserStatus', { params, body: { status: 'disabled' } });
    expect(
      (await studio.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })).body.active,
    ).toBe(false);
    await root.ok('setUserStatus', { params, body: { status: 'active' } });
    await studio.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    await root.ok('setUserStatus', { params, body: { status: 'disabled' } });
    expect(
      (await studio.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })).body.active,
    ).toBe(false);
  });

  // SCIM-15
  test('are archived by DELETE, and the same account when they are created again', async () => {
    const id = await addUser('returner', { externalId: 'returns' });
    await addGroup('Lookers of returner', [id]);
    const session = await anotherSession(library, { ref: Number(id) });
    expect((await studio.send('DELETE', `/Users/${id}`)).status).toBe(204);
    expect(await accountOf(id)).toMatchObject({ status: 'archived' });
    expect(await session.status('GET', '/me')).toBe(401);
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { userName: 'returner' }],
      ['DELETE', undefined],
    ] as const)
      expect((await studio.send(method, `/Users/${id}`, body)).status).toBe(404);
    expect(namesOf(await search('userName eq "returner"'))).toEqual([]);
    const stranger = { userName: 'returner', externalId: 'somebody else' };
    expect((await studio.send('POST', '/Users', stranger)).status).toBe(409);
    const returner = { userName: 'returner', externalId: 'returns' };
    const again = await studio.send('POST', '/Users', returner);
    expect(again).toMatchObject({ status: 201, body: { id, active: true, groups: [] } });
    // SCIM-12
    for (const status of ['disabled', 'archived'] as const) {
      await root.ok('setUserStatus', { params: { ref: Number(id) }, body: { status } });
      expect((await studio.send('DELETE', `/Users/${id}`)).status).toBe(204);
      expect((await studio.send('GET', `/Users/${id}`)).status).toBe(404);
      const back = await studio.send('POST', '/Users', { ...returner, active: true });
      expect(back).toMatchObject({ status: 201, body: { id, active: false } });
      expect(await accountOf(id)).toMatchObject({ status });
    }
  });

  // SCIM-14
  test('and groups never take away the last administrator', async () => {
    const id = await addUser('chief');
    const group = await addGroup('Chiefs', [id]);
    expect(await accountOf(id)).toMatchObject({ role: 'admin' });
    await setRole(library, root, 'member');
    const refused = [
      await studio.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
      await studio.send('DELETE', `/Users/${id}`),
      await studio.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${id}"]` }),
      await studio.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'No more' }),
      await studio.send('DELETE', `/Groups/${group}`),
    ];
    await setRole(library, root, 'admin');
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409]);
    expect(await accountOf(id)).toMatchObject({ role: 'admin', status: 'active' });
    expect((await studio.send('DELETE', `/Groups/${group}`)).status).toBe(204);
    expect(await accountOf(id)).toMatchObject({ role: 'member' });
  });
});

describe('groups', () => {
  // SCIM-20, SCIM-21, SCIM-22
  test('give roles and teams by their names, and take away only what they gave', async () => {
    const [one, two] = [await addUser('one'), await addUser('two')];
    const editors = await addGroup('Editors', [one]);
    const guests = await addGroup('Guests');
    expect([await teamsOf(one), await teamsOf(two)]).toEqual([[team], []]);
    const added = await studio.patch(`/Groups/${guests}`, {
      op: 'Add',
      path: 'members',
      value: [{ value: one }, { value: two }],
    });
    expect(added.body.members?.map(({ value }) => value)).toEqual([one, two]);
    expect((await accountOf(two))?.role).toBe('viewer');
    // A person takes the role over.
    const member = (await root.ok('listRoles')).items.find(({ code }) => code === 'member')?.id ?? '';
    await root.ok('setUserRole', { params: { ref: Number(two) }, body: { role_id: member } });
    await root.ok('addTeamMember', { params: { id: team, user_ref: Number(two) } });
    await studio.patch(`/Groups/${editors}`, { op: 'add', path: 'members', value: { value: two } });
    await studio.patch(`/Groups/${editors}`, { op: 'remove', path: 'members', value: [{ value: two }] });
    await studio.patch(`/Groups/${guests}`, { op: 'Remove', path: `members[value eq "${one}"]` });
    expect([(await accountOf(one))?.role, (await accountOf(two))?.role]).toEqual(['member', 'member']);
    expect([await teamsOf(one), await teamsOf(two)]).toEqual([[team], [team]]);
    expect((await studio.send('GET', `/Users/${one}`)).body.groups).toMatchObject([
      { value: editors, display: 'Editors' },
    ]);
    // Okta sends the id with a new name.
    await studio.patch(`/Groups/${editors}`, {
      op: 'replace',
      value: { id: editors, displayName: 'Lookers' },
    });
    expect(await teamsOf(one)).toEqual([other]);
    const replaced = { displayName: 'Editors', externalId: 'e', members: [{ value: two }] };
    expect((await studio.send('PUT', `/Groups/${editors}`, replaced)).body).toMatchObject({
      externalId: 'e',
    });
    expect([await teamsOf(one), await teamsOf(two)]).toEqual([[], [team]]);
    expect((await studio.send('DELETE', `/Groups/${editors}`)).status).toBe(204);
    expect(await teamsOf(two)).toEqual([team]);
    await studio.send('DELETE', `/Groups/${guests}`);
  });

  // SCIM-5, SCIM-13, SCIM-20, SCIM-23
  test('are found by name, have one name each, and a bounded number of members', async () => {
    const id = await addGroup('Ärzte');
    for (const displayName of ['ÄRZTE', 'A\u0308rzte'])
      expect((await studio.send('POST', '/Groups', { displayName })).body).toMatchObject({
        scimType: 'uniqueness',
      });
    const filter = encodeURIComponent('displayName eq "ärzte"');
    const found = await studio.send('GET', `/Groups?filter=${filter}&excludedAttributes=members`);
    expect(found.body.Resources).toMatchObject([{ id, displayName: 'Ärzte' }]);
    expect(found.body.Resources?.[0]).not.toHaveProperty('members');
    const members = Array.from({ length: 10_001 }, (_, at) => ({ value: String(at) }));
    expect((await studio.send('PUT', `/Groups/${id}`, { displayName: 'Ärzte', members })).status).toBe(413);
  });

  // SCIM-21
  test('count together with the groups of the last sign-in', async () => {
    const id = await addUser('both', { externalId: 'id-of-both' });
    expect(await signIn({ sub: 'id-of-both', preferred_username: 'both', groups: ['Lookers'] })).toBe('/');
    const group = await addGroup('Editors', [id]);
    expect(await teamsOf(id)).toEqual([team, other].sort());
    await signIn({ sub: 'id-of-both', preferred_username: 'both' });
    expect(await teamsOf(id)).toEqual([team]);
    await studio.send('DELETE', `/Groups/${group}`);
    expect(await teamsOf(id)).toEqual([]);
  });
});

describe('the first sign-in', () => {
  // SCIM-16
  test('is to the account with the subject as external id, else with the claimed name', async () => {
    const [byId, byName] = [
      await addUser('ida@studio.example', { externalId: 'id-of-ida' }),
      await addUser('Nino', { externalId: 'another id' }),
    ];
    expect(await signIn({ sub: 'id-of-ida', preferred_username: 'someone' })).toBe('/');
    expect(await signIn({ sub: 'id-of-nino', preferred_username: 'nino', name: 'Nino N' })).toBe('/');
    expect((await accountOf(byName))?.fullname).toBe('Nino N');
    // The account has an identity now.
    expect(await signIn({ sub: 'id-of-another-nino', preferred_username: 'nino' })).toBe(
      '/sign-in?step=link',
    );
    await addUser('oona');
    expect(await signIn({ sub: 'id-of-oona', email: 'oona@elsewhere.example' })).toBe('/sign-in?step=link');
    await studio.patch(`/Users/${byId}`, { op: 'replace', path: 'active', value: false });
    expect(await signIn({ sub: 'id-of-ida', preferred_username: 'someone' })).toBe('/sign-in?error=inactive');
    await addUser('pia', { active: false });
    expect(await signIn({ sub: 'id-of-pia', preferred_username: 'pia' })).toBe('/sign-in?error=inactive');
  });

  // SCIM-10
  test('makes accounts that the directory finds and takes over', async () => {
    await signIn({ sub: 'id-of-sid', preferred_username: 'sid', name: 'Sid', email: 'sid@studio.example' });
    const { body } = await search('userName eq "SID"');
    const { id, emails } = body.Resources?.[0] ?? {};
    expect(emails).toEqual([{ value: 'sid@studio.example', primary: true }]);
    expect((await studio.patch(`/Users/${id}`, { op: 'add', path: 'externalId', value: 'sid' })).status).toBe(
      200,
    );
    expect(namesOf(await search('externalId eq "sid"'))).toEqual(['sid']);
    await setStatus(library, { ref: Number(id) }, 'archived');
    expect((await studio.send('GET', `/Users/${id}`)).body.active).toBe(false);
  });
});

// SCIM-21
test('maps a group of many members with as many statements as one of few', async () => {
  const group = await addGroup('Lookers');
  const statementsFor = async (count: number) => {
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) ids.push(await addUser(`many-${count}-${at}`));
    const value = ids.map((id) => ({ value: id }));
    const change = (op: string) => studio.patch(`/Groups/${group}`, { op, path: 'members', value });
    const [, added] = await countStatements(library, () => change('add'));
    expect(await teamsOf(ids.at(-1) ?? '')).toEqual([other]);
    const [, removed] = await countStatements(library, () => change('remove'));
    expect(await teamsOf(ids.at(-1) ?? '')).toEqual([]);
    return [added, removed];
  };
  expect(await statementsFor(8)).toEqual(await statementsFor(2));
  expect((await studio.send('DELETE', `/Groups/${group}`)).status).toBe(204);
});

// TEAM-9, NOTICE-18
test('notifies the members of a team of a new one, and of more than 20 at once only the new ones', async () => {
  const crowdOf = async (name: string, count: number) => {
    const { rows } = await sql<{ ref: string }>`
      insert into users (username, username_key, provider, provider_subject, role_id)
      select ${name} || n, ${name} || n, 'studio', ${name} || n, (select id from roles where code = 'member')
      from generate_series(1, ${count}::integer) n returning ref::text`.execute(db);
    return rows.map(({ ref }) => ref);
  };
  const hall = await addTeam(library, 'hall');
  const member = await library.join('member of the hall');
  await root.ok('addTeamMember', { params: { id: hall, user_ref: member.ref } });
  const { team_mapping } = await root.ok('getProvider', { params: { name: 'studio' } });
  const mapping = [...team_mapping, { group: 'Hall', team_id: hall }];
  await root.ok('updateProvider', { params: { name: 'studio' }, body: { team_mapping: mapping } });
  await library.runJobs();
  const notified = async () => {
    await library.runJobs();
    const { rows } = await sql<{ user_ref: number; count: number; actors: number }>`
      select user_ref, count(*)::integer as count, count(actor_user_ref)::integer as actors from notifications
      where team_id = ${hall} and member_user_ref <> ${member.ref} group by user_ref`.execute(db);
    return rows;
  };
  const [few, many] = [await crowdOf('few', 2), await crowdOf('many', 21)];
  const group = await addGroup('Hall', few);
  const everyone = [member.ref, ...few.map(Number)].map((user_ref) => ({ user_ref, count: 2, actors: 0 }));
  expect(await notified()).toEqual(expect.arrayContaining(everyone));
  expect((await member.ok('listNotifications')).items.map(({ kind }) => kind)).toContain('team_member_added');
  const members = many.map((value) => ({ value }));
  await studio.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: members });
  const selves = many.map((ref) => ({ user_ref: Number(ref), count: 1, actors: 0 }));
  const all = await notified();
  expect(all).toHaveLength(everyone.length + selves.length);
  expect(all).toEqual(expect.arrayContaining([...everyone, ...selves]));
});

// MERGE-5
test('merging two accounts of a directory makes one user with the groups of both, and merging into a local account does not', async () => {
  const [from, into] = [await addUser('merged', { externalId: 'merged-1' }), await addUser('remains')];
  const group = await addGroup('Lookers', [from]);
  const merge = (ref: string, to: string | number) =>
    root.ok('mergeUser', { params: { ref: Number(ref) }, body: { into: Number(to) } });
  await merge(from, into);
  expect((await studio.send('GET', `/Users/${from}`)).status).toBe(404);
  const { body } = await search('externalId eq "merged-1"');
  expect(body.Resources?.map(({ id, groups }) => [id, groups?.length])).toEqual([[into, 1]]);
  // A later user of the name does not open the merged account.
  const later = await studio.send('POST', '/Users', { userName: 'merged', externalId: 'merged-2' });
  expect(later.body).toMatchObject({ id: from, active: false });
  const local = await library.join('local person');
  await merge(into, local.ref);
  expect((await studio.send('GET', `/Users/${into}`)).body).toMatchObject({ id: into, active: false });
  expect((await studio.send('DELETE', `/Groups/${group}`)).status).toBe(204);
});

// SCIM-3
test('removing a provider removes its tokens and groups, and keeps the accounts', async () => {
  await root.ok('createProvider', {
    body: { ...common, name: 'brief', label: 'Brief', issuer: provider.issuer },
  });
  const brief = await openScim(library, root, 'brief');
  const id = await addUser('stays', {}, brief);
  await brief.send('POST', '/Groups', { displayName: 'Brief' });
  await root.ok('deleteProvider', { params: { name: 'brief' } });
  expect((await brief.send('GET', '/Users')).status).toBe(401);
  expect(await accountOf(id)).toMatchObject({ status: 'active' });
  await root.ok('createProvider', {
    body: { ...common, name: 'brief', label: 'Brief', issuer: provider.issuer },
  });
  expect((await brief.send('GET', '/Users')).status).toBe(401);
  expect((await (await openScim(library, root, 'brief')).send('GET', '/Groups')).body.totalResults).toBe(0);
});
