import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { databaseText } from '../support/database-text.ts';
import { formOf, openLibrary, password, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { actAs, bearer, grant, setStatus as setUserStatus, signIn } from '../support/people.ts';
import { png } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

const ACCOUNTS = 24;
const UNKNOWN_USER = 999_999;

const library = await openLibrary();
/** An administrator. */
const root = await library.join('root', 'admin');
/** A member with `users.read` and `users.write`, without personal data. */
const manager = await library.join('manager');
await library.join('Mara');
await grant(library, manager, ['users.read', 'users.write']);

const signsIn = async (username: string, given: string) =>
  (await signIn(library, username, given)).status === 200;

describe('GET /admin/users', () => {
  beforeAll(async () => {
    await sql`insert into users (username, role_id, status, fullname, email, display_name)
      select 'account ' || i, (select id from roles where code = 'viewer'),
        case i % 4 when 0 then 'active' when 1 then 'pending' when 2 then 'disabled' else 'archived' end,
        'Full Name ' || i, 'mail' || i || '@private.example', case when i % 2 = 0 then 'Shown ' || i end
      from generate_series(1, ${ACCOUNTS}) i`.execute(library.deps.db);
  });

  const list = async (visitor: Visitor, query: { q?: string; status?: 'pending'; limit?: number }) =>
    (await visitor.ok('listUsers', { query: { limit: 200, ...query } })).items;
  const names = async (...query: Parameters<typeof list>) =>
    (await list(...query)).map(({ username }) => username);

  // USER-8
  test('shows personal data only with `users.pii.read`, not as the display name either', async () => {
    const q = 'account 22';
    const [seen] = await list(manager, { q });
    expect(seen).toEqual({
      ref: expect.any(Number),
      username: q,
      display_name: 'Shown 22',
      own_display_name: 'Shown 22',
      role: 'viewer',
      status: 'disabled',
      provider: 'password',
      two_factor: false,
      language: '',
      expires_at: null,
      sign_in: { possible: false, by: [], obstacle: 'disabled' },
      created_at: expect.any(String),
      last_seen_at: null,
    });
    const [known] = await list(root, { q });
    expect(known).toEqual({ ...seen, fullname: 'Full Name 22', email: 'mail22@private.example' });
    const shown = [manager, root].map(async (one) => (await list(one, { q: 'account 23' }))[0]?.display_name);
    expect(await Promise.all(shown)).toEqual(['account 23', 'Full Name 23']);
    const { text } = await manager.send('/admin/users?limit=200');
    for (const secret of ['Full Name', 'private.example']) expect(text).not.toContain(secret);
  });

  // USER-8, USER-9
  test('finds by username and display name in any case, and by personal data with `users.pii.read`', async () => {
    expect(await names(manager, { q: 'ACCOUNT 1' })).toEqual(
      [19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 1].map((i) => `account ${i}`),
    );
    expect(await names(manager, { q: ' shown 20 ' })).toEqual(['account 20']);
    expect(await names(manager, { q: 'no such account' })).toEqual([]);
    expect(await names(manager, { q: '  ' })).toEqual(await names(manager, {}));
    for (const q of ['full name 23', 'MAIL23@private', 'private.example']) {
      expect(await names(manager, { q })).toEqual([]);
      expect(await names(root, { q })).toContain('account 23');
    }
  });

  test('treats percent, underscore and backslash literally', async () => {
    await sql`insert into users (username, role_id) select name, (select id from roles where code = 'viewer')
      from unnest(array['100%', 'under_score', 'back\\slash', 'it''s']) name`.execute(library.deps.db);
    const [hundred, score] = ['100%', 'under_score'];
    const found = { '%': hundred, '0%': hundred, _: score, r_s: score, '\\': 'back\\slash', "'": "it's" };
    for (const [q, name] of Object.entries(found))
      expect([q, await names(manager, { q })]).toEqual([q, [name]]);
    expect(await names(manager, { q: '\\%' })).toEqual([]);
  });

  // USER-9
  test('filters by status and by text', async () => {
    expect(await names(manager, { status: 'pending' })).toHaveLength(ACCOUNTS / 4);
    const both = { status: 'pending', q: 'account 1' } as const;
    expect(await names(manager, both)).toEqual(['account 17', 'account 13', 'account 1']);
  });

  // USER-9, HTTP-10
  test('pages newest first without duplicates or gaps, with the same statements for any page size', {
    tags: ['one-process'],
  }, async () => {
    const read = (limit: number, from: { cursor?: string } = {}) =>
      manager.ok('listUsers', { query: { q: 'account ', limit, ...from } });
    const pages = await pagesOf((from) => read(10, from));
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 4]);
    const refs = pages.flat().map(({ ref }) => ref);
    expect(refs).toEqual([...new Set(refs)].sort((a, b) => b - a));
    for (const limit of [1, ACCOUNTS]) {
      const [page, statements] = await countStatements(library, () => read(limit));
      // Session, identity providers and accounts.
      expect([page.items.length, statements]).toEqual([limit, 3]);
      expect(page.next_cursor === null).toBe(limit === ACCOUNTS);
    }
  });

  test('shows when an account was last seen and whether it uses two-factor', async () => {
    const seen = async () => (await list(manager, { q: 'account 8' }))[0];
    expect(await seen()).toMatchObject({ username: 'account 8', two_factor: false, last_seen_at: null });
    const who = sql`(select ref from users where username = 'account 8')`;
    const { db } = library.deps;
    await sql`insert into two_factor (user_ref, sealed_secret) select ${who}, ''`.execute(db);
    expect(await seen()).toMatchObject({ two_factor: false });
    await sql`update two_factor set confirmed_at = now() where user_ref = ${who}`.execute(db);
    await sql`update users set last_seen_at = '2026-01-02T03:04:05Z' where ref = ${who}`.execute(db);
    expect(await seen()).toMatchObject({ two_factor: true, last_seen_at: '2026-01-02T03:04:05Z' });
  });
});

describe('POST /admin/users', () => {
  // USER-7
  test('creates an account that signs in, and returns personal data to those who may read it', async () => {
    const body = { username: 'Nina', password, fullname: 'Nina Holm', email: 'nina@example.org' };
    const made = await root.ok('createUser', { body });
    expect(made).toEqual({
      ref: expect.any(Number),
      username: 'Nina',
      display_name: 'Nina Holm',
      own_display_name: null,
      fullname: 'Nina Holm',
      email: 'nina@example.org',
      role: 'member',
      status: 'active',
      provider: 'password',
      two_factor: false,
      language: '',
      expires_at: null,
      sign_in: { possible: true, by: ['password'] },
      created_at: expect.any(String),
      last_seen_at: null,
    });
    const browser = library.anonymous();
    expect((await browser.ok('login', { body: { username: 'nina', password } })).ref).toBe(made.ref);
    const olga = await manager.ok('createUser', { body: { ...body, username: 'Olga' } });
    expect(olga.display_name).toBe('Olga');
    for (const property of ['fullname', 'email']) expect(olga).not.toHaveProperty(property);
    const [known] = (await root.ok('listUsers', { query: { q: 'Olga' } })).items;
    expect(known).toMatchObject({ fullname: 'Nina Holm', email: 'nina@example.org' });
    // Null is like an absent property.
    const nothing = { password: null, fullname: null, email: null, role: null };
    const petra = await root.ok('createUser', { body: { username: 'Petra', ...nothing } });
    expect(petra).toMatchObject({ role: 'member', fullname: null, email: null });
  });

  // USER-7
  test('does not let an account sign in before it has a password', async () => {
    const { ref } = await root.ok('createUser', { body: { username: 'Rita' } });
    for (const given of ['', 'null', password]) expect(await signsIn('Rita', given)).toBe(false);
    const { temporary_password } = await root.ok('resetPassword', { params: { ref } });
    expect(await signsIn('Rita', temporary_password)).toBe(true);
  });

  // USER-7
  test('answers 409 for a name that differs only in case, also for concurrent requests', async () => {
    await library.join('Zoë Ångström');
    for (const username of ['Mara', 'MARA', 'zoë ångström', 'ZOË ÅNGSTRÖM'])
      expect((await root.refused('createUser', { body: { username } })).status).toBe(409);
    const spellings = ['Tess', 'tess', 'TESS', 'tESS', 'TeSs', 'tesS'];
    const made = spellings.map((username) => root.status('POST', '/admin/users', { username }));
    expect((await Promise.all(made)).sort()).toEqual([201, ...Array<number>(5).fill(409)]);
    expect((await root.ok('listUsers', { query: { q: 'tess' } })).items).toHaveLength(1);
  });

  // USER-7
  test('answers 403 for a role beyond the caller and 404 for an unknown one', async () => {
    const clerk = await library.join('clerk', 'viewer');
    await grant(library, clerk, 'users.write');
    const make = (visitor: Visitor, role?: string) =>
      visitor.status('POST', '/admin/users', { username: `${role} by ${visitor.cookie()}`, role });
    expect(await make(manager, 'admin')).toBe(403);
    expect(await make(manager, 'viewer')).toBe(201);
    expect(await make(manager, 'no such role')).toBe(404);
    expect(await make(root, 'admin')).toBe(201);
    // The default role is member.
    expect([await make(clerk), await make(clerk, 'viewer')]).toEqual([403, 201]);
  });

  test('takes any username without blanks at its ends or line breaks, and checks the other texts', async () => {
    const injection = "Robert'); drop table users; --";
    for (const username of ['x', 'x'.repeat(100), '李小龍', 'two words', injection, 'a@b.example']) {
      const made = await root.ok('createUser', { body: { username } });
      expect((await root.ok('getUserByUsername', { params: { username } })).ref).toBe(made.ref);
    }
    const names = [' ', ' x', 'x ', '\tx', 'x\n', 'a\nb'].map((username) => ({ username }));
    for (const text of [...names, { email: 'no address' }, { fullname: ' ' }]) {
      const body = { username: 'y', ...text };
      expect([body, await root.status('POST', '/admin/users', body)]).toEqual([body, 400]);
    }
  });
});

// USER-10, SESSION-5, TOKEN-7
test('an account that is not active loses sessions and tokens until it is active again', async () => {
  const una = await library.join('una');
  const script = await bearer(library, una, ['read']);
  const cookie = una.cookie();
  const outcomes = async () => [
    // A browser that kept its cookie.
    await visit(library.address, {}, cookie).status('GET', '/auth/me'),
    await script.status('GET', '/auth/me'),
    await signsIn('una', password),
  ];
  const setStatus = (status: 'active' | 'pending' | 'disabled' | 'archived') =>
    manager.ok('setUserStatus', { params: { ref: una.ref }, body: { status, reason: 'on leave' } });
  for (const status of ['pending', 'disabled', 'archived'] as const) {
    expect(await setStatus(status)).toMatchObject({ ref: una.ref, status });
    expect([status, ...(await outcomes())]).toEqual([status, 401, 401, false]);
    await setStatus('active');
    expect(await outcomes()).toEqual([200, 200, true]);
  }
  const unknown = { params: { ref: UNKNOWN_USER }, body: { status: 'disabled' } } as const;
  expect((await manager.refused('setUserStatus', unknown)).status).toBe(404);
});

// USER-10, SESSION-5, TOKEN-7, PUBLIC-1, PUBLIC-2
describe.each([true, false])('with public mode %s', (publicMode) => {
  beforeAll(() => library.setPublicMode(publicMode));
  afterAll(() => library.setPublicMode(false));

  test('a disabled account gets 401 with a session or a token, and its cookie is cleared', async () => {
    const name = `yves-${publicMode}`;
    const yves = await library.join(name);
    const script = await bearer(library, yves, ['read']);
    const cookie = `user=${yves.cookie()}`;
    const { id } = await upload(root, await png(8, 8));
    const setStatus = (status: 'active' | 'disabled') =>
      manager.ok('setUserStatus', { params: { ref: yves.ref }, body: { status } });
    await setStatus('disabled');

    // Basic credentials are meant for a proxy and count as none.
    const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    const visitor = library.anonymous;
    const read = async (path: string, headers: Record<string, string>, by = visitor()) => {
      const { status, headers: sent } = await by.send(path, { headers });
      return {
        path,
        status,
        clears: /^user=;.* Expires=Thu, 01 Jan 1970/.test(sent.get('set-cookie') ?? ''),
      };
    };
    const paths = ['/posts', `/assets/${id}`, `/assets/${id}/file`, '/users/by-username/root', '/auth/me'];
    for (const path of paths) {
      const cleared = { path, status: 401, clears: true };
      expect(await read(path, { cookie })).toEqual(cleared);
      expect(await read(path, { cookie, authorization })).toEqual(cleared);
      expect(await read(path, {}, script)).toEqual({ path, status: 401, clears: false });
    }
    const status = publicMode ? 200 : 401;
    expect(await read('/posts', { authorization })).toEqual({ path: '/posts', status, clears: false });
    expect(await read('/appearance', { cookie })).toEqual({
      path: '/appearance',
      status: 200,
      clears: false,
    });

    await setStatus('active');
    expect(await read('/auth/me', { cookie })).toEqual({ path: '/auth/me', status: 200, clears: false });
  });

  test('a disabled account gets 401 during an upload, and its cookie is cleared', async () => {
    const zoe = await library.join(`zoe-${publicMode}`);
    await setUserStatus(library, zoe, 'disabled');
    const answered = await zoe.send('/assets', { method: 'POST', body: formOf(await png(8, 8)) });
    expect([answered.status, zoe.cookie()]).toEqual([401, '']);
  });
});

describe('POST /admin/users/{ref}/reset-password', () => {
  // USER-11
  test('replaces the password, stores only its hash, and ends sessions and impersonations', async () => {
    const vera = await library.join('vera');
    const mask = await actAs(library, root, vera);
    const params = { ref: vera.ref };
    const { temporary_password: first } = await manager.ok('resetPassword', { params });
    expect(first.length).toBeGreaterThanOrEqual(16);
    for (const visitor of [vera, mask]) expect((await visitor.refused('getMe')).status).toBe(401);
    expect([await signsIn('vera', password), await signsIn('vera', first)]).toEqual([false, true]);
    const { temporary_password: second } = await manager.ok('resetPassword', { params });
    expect([second === first, await signsIn('vera', first)]).toEqual([false, false]);
    const all = await databaseText(library);
    for (const text of [first, second]) expect(all).not.toContain(text);
  });

  test('answers 409 for an account of a directory', async () => {
    const wanda = await library.join('wanda');
    await library.deps.db
      .updateTable('users')
      .set({ provider: 'ldap', provider_subject: 'wanda' })
      .where('ref', '=', wanda.ref)
      .execute();
    expect((await manager.refused('resetPassword', { params: { ref: wanda.ref } })).status).toBe(409);
    expect((await wanda.ok('getMe')).ref).toBe(wanda.ref);
  });
});
