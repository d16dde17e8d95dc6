import { beforeEach, describe, expect, test } from 'vitest';
import type { Answered } from '../support/client.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { grant as addGrant, anotherSession } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

const admin = '00000000-0000-4000-8000-000000000101';
const member = '00000000-0000-4000-8000-000000000102';
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

const library = await openLibrary();
const root = await library.join('root', 'admin');
const vice = await library.join('vice');

/** Root is the only administrator, by role. */
beforeEach(async () => {
  const { db } = library.deps;
  await db.deleteFrom('user_capability_grants').execute();
  await db.deleteFrom('user_capability_revokes').execute();
  await db.updateTable('users').set({ status: 'active', role_id: member }).execute();
  await db.updateTable('users').set({ role_id: admin }).where('ref', '=', root.ref).execute();
});

const again = async (account: Account): Promise<Account> => ({
  ...account,
  ...(await anotherSession(library, account)),
});

type Status = 'active' | 'pending' | 'disabled' | 'archived';

const give = { capability: 'system.admin' };
const setRole = (by: Account, { ref }: Account, role_id: string) =>
  by.send(`/auth/users/${ref}/role`, { method: 'PUT', body: { role_id } });
const setStatus = (by: Account, { ref }: Account, status: Status) =>
  by.send(`/admin/users/${ref}/status`, { method: 'PUT', body: { status } });
const grant = (by: Account, { ref }: Account, expires_at?: string) =>
  by.send(`/admin/users/${ref}/grants`, { method: 'POST', body: { ...give, expires_at } });
const revokeGrant = (by: Account, { ref }: Account) =>
  by.send(`/admin/users/${ref}/grants`, { method: 'DELETE', body: give });
const revoke = (by: Account, { ref }: Account, expires_at?: string) =>
  by.send(`/admin/users/${ref}/revokes`, { method: 'POST', body: { ...give, expires_at } });

async function isAdministrator(account: Account): Promise<boolean> {
  const { status, text } = await account.send('/auth/me');
  return status === 200 && JSON.parse(text).capabilities.includes('system.admin');
}

async function expectKept({ status, text }: Answered, account: Account): Promise<void> {
  expect([status, text]).toEqual([400, expect.stringContaining('without an administrator')]);
  expect(await isAdministrator(account)).toBe(true);
}

// ROLE-11
describe('the last `system.admin` cannot be lost', () => {
  test('by a change of role, a permanent or temporary revoke, or another status', async () => {
    const outcomes = [
      await setRole(root, root, member),
      await revoke(root, root),
      await revoke(root, root, inAnHour()),
      await setStatus(root, root, 'pending'),
      await setStatus(root, root, 'disabled'),
      await setStatus(root, root, 'archived'),
    ];
    for (const outcome of outcomes) await expectKept(outcome, root);
    expect((await root.ok('getMyCapabilities')).revokes).toEqual([]);
  });

  test('by deleting, limiting or revoking its grant', async () => {
    expect((await grant(root, vice)).status).toBe(201);
    expect((await setRole(vice, root, member)).status).toBe(204);
    expect(await isAdministrator(root)).toBe(false);
    await expectKept(await revokeGrant(vice, vice), vice);
    await expectKept(await grant(vice, vice, inAnHour()), vice);
    await expectKept(await revoke(vice, vice), vice);
    await expectKept(await setStatus(vice, vice, 'disabled'), vice);
    expect((await vice.ok('getMyCapabilities')).grants).toMatchObject([{ expires_at: null }]);
  });

  // ROLE-11
  test('to an account with a temporary grant, which does not replace it', async () => {
    expect((await grant(root, vice, inAnHour())).status).toBe(201);
    expect(await isAdministrator(vice)).toBe(true);
    await expectKept(await setRole(vice, root, member), root);
    await expectKept(await setStatus(vice, root, 'disabled'), root);
    await expectKept(await revoke(root, root), root);
  });

  test('to an account with a grant in a team or a revoke, or that is not active', async () => {
    await addGrant(library, vice, 'system.admin', await addTeam(library, 'print'));
    await expectKept(await setRole(root, root, member), root);
    await grant(root, vice);
    for (const status of ['pending', 'disabled', 'archived'] as const) {
      await setStatus(root, vice, status);
      await expectKept(await setRole(root, root, member), root);
    }
    await setStatus(root, vice, 'active');
    for (const end of [undefined, inAnHour()]) {
      expect([200, 201]).toContain((await revoke(root, vice, end)).status);
      await expectKept(await setRole(root, root, member), root);
    }
  });

  test('unless another administrator remains, also by a role that inherits it', async () => {
    const { db } = library.deps;
    const id = '00000000-0000-4000-8000-00000000cccc';
    await db.insertInto('roles').values({ id, code: 'owner', label: 'Owner', parent_id: admin }).execute();
    expect((await setRole(root, vice, id)).status).toBe(204);
    expect((await setStatus(root, root, 'archived')).status).toBe(200);
    expect([await isAdministrator(root), await isAdministrator(vice)]).toEqual([false, true]);
    await expectKept(await setRole(vice, vice, member), vice);
  });
});

// ROLE-11
test('two administrators who demote each other concurrently leave one', async () => {
  const acts = [
    (by: Account, whose: Account) => setRole(by, whose, member),
    (by: Account, whose: Account) => revoke(by, whose),
    (by: Account, whose: Account) => setStatus(by, whose, 'disabled'),
    (_: Account, whose: Account) => setRole(whose, whose, member),
  ];
  const { db } = library.deps;
  for (let round = 0; round < acts.length ** 2; round += 1) {
    await db.deleteFrom('user_capability_revokes').execute();
    await db.updateTable('users').set({ status: 'active', role_id: admin }).execute();
    const mine = acts[round % 4];
    const theirs = acts[Math.floor(round / 4) % 4];
    if (mine === undefined || theirs === undefined) throw new Error('no such act');
    // New sessions, because a disabled account loses its cookie (SESSION-5).
    const [one, other] = [await again(root), await again(vice)];
    const outcomes = await Promise.all([mine(one, other), theirs(other, one)]);
    const left = [await isAdministrator(one), await isAdministrator(other)];
    expect(left.filter(Boolean), `round ${round}: ${JSON.stringify(outcomes)}`).toHaveLength(1);
    // The second is refused by the rule, or no longer let in.
    const refused = outcomes.filter(({ status }) => status >= 400);
    expect(refused).toHaveLength(1);
    expect([400, 401, 403]).toContain(refused[0]?.status);
  }
});
