import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';
import { bearer, grant } from '../support/people.ts';
import { countStatements } from '../support/statements.ts';

const UNKNOWN_USER = 999_999;

let library: Library;
/** An administrator. */
let root: Account;
/** A member with `users.read` and `users.write`, without personal data. */
let manager: Account;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  manager = await library.join('manager');
  mara = await library.join('Mara');
  await grant(library, manager, ['users.read', 'users.write']);
});

async function signsIn(username: string, given: string): Promise<number> {
  const body = { username, password: given };
  return (await library.anonymous().send('/auth/login', { method: 'POST', body })).status;
}

const eventsAbout = (ref: number) =>
  library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref', 'metadata'])
    .where('subject_user_ref', '=', ref)
    .orderBy('occurred_at')
    .execute();

describe('who may administer accounts', () => {
  const calls = () =>
    [
      ['GET', '/admin/users', undefined, 'users.read', 'read'],
      ['POST', '/admin/users', { username: 'intruder' }, 'users.write', 'admin'],
      ['PUT', `/admin/users/${mara.ref}/status`, { status: 'disabled' }, 'users.write', 'admin'],
      ['POST', `/admin/users/${mara.ref}/reset-password`, undefined, 'users.write', 'admin'],
    ] as const;
  const outcomes = (visitor: Visitor) =>
    Promise.all(
      calls().map(async ([method, path, body]) => {
        const { status, text } = await visitor.send(path, { method, body });
        return [status, JSON.parse(text).error];
      }),
    );

  afterEach(async () => {
    await library.setPublicMode(false);
    const { status } = await library.deps.db
      .selectFrom('users')
      .select('status')
      .where('ref', '=', mara.ref)
      .executeTakeFirstOrThrow();
    expect(status).toBe('active');
    expect((await root.ok('listUsers', { query: { q: 'intruder' } })).items).toEqual([]);
  });

  // USER-9
  test('names the missing capability in the 403; one limited to a team does not count', async () => {
    const viewer = await library.join('viewer', 'viewer');
    const inTeam = await library.join('inteam');
    const team = await library.deps.db
      .insertInto('teams')
      .values({ slug: 't', name: 'T' })
      .returning('id')
      .executeTakeFirstOrThrow();
    for (const capability of ['users.read', 'users.write', 'system.admin']) {
      await library.deps.db
        .insertInto('user_capability_grants')
        .values({ user_ref: inTeam.ref, capability, team_id: team.id })
        .execute();
    }
    const missing = calls().map((call) => [403, `missing capability ${call[3]}`]);
    for (const visitor of [mara, viewer, inTeam]) expect(await outcomes(visitor)).toEqual(missing);
  });

  test('does not accept one capability for another', async () => {
    const reader = await library.join('reader');
    await grant(library, reader, ['users.read', 'users.pii.read', 'roles.read', 'caps.read']);
    expect((await outcomes(reader)).map(([status]) => status)).toEqual([200, 403, 403, 403]);
    const writer = await library.join('writer');
    await grant(library, writer, 'users.write');
    expect((await writer.refused('listUsers')).error).toBe('missing capability users.read');
  });

  test('applies the capabilities of the target while impersonating', async () => {
    const masked = await library.join('masked', 'admin');
    await masked.ok('impersonate', { params: { ref: mara.ref }, body: {} });
    expect((await outcomes(masked)).map(([status]) => status)).toEqual([403, 403, 403, 403]);
  });
});

describe('GET /admin/users', () => {
  let many: Library;
  let admin: Account;
  let reader: Account;

  beforeAll(async () => {
    many = await openLibrary();
    admin = await many.join('root', 'admin');
    reader = await many.join('reader');
    await many.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: reader.ref, capability: 'users.read' })
      .execute();
    await sql`insert into users (username, role_id, status, fullname, email, display_name)
      select 'account ' || i, (select id from roles where code = 'viewer'),
        case i % 4 when 0 then 'active' when 1 then 'pending' when 2 then 'disabled' else 'archived' end,
        'Full Name ' || i, 'mail' || i || '@private.example', case when i % 2 = 0 then 'Shown ' || i end
      from generate_series(1, 118) i`.execute(many.deps.db);
  });

  const names = async (visitor: Visitor, query: { q?: string; status?: 'pending'; limit?: number }) =>
    (await visitor.ok('listUsers', { query: { limit: 200, ...query } })).items.map(
      ({ username }) => username,
    );

  // USER-8
  test('shows personal data only with `users.pii.read`', async () => {
    const q = 'account 42';
    const [seen] = (await reader.ok('listUsers', { query: { q } })).items;
    expect(seen).toEqual({
      ref: expect.any(Number),
      username: q,
      display_name: 'Shown 42',
      role: 'viewer',
      status: 'disabled',
      provider: 'password',
      two_factor: false,
      created_at: expect.any(String),
      last_seen_at: null,
    });
    const [known] = (await admin.ok('listUsers', { query: { q } })).items;
    expect(known).toEqual({ ...seen, fullname: 'Full Name 42', email: 'mail42@private.example' });
  });

  test('does not reveal the full name as the display name', async () => {
    const one = async (visitor: Visitor) =>
      (await visitor.ok('listUsers', { query: { q: 'account 43' } })).items.map((user) => user.display_name);
    expect([await one(reader), await one(admin)]).toEqual([['account 43'], ['Full Name 43']]);
    const { text } = await reader.send('/admin/users?limit=200');
    expect(text).not.toContain('Full Name');
    expect(text).not.toContain('private.example');
  });

  // USER-9
  test('finds by username and display name in any case', async () => {
    expect(await names(reader, { q: 'ACCOUNT 11' })).toEqual(
      ['account 118', 'account 117', 'account 116', 'account 115', 'account 114'].concat([
        'account 113',
        'account 112',
        'account 111',
        'account 110',
        'account 11',
      ]),
    );
    expect(await names(reader, { q: ' shown 100 ' })).toEqual(['account 100']);
    expect(await names(reader, { q: 'no such account' })).toEqual([]);
    expect(await names(reader, { q: '  ' })).toHaveLength(120);
  });

  // USER-8
  test('finds by full name and e-mail only with `users.pii.read`', async () => {
    for (const q of ['full name 43', 'MAIL43@private', 'private.example']) {
      expect(await names(reader, { q })).toEqual([]);
      expect(await names(admin, { q })).toContain('account 43');
    }
  });

  test('treats percent, underscore and backslash literally', async () => {
    await sql`insert into users (username, role_id) select name, (select id from roles where code = 'viewer')
      from unnest(array['100%', 'under_score', 'back\\slash', 'it''s']) name`.execute(many.deps.db);
    expect(await names(reader, { q: '%' })).toEqual(['100%']);
    expect(await names(reader, { q: '0%' })).toEqual(['100%']);
    expect(await names(reader, { q: '_' })).toEqual(['under_score']);
    expect(await names(reader, { q: 'r_s' })).toEqual(['under_score']);
    expect(await names(reader, { q: '\\' })).toEqual(['back\\slash']);
    expect(await names(reader, { q: "'" })).toEqual(["it's"]);
    expect(await names(reader, { q: '\\%' })).toEqual([]);
    await sql`delete from users where username in ('100%', 'under_score', 'back\\slash', 'it''s')`.execute(
      many.deps.db,
    );
  });

  // USER-9
  test('filters by status and by text', async () => {
    expect(await names(reader, { status: 'pending' })).toHaveLength(30);
    expect(await names(reader, { status: 'pending', q: 'account 11' })).toEqual([
      'account 117',
      'account 113',
    ]);
  });

  // USER-9
  test('pages newest first without duplicates or gaps', async () => {
    const seen: number[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: { items: { ref: number }[]; next_cursor: string | null } = await reader.ok('listUsers', {
        query: { limit: 25, ...(cursor === null ? {} : { cursor }) },
      });
      seen.push(...page.items.map(({ ref }) => ref));
      cursor = page.next_cursor;
      pages += 1;
    } while (cursor !== null && pages < 20);
    expect(pages).toBe(5);
    expect(seen).toHaveLength(120);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => b - a));
    const { items, next_cursor } = await reader.ok('listUsers', { query: { limit: 120 } });
    expect([items.length, next_cursor]).toEqual([120, null]);
    expect((await reader.ok('listUsers')).items).toHaveLength(50);
  });

  // HTTP-10
  test('uses a fixed number of statements for any page size', async () => {
    const count = async (limit: number) => {
      const [{ items }, statements] = await countStatements(many, () =>
        reader.ok('listUsers', { query: { limit } }),
      );
      expect(items).toHaveLength(limit);
      return statements;
    };
    // Statements: session, accounts.
    expect([await count(1), await count(50), await count(120)]).toEqual([2, 2, 2]);
  });

  // HTTP-14
  test('ignores a query parameter it does not know', async () => {
    expect((await reader.send('/admin/users?limit=1&colour=red')).status).toBe(200);
  });

  test('shows when an account was last seen and whether it uses two-factor', async () => {
    const seen = async () =>
      (await reader.ok('listUsers', { query: { q: 'account 8', limit: 200 } })).items.at(-1);
    expect(await seen()).toMatchObject({ username: 'account 8', two_factor: false, last_seen_at: null });
    const who = sql`(select ref from users where username = 'account 8')`;
    const { db } = many.deps;
    await sql`insert into two_factor (user_ref, sealed_secret) select ${who}, ''`.execute(db);
    expect(await seen()).toMatchObject({ two_factor: false });
    await sql`update two_factor set confirmed_at = now() where user_ref = ${who}`.execute(db);
    await sql`update users set last_seen_at = '2026-01-02T03:04:05Z' where ref = ${who}`.execute(db);
    expect(await seen()).toMatchObject({ two_factor: true, last_seen_at: '2026-01-02T03:04:05Z' });
  });
});

describe('POST /admin/users', () => {
  // USER-7
  test('creates an account that signs in', async () => {
    const body = { username: 'Nina', password, fullname: 'Nina Holm', email: 'nina@example.org' };
    const made = await root.ok('createUser', { body });
    expect(made).toEqual({
      ref: expect.any(Number),
      username: 'Nina',
      display_name: 'Nina Holm',
      fullname: 'Nina Holm',
      email: 'nina@example.org',
      role: 'member',
      status: 'active',
      provider: 'password',
      two_factor: false,
      created_at: expect.any(String),
      last_seen_at: null,
    });
    expect((await root.send('/admin/users', { method: 'POST', body: { username: 'Nils' } })).status).toBe(
      201,
    );
    const nina = library.anonymous();
    expect((await nina.ok('login', { body: { username: 'nina', password } })).ref).toBe(made.ref);
    expect(await eventsAbout(made.ref)).toMatchObject([
      { event: 'user.created', actor_user_ref: root.ref, metadata: { username: 'Nina', role: 'member' } },
      { event: 'auth.signed_in' },
    ]);
  });

  test('returns personal data only to callers who may read it', async () => {
    const body = { username: 'Olga', fullname: 'Olga Berg', email: 'olga@example.org' };
    const made = await manager.ok('createUser', { body });
    expect(made).not.toHaveProperty('fullname');
    expect(made).not.toHaveProperty('email');
    expect(made.display_name).toBe('Olga');
    const [known] = (await root.ok('listUsers', { query: { q: 'Olga' } })).items;
    expect(known).toMatchObject({ fullname: 'Olga Berg', email: 'olga@example.org' });
  });

  test('treats null like an absent property', async () => {
    const body = { username: 'Petra', password: null, fullname: null, email: null, role: null };
    expect(await root.ok('createUser', { body })).toMatchObject({
      role: 'member',
      fullname: null,
      email: null,
    });
  });

  // USER-7
  test('does not let an account sign in before it has a password', async () => {
    const { ref } = await root.ok('createUser', { body: { username: 'Rita' } });
    for (const given of ['', 'null', password]) expect(await signsIn('Rita', given)).toBe(401);
    const { temporary_password } = await root.ok('resetPassword', { params: { ref } });
    expect(await signsIn('Rita', temporary_password)).toBe(200);
  });

  // USER-7
  test('answers 409 for a name that differs only in case', async () => {
    await library.join('Zoë Ångström');
    for (const username of ['Mara', 'mara', 'MARA', 'zoë ångström', 'ZOË ÅNGSTRÖM']) {
      expect((await root.refused('createUser', { body: { username } })).status).toBe(409);
    }
  });

  test('creates one account from ten concurrent requests', async () => {
    const spellings = ['Tess', 'tess', 'TESS', 'tESS', 'TeSs'];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        root.send('/admin/users', { method: 'POST', body: { username: spellings[i % 5] } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
    expect((await root.ok('listUsers', { query: { q: 'tess' } })).items).toHaveLength(1);
  });

  // USER-7
  test('answers 403 for a role beyond the caller and 404 for an unknown one', async () => {
    const make = (visitor: Visitor, role: string) =>
      visitor.send('/admin/users', { method: 'POST', body: { username: `as ${role}`, role } });
    expect((await make(manager, 'admin')).status).toBe(403);
    expect((await make(manager, 'viewer')).status).toBe(201);
    expect((await make(manager, 'no such role')).status).toBe(404);
    expect((await make(root, 'admin')).status).toBe(201);
    const clerk = await library.join('clerk', 'viewer');
    await grant(library, clerk, 'users.write');
    expect((await clerk.refused('createUser', { body: { username: 'beyond' } })).status).toBe(403);
    expect((await clerk.ok('createUser', { body: { username: 'within', role: 'viewer' } })).role).toBe(
      'viewer',
    );
    expect((await root.ok('listUsers', { query: { q: 'beyond' } })).items).toEqual([]);
  });

  test.each(['x', 'x'.repeat(100), '李小龍', 'two words', "Robert'); drop table users; --", 'a@b.example'])(
    'takes the username %j',
    async (username) => {
      const made = await root.ok('createUser', { body: { username } });
      expect((await root.ok('getUserByUsername', { params: { username } })).ref).toBe(made.ref);
    },
  );

  test.each([' ', ' x', 'x ', '\tx', 'x\n', 'a\nb'])('refuses the username %j with 400', async (username) => {
    expect((await root.refused('createUser', { body: { username } })).status).toBe(400);
  });

  test.each([
    { username: 'mail', email: 'no address' },
    { username: 'full', fullname: ' ' },
  ])('refuses an account with %j', async (body) => {
    expect((await root.send('/admin/users', { method: 'POST', body })).status).toBe(400);
  });
});

describe('PUT /admin/users/{ref}/status', () => {
  type Status = 'active' | 'pending' | 'disabled' | 'archived';
  const setStatus = (visitor: Visitor, ref: number, status: Status, reason?: string) =>
    visitor.ok('setUserStatus', {
      params: { ref },
      body: { status, ...(reason === undefined ? {} : { reason }) },
    });

  // USER-10
  test.each(['pending', 'disabled', 'archived'] as const)(
    '%s signs out sessions and tokens at the next request, and they come back with the account',
    async (status) => {
      const una = await library.join(`una ${status}`);
      const script = await bearer(library, una, ['read']);
      for (const visitor of [una, script]) expect((await visitor.ok('getMe')).ref).toBe(una.ref);
      const answer = await setStatus(manager, una.ref, status, 'on leave');
      expect(answer).toMatchObject({ ref: una.ref, status });
      for (const visitor of [una, script]) expect((await visitor.refused('getMe')).status).toBe(401);
      expect(await signsIn(una.username, password)).toBe(401);
      await setStatus(manager, una.ref, 'active');
      for (const visitor of [una, script]) expect((await visitor.ok('getMe')).ref).toBe(una.ref);
      expect(await signsIn(una.username, password)).toBe(200);
      expect(
        (await eventsAbout(una.ref)).filter(({ event }) => event === 'user.status.changed'),
      ).toMatchObject([
        { actor_user_ref: manager.ref, metadata: { status, reason: 'on leave' } },
        { actor_user_ref: manager.ref, metadata: { status: 'active', reason: null } },
      ]);
    },
  );

  test('answers 403 for an account that may do more and 404 for an unknown one', async () => {
    const body = { status: 'disabled' as const };
    expect((await manager.refused('setUserStatus', { params: { ref: root.ref }, body })).status).toBe(403);
    expect((await root.ok('getMe')).ref).toBe(root.ref);
    expect((await manager.refused('setUserStatus', { params: { ref: UNKNOWN_USER }, body })).status).toBe(
      404,
    );
  });
});

describe('POST /admin/users/{ref}/reset-password', () => {
  let vera: Account;

  beforeEach(async () => {
    vera = await library.join(`vera ${Math.random()}`);
  });

  // USER-11
  test('replaces the password and ends sessions and impersonations', async () => {
    const masked = await library.join(`mask ${vera.ref}`, 'admin');
    await masked.ok('impersonate', { params: { ref: vera.ref }, body: {} });
    const { temporary_password } = await manager.ok('resetPassword', { params: { ref: vera.ref } });
    expect(temporary_password.length).toBeGreaterThanOrEqual(16);
    for (const visitor of [vera, masked]) expect((await visitor.refused('getMe')).status).toBe(401);
    expect(await signsIn(vera.username, password)).toBe(401);
    expect(await signsIn(vera.username, temporary_password)).toBe(200);
    const again = await manager.ok('resetPassword', { params: { ref: vera.ref } });
    expect(again.temporary_password).not.toBe(temporary_password);
    expect(await signsIn(vera.username, temporary_password)).toBe(401);
  });

  // SIGNIN-11, USER-11
  test('unlocks a locked name', async () => {
    await Promise.all(Array.from({ length: 5 }, () => signsIn(vera.username, 'wrong')));
    expect(await signsIn(vera.username, password)).toBe(401);
    const { temporary_password } = await manager.ok('resetPassword', { params: { ref: vera.ref } });
    expect(await signsIn(vera.username, temporary_password)).toBe(200);
  });

  // USER-11
  test('records an audit event and stores the password only as a hash', async () => {
    const { temporary_password } = await manager.ok('resetPassword', { params: { ref: vera.ref } });
    expect(await eventsAbout(vera.ref)).toMatchObject([
      { event: 'user.password.reset', actor_user_ref: manager.ref },
    ]);
    const { rows } = await sql<{ text: string }>`select u::text as text from users u
      union all select e::text from audit_events e`.execute(library.deps.db);
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.filter(({ text }) => text.includes(temporary_password))).toEqual([]);
  });

  test('answers 403 for an account that may do more, 404 for an unknown one, 409 for a directory’s', async () => {
    expect((await manager.refused('resetPassword', { params: { ref: root.ref } })).status).toBe(403);
    expect(await signsIn('root', password)).toBe(200);
    expect((await manager.refused('resetPassword', { params: { ref: UNKNOWN_USER } })).status).toBe(404);
    await library.deps.db
      .updateTable('users')
      .set({ provider: 'ldap', provider_subject: vera.username })
      .where('ref', '=', vera.ref)
      .execute();
    expect((await manager.refused('resetPassword', { params: { ref: vera.ref } })).status).toBe(409);
    expect((await vera.ok('getMe')).ref).toBe(vera.ref);
  });

  test('is refused with 403 while impersonating', async () => {
    const masked = await library.join(`mask ${vera.ref}`, 'admin');
    await masked.ok('impersonate', { params: { ref: manager.ref }, body: {} });
    expect((await masked.ok('getMe')).capabilities).toContain('users.write');
    expect(await masked.refused('resetPassword', { params: { ref: vera.ref } })).toEqual({
      status: 403,
      error: 'not allowed while acting as another user',
    });
    expect((await vera.ok('getMe')).ref).toBe(vera.ref);
  });
});
