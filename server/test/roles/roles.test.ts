import { capabilities, scopes } from '@vitrine/contract/capabilities';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';
import { bearer, grant } from '../support/people.ts';

const UNKNOWN_USER = 999_999;
const roleIds = {
  admin: '00000000-0000-4000-8000-000000000101',
  member: '00000000-0000-4000-8000-000000000102',
  viewer: '00000000-0000-4000-8000-000000000103',
} as const;
const ofMember = [
  'assets.create',
  'collections.create',
  'fields.vocabulary.extend',
  'posts.comment',
  'posts.create',
  'posts.publish',
  'teams.read',
];

let library: Library;
let root: Account;
/** A member with `users.write`. */
let manager: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  manager = await library.join('manager');
  await grant(library, manager, 'users.write');
});

const held = async (visitor: Visitor) => (await visitor.ok('getMe')).capabilities;
const setRole = (visitor: Visitor, { ref }: { ref: number }, role_id: string) =>
  visitor.ok('setUserRole', { params: { ref }, body: { role_id } });
const roleRefused = async (visitor: Visitor, { ref }: { ref: number }, role_id: string) =>
  (await visitor.refused('setUserRole', { params: { ref }, body: { role_id } })).status;

// ROLE-2
describe('the seeded roles', () => {
  // ROLE-2
  test('are admin with all capabilities, member and viewer', async () => {
    const { items, next_cursor } = await root.ok('listRoles');
    const seeded = items.map((role) => ({ ...role, capabilities: [...role.capabilities].sort() }));
    expect(seeded).toEqual([
      {
        id: roleIds.admin,
        code: 'admin',
        label: expect.stringMatching(/\S/),
        parent_id: null,
        capabilities: [...capabilities].sort(),
      },
      {
        id: roleIds.member,
        code: 'member',
        label: expect.stringMatching(/\S/),
        parent_id: null,
        capabilities: ofMember,
      },
      {
        id: roleIds.viewer,
        code: 'viewer',
        label: expect.stringMatching(/\S/),
        parent_id: null,
        capabilities: ['teams.read'],
      },
    ]);
    expect(next_cursor).toBeNull();
  });

  test('determine the capabilities of their accounts', async () => {
    expect(await held(root)).toEqual([...capabilities].sort());
    expect(await held(await library.join('a member'))).toEqual(ofMember);
    expect(await held(await library.join('a viewer', 'viewer'))).toEqual(['teams.read']);
  });

  // ROLE-1
  test('GET /auth/capabilities lists every code with a description', async () => {
    const { items } = await root.ok('listCapabilities');
    expect(items.map(({ code }) => code).sort()).toEqual(
      [
        // ROLE-1
        'system.admin assets.admin posts.admin posts.comment teams.read share.grant auth.impersonate',
        'system.appearance.write',
        // ROLE-1
        'users.read users.write users.pii.read roles.read caps.read posts.create posts.publish assets.create',
        'collections.create fields.admin fields.vocabulary.extend fields.vocabulary.merge teams.write',
        'system.config.read system.config.write system.audit.read content.read.all jobs.read',
      ]
        .flatMap((line) => line.split(' '))
        .sort(),
    );
    for (const { label } of items) expect(label).toMatch(/\S/);
  });

  // HTTP-7
  test.each(['roles', 'capabilities'])('GET /auth/%s pages like every list', async (list) => {
    const get = async (query: string) => {
      const { status, text } = await root.send(`/auth/${list}?${query}`);
      return { status, body: JSON.parse(text) };
    };
    const whole = (await get('')).body.items;
    const first = await get('limit=2');
    expect(first.body.items).toEqual(whole.slice(0, 2));
    const next = encodeURIComponent(String(first.body.next_cursor));
    expect((await get(`limit=200&cursor=${next}`)).body).toEqual({
      items: whole.slice(2),
      next_cursor: null,
    });
  });

  test.each(['roles', 'capabilities'])('GET /auth/%s refuses a malformed cursor and limit', async (list) => {
    for (const query of ['cursor=nonsense', 'limit=0', 'limit=201']) {
      expect([query, (await root.send(`/auth/${list}?${query}`)).status]).toEqual([query, 400]);
    }
  });

  test.each(['roles', 'capabilities'])(
    'GET /auth/%s ignores a query parameter it does not know',
    async (list) => {
      expect((await root.send(`/auth/${list}?colour=red`)).status).toBe(200);
    },
  );
});

describe('GET /auth/me/capabilities', () => {
  // ROLE-14
  test('lists the capabilities of an account and their sources', async () => {
    const mara = await library.join('mara');
    expect(await mara.ok('getMyCapabilities')).toEqual({
      user_ref: mara.ref,
      role: 'member',
      capabilities: ofMember,
      grants: [],
      revokes: [],
    });
    const params = { ref: mara.ref };
    const expires_at = '2099-01-01T00:00:00.123Z';
    const given = await root.ok('grantCapability', {
      params,
      body: { capability: 'jobs.read', note: 'On call', expires_at },
    });
    const taken = await root.ok('revokeCapability', { params, body: { capability: 'posts.comment' } });
    const answer = await mara.ok('getMyCapabilities');
    expect(answer.capabilities).toEqual(
      [...ofMember, 'jobs.read'].filter((c) => c !== 'posts.comment').sort(),
    );
    expect(answer.capabilities).toEqual(await held(mara));
    expect(answer.grants).toEqual([given]);
    expect(answer.revokes).toEqual([taken]);
    expect(given).toEqual({
      id: expect.any(String),
      capability: 'jobs.read',
      team_id: null,
      note: 'On call',
      by_user_ref: root.ref,
      created_at: expect.any(String),
      expires_at,
    });
    expect(await root.ok('getUserCapabilities', { params })).toEqual(answer);
    expect((await root.refused('getUserCapabilities', { params: { ref: UNKNOWN_USER } })).status).toBe(404);
  });
});

describe('PUT /auth/users/{ref}/role', () => {
  test('answers 204 and takes effect at the next request', async () => {
    const nina = await library.join('nina', 'viewer');
    const uploads = async () => (await nina.send('/assets', { method: 'POST', body: {} })).status;
    expect([await held(nina), await uploads()]).toEqual([['teams.read'], 403]);
    const answer = await root.send(`/auth/users/${nina.ref}/role`, {
      method: 'PUT',
      body: { role_id: roleIds.member },
    });
    expect([answer.status, answer.text]).toEqual([204, '']);
    // Callers who are let in get 400 for the empty body.
    expect([await held(nina), await uploads()]).toEqual([ofMember, 400]);
    await setRole(root, nina, roleIds.viewer);
    expect([await held(nina), await uploads()]).toEqual([['teams.read'], 403]);
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'metadata'])
      .where('subject_user_ref', '=', nina.ref)
      .orderBy('occurred_at')
      .execute();
    expect(events).toMatchObject([
      { event: 'user.role.changed', actor_user_ref: root.ref, metadata: { role: 'member' } },
      { event: 'user.role.changed', actor_user_ref: root.ref, metadata: { role: 'viewer' } },
    ]);
  });

  test('takes effect for tokens of the account too', async () => {
    const olga = await library.join('olga');
    const script = await bearer(library, olga, ['read']);
    expect(await held(script)).toEqual(ofMember);
    await setRole(root, olga, roleIds.viewer);
    expect(await held(script)).toEqual(['teams.read']);
  });

  test('answers 404 for an unknown role or account, 400 for a malformed one', async () => {
    const petra = await library.join('petra');
    expect(await roleRefused(root, petra, '00000000-0000-4000-8000-00000000aaaa')).toBe(404);
    expect(await roleRefused(root, { ref: UNKNOWN_USER }, roleIds.viewer)).toBe(404);
    expect(await roleRefused(root, petra, 'viewer')).toBe(400);
    for (const body of [{}, { role_id: null }, { role: 'viewer' }, { role_id: roleIds.viewer, note: 'x' }]) {
      expect((await root.send(`/auth/users/${petra.ref}/role`, { method: 'PUT', body })).status).toBe(400);
    }
    expect(await held(petra)).toEqual(ofMember);
  });

  // ROLE-9
  test('refuses roles with more capabilities than the caller has', async () => {
    const rita = await library.join('rita');
    expect(await roleRefused(manager, rita, roleIds.admin)).toBe(403);
    expect(await roleRefused(manager, manager, roleIds.admin)).toBe(403);
    await setRole(manager, rita, roleIds.viewer);
    await setRole(manager, rita, roleIds.member);
    const clerk = await library.join('clerk', 'viewer');
    await grant(library, clerk, 'users.write');
    const sara = await library.join('sara', 'viewer');
    expect(await roleRefused(clerk, sara, roleIds.member)).toBe(403);
    expect(await roleRefused(clerk, clerk, roleIds.member)).toBe(403);
    expect(await held(sara)).toEqual(['teams.read']);
  });

  test('includes the capabilities that a role inherits', async () => {
    const { db } = library.deps;
    const lead = '00000000-0000-4000-8000-00000000bbbb';
    await db
      .insertInto('roles')
      .values({ id: lead, code: 'lead', label: 'Lead', parent_id: roleIds.admin })
      .execute();
    const shown = (await root.ok('listRoles')).items.find(({ code }) => code === 'lead');
    expect(shown?.parent_id).toBe(roleIds.admin);
    expect([...(shown?.capabilities ?? [])].sort()).toEqual([...capabilities].sort());
    const tess = await library.join('tess');
    expect(await roleRefused(manager, tess, lead)).toBe(403);
    await setRole(root, tess, lead);
    expect(await held(tess)).toEqual([...capabilities].sort());
    await setRole(root, tess, roleIds.viewer);
    await db.deleteFrom('roles').where('id', '=', lead).execute();
  });

  // ROLE-10
  test('refuses to change accounts with more capabilities than the caller', async () => {
    expect(await roleRefused(manager, root, roleIds.viewer)).toBe(403);
    const una = await library.join('una');
    await grant(library, una, 'jobs.read');
    expect(await roleRefused(manager, una, roleIds.viewer)).toBe(403);
    expect(await held(una)).toContain('posts.create');
    await grant(library, manager, 'jobs.read');
    await setRole(manager, una, roleIds.viewer);
    await library.deps.db
      .deleteFrom('user_capability_grants')
      .where('user_ref', '=', manager.ref)
      .where('capability', '=', 'jobs.read')
      .execute();
  });

  test('counts capabilities that the account has in one team only', async () => {
    const vera = await library.join('vera', 'viewer');
    const team = await library.deps.db
      .insertInto('teams')
      .values({ slug: 'print', name: 'Print' })
      .returning('id')
      .executeTakeFirstOrThrow();
    await library.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: vera.ref, capability: 'posts.admin', team_id: team.id })
      .execute();
    expect(await roleRefused(manager, vera, roleIds.member)).toBe(403);
    await setRole(root, vera, roleIds.member);
  });

  // ROLE-5
  test('`system.admin` includes all capabilities', async () => {
    const deputy = await library.join('deputy', 'viewer');
    await grant(library, deputy, 'system.admin');
    const wanda = await library.join('wanda', 'viewer');
    await setRole(deputy, wanda, roleIds.admin);
    expect(await held(wanda)).toContain('system.admin');
    await setRole(deputy, wanda, roleIds.viewer);
    await library.deps.db.deleteFrom('user_capability_grants').where('user_ref', '=', deputy.ref).execute();
  });
});

// ROLE-13
describe('who may see and change what accounts may do', () => {
  let mara: Account;

  beforeAll(async () => {
    mara = await library.join('subject');
  });

  const calls = () => {
    const one = { capability: 'posts.comment' };
    return [
      ['GET', '/auth/roles', undefined, 'roles.read', 'read'],
      ['GET', '/auth/capabilities', undefined, 'caps.read', 'read'],
      ['GET', `/admin/users/${mara.ref}/capabilities`, undefined, 'caps.read', 'read'],
      ['PUT', `/auth/users/${mara.ref}/role`, { role_id: roleIds.viewer }, 'users.write', 'admin'],
      ['POST', `/admin/users/${mara.ref}/grants`, one, 'users.write', 'admin'],
      ['DELETE', `/admin/users/${mara.ref}/grants`, one, 'users.write', 'admin'],
      ['POST', `/admin/users/${mara.ref}/revokes`, one, 'users.write', 'admin'],
      ['DELETE', `/admin/users/${mara.ref}/revokes`, one, 'users.write', 'admin'],
    ] as const;
  };
  const outcomes = (visitor: Visitor) =>
    Promise.all(
      calls().map(async ([method, path, body]) => {
        const { status, text } = await visitor.send(path, { method, body });
        return [status, status < 400 ? null : JSON.parse(text).error];
      }),
    );
  const unchanged = async () => {
    const { role, grants, revokes } = await mara.ok('getMyCapabilities');
    expect({ role, grants, revokes }).toEqual({ role: 'member', grants: [], revokes: [] });
  };

  // ROLE-13, ROLE-17
  test('an account without the capability gets a 403 that names it', async () => {
    const viewer = await library.join('onlooker', 'viewer');
    const missing = calls().map((call) => [403, `missing capability ${call[3]}`]);
    for (const visitor of [mara, viewer]) expect(await outcomes(visitor)).toEqual(missing);
    await unchanged();
  });

  test('each read capability allows reads only', async () => {
    const reader = await library.join('reader');
    await grant(library, reader, 'roles.read');
    expect((await outcomes(reader)).map(([status]) => status)).toEqual([200, ...Array<number>(7).fill(403)]);
    await library.deps.db.deleteFrom('user_capability_grants').where('user_ref', '=', reader.ref).execute();
    await grant(library, reader, 'caps.read');
    expect((await outcomes(reader)).map(([status]) => status)).toEqual([
      403,
      200,
      200,
      ...Array<number>(5).fill(403),
    ]);
    await unchanged();
  });

  // ROLE-13
  test('a token needs the scope too, which adds no capability', async () => {
    const lacking = (scope: string) => [403, `missing scope ${scope}`];
    for (const visitor of [
      await bearer(library, root, ['read']),
      await bearer(
        library,
        root,
        scopes.filter((s) => s !== 'admin'),
      ),
    ]) {
      const [roles, codes, one, ...changes] = await outcomes(visitor);
      expect([roles, codes, one]).toEqual([
        [200, null],
        [200, null],
        [200, null],
      ]);
      expect(changes).toEqual(Array<unknown>(5).fill(lacking('admin')));
    }
    const blind = await bearer(library, root, ['posts.write']);
    expect((await outcomes(blind)).slice(0, 3)).toEqual(Array<unknown>(3).fill(lacking('read')));
    expect(await blind.refused('getMyCapabilities')).toEqual({ status: 403, error: 'missing scope read' });
    const everything = await bearer(library, mara, scopes);
    expect(await outcomes(everything)).toEqual(calls().map((call) => [403, `missing capability ${call[3]}`]));
    await unchanged();
    await setRole(await bearer(library, root, ['admin']), mara, roleIds.member);
  });

  // ROLE-13
  test('impersonators cannot change anything', async () => {
    const masked = await library.join('masked', 'admin');
    await grant(library, manager, ['caps.read', 'roles.read']);
    await masked.ok('impersonate', { params: { ref: manager.ref }, body: {} });
    const [roles, codes, one, ...changes] = await outcomes(masked);
    expect([roles, codes, one]).toEqual([
      [200, null],
      [200, null],
      [200, null],
    ]);
    expect(changes).toEqual(Array<unknown>(5).fill([403, 'not allowed while acting as another user']));
    expect((await masked.ok('getMyCapabilities')).user_ref).toBe(manager.ref);
    await unchanged();
  });
});
