import type { Capability } from '@vitrine/contract/capabilities';
import type { Role, RoleCreate } from '@vitrine/contract/roles';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { actAs, bearer, grant, nowhere, setRole, withdrawGrants } from '../support/people.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const adminId = '00000000-0000-4000-8000-000000000101';
const memberId = '00000000-0000-4000-8000-000000000102';

/** A viewer who writes roles, with these capabilities in addition. */
async function author(name: string, more: readonly Capability[] = []): Promise<Account> {
  const account = await library.join(name, 'viewer');
  await grant(library, account, ['roles.read', 'roles.write', ...more]);
  return account;
}

/** A person with this role. */
async function joinAs(name: string, code: string): Promise<Account> {
  const account = await library.join(name);
  await setRole(library, account, code);
  return account;
}

let turn = 0;
const make = (given: Partial<RoleCreate> = {}, by: Visitor = root): Promise<Role> => {
  turn += 1;
  return by.ok('createRole', { body: { code: `role-${turn}`, name: 'A role', capabilities: [], ...given } });
};
const change = (by: Visitor, { id }: Pick<Role, 'id'>, body: object) =>
  by.send(`/auth/roles/${id}`, { method: 'PATCH', body });
const remove = (by: Visitor, { id }: Pick<Role, 'id'>) => by.send(`/auth/roles/${id}`, { method: 'DELETE' });
const found = async (id: string) => (await root.ok('listRoles')).items.find((role) => role.id === id);
const held = async (visitor: Visitor) => (await visitor.ok('getMe')).capabilities;

const clerk = await author('clerk', ['posts.create']);

// ROLE-20
describe('POST /auth/roles', () => {
  test('creates a role with its own capabilities and those of its parent', async () => {
    const role = await make({
      code: 'print-team',
      name: ' Print team ',
      description: 'Prints.',
      parent: 'member',
      capabilities: ['jobs.read', 'jobs.read', 'posts.create'],
      requires_second_factor: true,
    });
    expect(role).toEqual({
      id: expect.any(String),
      code: 'print-team',
      label: 'Print team',
      description: 'Prints.',
      parent_id: memberId,
      own_capabilities: ['jobs.read', 'posts.create'],
      capabilities: expect.arrayContaining(['jobs.read', 'posts.create', 'assets.create', 'teams.read']),
      requires_second_factor: true,
      seeded: false,
      user_count: 0,
    });
    expect(await found(role.id)).toEqual(role);
    const [event] = await auditEvents(library, { event: 'role.created', target_id: role.id });
    expect(event).toMatchObject({
      target_kind: 'role',
      target_id: role.id,
      metadata: { role: 'print-team' },
    });
    const paula = await joinAs('paula', 'print-team');
    expect(await held(paula)).toContain('jobs.read');
    expect((await found(role.id))?.user_count).toBe(1);
    await setRole(library, paula, 'viewer');
  });

  test.each([
    [{ code: 'member' }, 409],
    [{ code: 'Print' }, 400],
    [{ code: '9' }, 400],
    [{ code: 'a'.repeat(65) }, 400],
    [{ name: ' ' }, 400],
    [{ name: 'x'.repeat(201) }, 400],
    [{ description: 'x'.repeat(501) }, 400],
    [{ parent: 'nobody' }, 404],
    [{ capabilities: ['everything'] }, 400],
    [{ capabilities: undefined }, 400],
  ] as const)('refuses %j with %i', async (given, status) => {
    const body = { code: 'fresh', name: 'Fresh', capabilities: [], ...given };
    expect(await root.status('POST', '/auth/roles', body)).toBe(status);
    expect((await root.ok('listRoles')).items.map(({ code }) => code)).not.toContain('fresh');
  });

  // ROLE-21
  test('refuses capabilities that the caller lacks, also those of a parent', async () => {
    const body = { code: 'more', name: 'More', capabilities: ['posts.create'] };
    for (const given of [{ capabilities: ['posts.admin'] }, { parent: 'member' }, { parent: 'admin' }])
      expect(await clerk.status('POST', '/auth/roles', { ...body, ...given })).toBe(403);
    expect(await clerk.status('POST', '/auth/roles', { ...body, parent: 'viewer' })).toBe(201);
  });

  test('creates one of two roles with the same code that are sent at once', async () => {
    const body = { code: 'twice', name: 'Twice', capabilities: ['posts.create'] };
    const all = await Promise.all([root, clerk, root].map((by) => by.status('POST', '/auth/roles', body)));
    expect(all.toSorted()).toEqual([201, 409, 409]);
  });
});

// ROLE-19
test('GET /auth/role-templates lists templates that become roles', async () => {
  const templates = await root.ok('listRoleTemplates');
  expect(templates.map(({ code }) => code)).toEqual(['asset-manager', 'reviewer', 'contributor', 'guest']);
  for (const { code, name, description, capabilities } of templates) {
    const body = { code, name, description, capabilities };
    const answer = await root.send('/auth/roles', { method: 'POST', body });
    expect([answer.status, JSON.parse(answer.text).label]).toEqual([201, name]);
  }
});

describe('PATCH /auth/roles/{id}', () => {
  // ROLE-20, ROLE-4
  test('changes what is given, for the accounts of the role and of those below it at once', async () => {
    const parent = await make({ capabilities: ['posts.create', 'jobs.read'], description: 'Old' });
    const child = await make({ parent: parent.code, capabilities: ['posts.comment'] });
    const [own, below] = [await joinAs('own', parent.code), await joinAs('below', child.code)];
    expect(await held(below)).toEqual(['jobs.read', 'posts.comment', 'posts.create']);
    await root.ok('updateRole', { params: { id: parent.id }, body: { name: 'New name' } });
    expect(await found(parent.id)).toEqual({ ...parent, label: 'New name', user_count: 1 });
    const body = { capabilities: ['posts.create', 'teams.read'] as Capability[], description: '' };
    const changed = await root.ok('updateRole', { params: { id: parent.id }, body });
    expect(changed).toMatchObject({ own_capabilities: ['posts.create', 'teams.read'], description: '' });
    expect(await held(own)).toEqual(['posts.create', 'teams.read']);
    expect(await held(below)).toEqual(['posts.comment', 'posts.create', 'teams.read']);
    const event = (await auditEvents(library, { event: 'role.changed', target_id: parent.id }))[1];
    expect(event?.metadata).toMatchObject({ added: ['teams.read'], removed: ['jobs.read'] });
    await root.ok('updateRole', { params: { id: child.id }, body: { clear_parent: true } });
    expect(await held(below)).toEqual(['posts.comment']);
  });

  // ROLE-22
  test('refuses a cycle with 400', async () => {
    const first = await make();
    const second = await make({ parent: first.code });
    const third = await make({ parent: second.code });
    for (const parent of [first.code, second.code, third.code]) {
      const { status, text } = await change(root, first, { parent });
      expect([status, text]).toEqual([400, expect.stringContaining('cycle')]);
    }
    expect((await change(root, third, { parent: first.code })).status).toBe(200);
    expect((await change(root, third, { parent: 'viewer', clear_parent: true })).status).toBe(400);
  });

  // ROLE-22
  test('never closes a cycle, also when two changes are sent at once', async () => {
    const [one, other] = [await make(), await make()];
    const outcomes = await Promise.all([
      change(root, one, { parent: other.code }),
      change(root, other, { parent: one.code }),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  // ROLE-21
  test('refuses callers who lack a capability that the role, its parent or a role below has or gets', async () => {
    const plain = await make({ capabilities: ['posts.create'] });
    const strong = await make({ capabilities: ['posts.admin'] });
    const withStrongParent = await make({ parent: strong.code });
    const withStrongChild = await make({ capabilities: ['posts.create'] });
    await make({ parent: withStrongChild.code, capabilities: ['jobs.read'] });
    for (const role of [strong, withStrongParent, withStrongChild])
      for (const body of [{ name: 'Mine' }, { capabilities: [] }, { clear_parent: true }])
        expect((await change(clerk, role, body)).status).toBe(403);
    for (const body of [{ capabilities: ['posts.admin'] }, { parent: strong.code }, { parent: 'member' }])
      expect((await change(clerk, plain, body)).status).toBe(403);
    for (const role of [strong, withStrongChild]) expect((await remove(clerk, role)).status).toBe(403);
    expect((await change(clerk, plain, { name: 'Mine', capabilities: ['roles.read'] })).status).toBe(200);
    expect((await remove(clerk, plain)).status).toBe(204);
  });

  // ROLE-21
  test('does not let the writer of roles give themselves more', async () => {
    const role = await make({ capabilities: ['roles.write', 'roles.read'] });
    const self = await joinAs('self', role.code);
    expect((await change(self, role, { capabilities: ['roles.write', 'system.admin'] })).status).toBe(403);
    expect((await change(self, role, { parent: 'admin' })).status).toBe(403);
    expect(await held(self)).toEqual(['roles.read', 'roles.write']);
  });

  // ROLE-22
  test('refuses to change or delete the role admin with 409', async () => {
    for (const body of [{ name: 'Boss' }, { capabilities: [] }, { requires_second_factor: true }])
      expect((await change(root, { id: adminId }, body)).status).toBe(409);
    expect((await remove(root, { id: adminId })).status).toBe(409);
  });

  // ROLE-11
  test('keeps a permanent `system.admin`, also when two roles lose it at once', async () => {
    const [one, other] = [
      await make({ capabilities: ['system.admin'] }),
      await make({ capabilities: ['system.admin'] }),
    ];
    const [first, second] = [await joinAs('first', one.code), await joinAs('second', other.code)];
    await setRole(library, root, 'viewer');
    const outcomes = await Promise.all([
      change(first, other, { capabilities: [] }),
      change(second, one, { capabilities: [] }),
    ]);
    const left = await Promise.all(
      [first, second].map(async (who) => (await held(who))?.includes('system.admin')),
    );
    expect(left.filter(Boolean)).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(1);
    const [last, its] = left[0] === true ? [first, one] : [second, other];
    const { status, text } = await change(last, its, { capabilities: ['roles.write'] });
    expect([status, text]).toEqual([400, expect.stringContaining('without an administrator')]);
    await setRole(library, root, 'admin');
  });

  test('answers 404 for an unknown role', async () => {
    expect((await change(root, { id: nowhere }, { name: 'New' })).status).toBe(404);
    expect((await remove(root, { id: nowhere })).status).toBe(404);
  });
});

describe('DELETE /auth/roles/{id}', () => {
  // ROLE-23
  test('refuses roles that are in use with 409, naming what uses them', async () => {
    const used = await make();
    const one = await joinAs('one', used.code);
    const conflict = async (role: Pick<Role, 'id'>) => {
      const { status, text } = await remove(root, role);
      expect(status).toBe(409);
      return JSON.parse(text).error;
    };
    expect(await conflict(used)).toBe('the role is used by accounts');
    await setRole(library, one, 'viewer');
    const child = await make({ parent: used.code });
    expect(await conflict(used)).toBe('the role is used by other roles');
    expect((await remove(root, child)).status).toBe(204);
    await root.ok('createProvider', {
      body: {
        name: 'studio',
        kind: 'oidc',
        label: 'Studio',
        issuer: 'https://id.example',
        client_id: 'vitrine',
        role_mapping: [{ group: 'prints', role: used.code }],
      },
    });
    expect(await conflict(used)).toBe('the role is used by identity providers');
    await root.ok('deleteProvider', { params: { name: 'studio' } });
    expect(await conflict({ id: memberId })).toBe('the role is used by new accounts');
    expect((await remove(root, used)).status).toBe(204);
    expect(await found(used.id)).toBeUndefined();
  });

  // ROLE-23
  test('never deletes the role of an account that is created at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const role = await make();
      const body = { username: `newcomer ${round}`, role: role.code };
      const [created, removed] = await Promise.all([
        root.status('POST', '/admin/users', body),
        remove(root, role),
      ]);
      expect(['201 409', '404 204']).toContain(`${created} ${removed.status}`);
    }
  });
});

// ROLE-13
test('writing roles needs the scope `admin`, and is refused during an impersonation', async () => {
  const body = { code: 'scoped', name: 'Scoped', capabilities: [] };
  const script = await bearer(library, root, ['read', 'posts.write', 'assets.write', 'fields.admin']);
  expect(await script.status('POST', '/auth/roles', body)).toBe(403);
  await grant(library, clerk, 'auth.impersonate');
  const masked = await actAs(library, root, clerk);
  expect(await masked.status('POST', '/auth/roles', body)).toBe(403);
  await withdrawGrants(library, clerk);
  expect(await clerk.status('POST', '/auth/roles', body)).toBe(403);
});
