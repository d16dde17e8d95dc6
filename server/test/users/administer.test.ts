import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { isHash } from '../../src/people/identity/hash-forms.ts';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { addAccount, anotherSession, bearer, grant, nowhere, signIn } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { db } = library.deps;
const root = await library.join('root', 'admin');
/** Sees and writes accounts, but no personal data. */
const clerk = await library.join('clerk');
await grant(library, clerk, ['users.read', 'users.write']);

const change = (by: Account, { ref }: Pick<Account, 'ref'>, body: object) =>
  by.send(`/admin/users/${ref}`, { method: 'PATCH', body });
const shown = ({ ref }: Pick<Account, 'ref'>) => root.ok('getAdminUser', { params: { ref } });
/** Not at a full second, which is returned without a fraction. */
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d{3}Z$/, '.125Z');
/** Lets an account expire a moment ago. */
const expire = async ({ ref }: Pick<Account, 'ref'>): Promise<void> => {
  await db
    .updateTable('users')
    .set({ expires_at: sql<string>`now() - interval '1 millisecond'` })
    .where('ref', '=', ref)
    .execute();
};

// USER-19
describe('PATCH /admin/users/{ref}', () => {
  test('changes names, e-mail, language, quota and expiry, and removes them', async () => {
    const mara = await library.join('mara');
    const expires_at = inAnHour();
    const body = {
      fullname: 'Mara Lind',
      display_name: 'Mara',
      email: 'mara@example.org',
      language: 'de-AT',
      quota_bytes: 1000,
      expires_at,
    };
    const { quota_bytes, ...visible } = body;
    expect(await root.ok('updateAdminUser', { params: mara, body })).toMatchObject(visible);
    expect((await mara.ok('getOwnQuota')).own_bytes).toBe(quota_bytes);
    expect((await mara.ok('getMe')).language).toBe('de-AT');
    const events = await auditEvents(library, { event: 'user.updated', subject_user_ref: mara.ref });
    expect(events.map(({ metadata }) => metadata)).toEqual([{ changed: Object.keys(body).sort() }]);
    const cleared = Object.fromEntries(Object.keys(body).map((name) => [`clear_${name}`, true]));
    expect(await root.ok('updateAdminUser', { params: mara, body: cleared })).toMatchObject({
      fullname: null,
      display_name: 'mara',
      own_display_name: null,
      email: null,
      language: '',
      expires_at: null,
    });
  });

  test.each([
    { email: 'nobody' },
    { language: 'not a language' },
    { quota_bytes: -1 },
    { expires_at: '2020-01-01T00:00:00.000Z' },
    { fullname: 'X', clear_fullname: true },
    { username: 'other' },
  ])('refuses %j with 400 and writes nothing', async (body) => {
    expect((await change(root, clerk, { display_name: 'New', ...body })).status).toBe(400);
    expect((await shown(clerk)).display_name).toBe('clerk');
  });

  // ROLE-10
  test('refuses accounts with more capabilities, callers without `users.write` and unknown accounts', async () => {
    const plain = await library.join('plain');
    expect((await change(clerk, root, { fullname: 'New' })).status).toBe(403);
    expect((await change(plain, clerk, { fullname: 'New' })).status).toBe(403);
    expect((await change(clerk, plain, { fullname: 'New' })).status).toBe(200);
    expect((await change(root, { ref: 999_999 }, { fullname: 'New' })).status).toBe(404);
    // USER-8
    expect(JSON.parse((await change(clerk, plain, { email: 'p@example.org' })).text)).not.toHaveProperty(
      'email',
    );
  });

  // ROLE-11
  test('refuses to let the last administrator expire', async () => {
    const { status, text } = await change(root, root, { expires_at: inAnHour() });
    expect([status, text]).toEqual([400, expect.stringContaining('without an administrator')]);
  });
});

// USER-18
describe('an expired account', () => {
  test('is refused like a disabled one, with sessions, tokens and passwords, until it is extended', async () => {
    const nina = await library.join('nina');
    const script = await bearer(library, nina, ['read']);
    const tries = async () => [
      await nina.status('GET', '/me'),
      await script.status('GET', '/me'),
      (await signIn(library, 'nina')).status,
    ];
    expect(await tries()).toEqual([200, 200, 200]);
    await expire(nina);
    expect(await tries()).toEqual([401, 401, 401]);
    expect((await shown(nina)).sign_in).toMatchObject({ possible: false, obstacle: 'expired' });
    await change(root, nina, { clear_expires_at: true });
    const again = await anotherSession(library, nina);
    expect(await again.status('GET', '/me')).toBe(200);
  });

  test('no longer decides requests or receives them', async () => {
    const judge = await library.join('judge');
    await grant(library, judge, 'share.grant');
    const holders = async () => {
      const { holdersOf } = await import('../../src/access/capabilities.ts');
      return holdersOf(db, 'share.grant');
    };
    expect(await holders()).toContain(judge.ref);
    await expire(judge);
    expect(await holders()).not.toContain(judge.ref);
  });
});

// USER-20
describe('sign_in', () => {
  const stateOf = async (ref: number) => (await shown({ ref })).sign_in;

  test('names what an account can sign in with, or what is in the way', async () => {
    const otto = await library.join('otto');
    expect(await stateOf(otto.ref)).toEqual({ possible: true, by: ['password'] });
    const bare = await addAccount(library, 'bare');
    expect(await stateOf(bare)).toEqual({ possible: false, by: [], obstacle: 'no_password' });
    for (const status of ['pending', 'disabled', 'archived'] as const) {
      await root.ok('setUserStatus', { params: otto, body: { status } });
      expect(await stateOf(otto.ref)).toMatchObject({ possible: false, obstacle: status });
    }
    await root.ok('setUserStatus', { params: otto, body: { status: 'active' } });
    for (let failure = 0; failure < 5; failure += 1) await signIn(library, 'Otto', 'wrong password');
    expect(await stateOf(otto.ref)).toMatchObject({ possible: false, obstacle: 'locked' });
  });

  test('counts only what works now: hashes, enabled providers and a configured directory', async () => {
    const cannot = { possible: false, by: [], obstacle: 'no_password' };
    // SIGNIN-9
    const bcrypt = (cost: number) => `$2y$${cost}$${'a'.repeat(53)}`;
    const argon2 = (costs: string) => `$argon2id$v=19$${costs}$${'a'.repeat(22)}$${'a'.repeat(43)}`;
    const invalid = {
      'plain text': password,
      nothing: '',
      'costly bcrypt': bcrypt(32),
      'costly argon2': argon2('m=262145,t=4,p=1'),
      'argon2 without passes': argon2('m=65536,t=0,p=1'),
      'argon2 with little memory': argon2('m=15,t=4,p=2'),
    };
    for (const [name, stored] of Object.entries(invalid)) {
      expect([name, await stateOf(await addAccount(library, name, stored))]).toEqual([name, cannot]);
      expect([name, isHash(stored)]).toEqual([name, false]);
    }
    const valid = {
      md5: 'A'.repeat(32),
      sha256: 'a'.repeat(64),
      bcrypt: bcrypt(31),
      argon2: argon2('m=262144,t=16,p=16'),
    };
    for (const [name, stored] of Object.entries(valid)) {
      const state = await stateOf(await addAccount(library, name, stored));
      expect([name, state]).toEqual([name, { possible: true, by: ['password'] }]);
      expect([name, isHash(stored)]).toEqual([name, true]);
    }
    const [ofDirectory, ofProvider] = [await addAccount(library, 'ldap'), await addAccount(library, 'oidc')];
    const ldap = { provider: 'ldap', provider_subject: 'x' };
    await db.updateTable('users').set(ldap).where('ref', '=', ofDirectory).execute();
    expect(await stateOf(ofDirectory)).toEqual(cannot);
    const body = { name: 'studio', kind: 'oidc', label: 'Studio', client_id: 'vitrine' } as const;
    await root.ok('createProvider', { body: { ...body, issuer: 'https://127.0.0.1' } });
    const identity = { kind: 'oidc', issuer: 'https://127.0.0.1', subject: '1', provider: 'studio' } as const;
    await db
      .insertInto('user_identities')
      .values({ user_ref: ofProvider, ...identity })
      .execute();
    expect(await stateOf(ofProvider)).toEqual({ possible: true, by: ['studio'] });
    await root.ok('updateProvider', { params: { name: 'studio' }, body: { enabled: false } });
    expect(await stateOf(ofProvider)).toEqual(cannot);
  });
});

// USER-9
test('GET /admin/users filters by role, team, provider and whether the account can sign in', async () => {
  const [vera, wim] = [await library.join('vera', 'viewer'), await library.join('wim', 'viewer')];
  const team = await addTeam(library, 'print', [vera]);
  await db.updateTable('users').set({ password_hash: null }).where('ref', '=', wim.ref).execute();
  const found = async (query: string) =>
    JSON.parse((await root.send(`/admin/users?${query}`)).text).items.map(
      ({ username }: { username: string }) => username,
    );
  expect(await found('role=viewer')).toEqual(['wim', 'vera']);
  expect(await found(`team_id=${team}`)).toEqual(['vera']);
  expect(await found(`team_id=${nowhere}`)).toEqual([]);
  expect(await found('role=viewer&can_sign_in=true')).toEqual(['vera']);
  expect(await found('role=viewer&can_sign_in=false')).toEqual(['wim']);
  expect(await found('role=viewer&obstacle=no_password')).toEqual(['wim']);
  expect(await found('role=viewer&obstacle=locked')).toEqual([]);
  expect(await found('role=viewer&provider=ldap')).toEqual([]);
  expect(await root.status('GET', '/admin/users?can_sign_in=perhaps')).toBe(400);
});

// ROLE-24
test('why lists every source of a capability and what takes it away', async () => {
  const una = await library.join('una');
  const team = await addTeam(library, 'una’s');
  const { id: parentless } = await root.ok('createRole', {
    body: { code: 'printer', name: 'Printer', parent: 'viewer', capabilities: ['posts.comment'] },
  });
  await root.ok('setUserRole', { params: una, body: { role_id: parentless } });
  const expires_at = inAnHour();
  await root.ok('grantCapability', { params: una, body: { capability: 'posts.comment', expires_at } });
  await root.ok('grantCapability', { params: una, body: { capability: 'posts.admin', team_id: team } });
  await root.ok('revokeCapability', { params: una, body: { capability: 'teams.read' } });
  expect((await root.ok('getUserCapabilities', { params: una })).why).toEqual([
    { capability: 'posts.admin', source: 'grant', team_id: team },
    { capability: 'posts.comment', source: 'role', role: 'printer' },
    { capability: 'posts.comment', source: 'grant', expires_at },
    { capability: 'teams.read', source: 'role', role: 'viewer' },
    { capability: 'teams.read', source: 'revoke' },
  ]);
});

// SESSION-16
test('GET /account/sign-ins lists sign-ins and failed attempts of the account alone', async () => {
  const petra = await library.join('petra');
  await signIn(library, 'PETRA', 'wrong password');
  await signIn(library, 'petra', password);
  await signIn(library, 'clerk', 'wrong password');
  const { items } = await petra.ok('listSignIns');
  expect(items).toMatchObject([
    { ok: true, method: 'password', address: '127.0.0.1' },
    { ok: false, method: 'password', address: '127.0.0.1' },
  ]);
  for (let failure = 0; failure < 60; failure += 1) await signIn(library, 'petra', 'wrong password');
  const kept = await db
    .selectFrom('failed_sign_ins')
    .select('id')
    .where('user_ref', '=', petra.ref)
    .execute();
  expect(kept).toHaveLength(50);
});

// SESSION-20
test('GET /admin/sign-ins lists and filters the sign-ins of all accounts, page by page', async () => {
  const [ida, jan] = [await library.join('ida'), await library.join('jan')];
  await signIn(library, 'ida', 'wrong password');
  await signIn(library, 'ida');
  await signIn(library, 'jan');
  const listed = async (query: string, by = root) =>
    JSON.parse((await by.send(`/admin/sign-ins?${query}`)).text);
  const first = await listed('limit=2');
  const names = (items: { ok: boolean; user: { username: string } }[]) =>
    items.map(({ ok, user }) => `${user.username} ${ok}`);
  expect(names(first.items)).toEqual(['jan true', 'ida true']);
  expect(names((await listed(`limit=1&cursor=${first.next_cursor}`)).items)).toEqual(['ida false']);
  expect(names((await listed(`user_ref=${ida.ref}&ok=false`)).items)).toEqual(['ida false']);
  expect(names((await listed(`user_ref=${jan.ref}&method=password`)).items)).toEqual(['jan true']);
  expect((await listed(`user_ref=${jan.ref}&method=passkey`)).items).toEqual([]);
  expect((await listed(`user_ref=${jan.ref}&from=${inAnHour()}`)).items).toEqual([]);
  expect((await listed(`user_ref=${jan.ref}&to=${inAnHour()}`)).items).toHaveLength(1);
  expect(first.items[0]).toMatchObject({ method: 'password', address: '127.0.0.1' });
  // USER-8
  expect((await listed('limit=1', clerk)).items[0]).toMatchObject({ address: null, user_agent: null });
  expect(await ida.status('GET', '/admin/sign-ins')).toBe(403);
});

// SESSION-17
test('DELETE /admin/sessions signs everyone but the caller out, and needs `system.admin`', async () => {
  const other = await library.join('other');
  const here = await anotherSession(library, root);
  const script = await bearer(library, other, ['read']);
  expect(await clerk.status('DELETE', '/admin/sessions')).toBe(403);
  expect(await root.status('DELETE', '/admin/sessions')).toBe(204);
  const left = await Promise.all([other, clerk, here, root, script].map((one) => one.status('GET', '/me')));
  expect(left).toEqual([401, 401, 200, 200, 200]);
});
