import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openDeps } from '../../src/boot/service.ts';
import type { Config } from '../../src/core/config.ts';
import { openHashing } from '../../src/people/identity/hashing.ts';
import { type Library, openLibrary, password } from '../support/library.ts';
import { grant, setStatus, signIn, storedHashOf, withdrawGrants } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

async function administrators(library: Library): Promise<string[]> {
  const rows = await library.deps.db
    .selectFrom('users')
    .innerJoin('roles', 'roles.id', 'users.role_id')
    .select('users.username')
    .where('roles.code', '=', 'admin')
    .execute();
  return rows.map((row) => row.username);
}

const library = await openLibrary();

// SETUP-1
describe('set-up of an empty library', () => {
  test('is required while there is no administrator', async () => {
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
    const mara = await library.join('mara');
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
    await grant(library, mara, 'users.write');
    await grant(library, mara, 'system.admin', await addTeam(library, 'north', [mara]));
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
    await withdrawGrants(library, mara);
  });

  test('returns 400 with the property, or 409 for a taken name, and creates nobody', async () => {
    for (const [named, body] of [
      ['password', { username: 'root', password: '1234567' }],
      ['username', { username: '   ', password }],
      ['username', { username: ' root ', password }],
      ['email', { username: 'root', password, email: 'nobody' }],
      ['sensitivity', { username: 'root', password, default_sensitivity: 'public' }],
    ] as const) {
      const answer = await library.anonymous().send('/setup/complete', { method: 'POST', body });
      expect([body, answer.status, answer.text]).toEqual([body, 400, expect.stringContaining(named)]);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    const taken = { body: { username: 'MARA', password } };
    expect((await library.anonymous().refused('completeSetup', taken)).status).toBe(409);
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
  });

  // SETUP-1
  test('creates one administrator from ten concurrent requests and signs them in', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `Root ${i}`);
    const more = { password, email: 'root@example.org', site_name: '  Glass house ' };
    const outcomes = await Promise.all(
      names.map(async (username) => {
        const visitor = library.anonymous();
        const body = { username, ...more, default_sensitivity: 'org' };
        return { username, visitor, answer: await visitor.send('/setup/complete', { method: 'POST', body }) };
      }),
    );
    const [winner, ...others] = outcomes.toSorted((a, b) => a.answer.status - b.answer.status);
    if (winner === undefined) throw new Error('no outcome');
    const { username, visitor, answer } = winner;
    expect([answer.status, ...others.map((one) => one.answer.status)]).toEqual([201, ...Array(9).fill(409)]);
    expect(others.filter((one) => one.answer.headers.has('set-cookie'))).toEqual([]);
    expect(answer.headers.get('set-cookie')).toMatch(/^user=[\w-]{43};.*HttpOnly; SameSite=Lax/);
    const user = await visitor.ok('getSessionUser');
    expect(JSON.parse(answer.text)).toEqual(user);
    expect(user).toMatchObject({ username, email: 'root@example.org', capabilities_status: 'resolved' });
    expect(user.capabilities).toContain('system.admin');
    expect((await visitor.ok('getSite')).default_sensitivity).toBe('org');
    expect(await visitor.ok('getSetupStatus')).toEqual({ needs_setup: false });
    await library.anonymous().ok('login', { body: { username: username.toLowerCase(), password } });
    const vera = await library.join('vera', 'admin');
    const again = { body: { username: 'second', password, site_name: 'Taken over' } };
    for (const one of [library.anonymous(), vera])
      expect((await one.refused('completeSetup', again)).status).toBe(409);
    expect(await administrators(library)).toEqual([username, 'vera']);
    expect((await library.anonymous().ok('getAppearance')).site_name).toBe('Glass house');
  });
});

// SETUP-1
test.each(['a grant', 'a role with an administering parent', 'a role, disabled'])(
  'set-up is refused when the only administrator is one by %s',
  async (means) => {
    const other = await openLibrary();
    const root = await other.join('root', 'admin');
    if (means === 'a role, disabled') await setStatus(other, root, 'disabled');
    else {
      const vice = await other.join('vice');
      const { db } = other.deps;
      if (means === 'a grant') await grant(other, vice, 'system.admin');
      else
        await sql`with child as (insert into roles (id, code, label, parent_id)
            select gen_random_uuid(), 'child', 'Child', id from roles where code = 'admin' returning id)
          update users set role_id = child.id from child where ref = ${vice.ref}`.execute(db);
      await db.deleteFrom('users').where('ref', '=', root.ref).execute();
    }
    const visitor = other.anonymous();
    expect(await visitor.ok('getSetupStatus')).toEqual({ needs_setup: false });
    const body = { username: 'intruder', password };
    expect((await visitor.refused('completeSetup', { body })).status).toBe(409);
  },
);

const configured = await openLibrary(
  { VITRINE_ADMIN_USERNAME: 'Boss', VITRINE_ADMIN_PASSWORD: password },
  { hashing: openHashing() },
);

// SETTING-7
describe('an administrator named in the settings', () => {
  const { deps } = configured;
  /** Starts the service again with other settings. */
  const restart = (change: Partial<Config>) =>
    openDeps(deps.db, deps.storage, { ...configured.config, ...change }, deps.log);

  test('is created at the first start, so that no set-up is needed', async () => {
    expect(await configured.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: false });
    const body = { username: 'other', password };
    expect((await configured.anonymous().refused('completeSetup', { body })).status).toBe(409);
    const user = await configured.anonymous().ok('login', { body: { username: 'boss', password } });
    expect(user.username).toBe('Boss');
    expect(user.capabilities).toContain('system.admin');
  });

  // SETTING-7
  test('is not created again by later starts with other settings', async () => {
    const restarted = await Promise.all([
      restart({ admin: { username: 'Boss', password: 'another password' }, scrambleKey: null }),
      restart({ admin: { username: 'Second', password }, scrambleKey: null }),
    ]);
    expect(await administrators(configured)).toEqual(['Boss']);
    // The secret of the first start remains, because otherwise nobody could sign in.
    expect(new Set(restarted.map((one) => one.secretKey))).toEqual(new Set([deps.secretKey]));
    const stored = await storedHashOf(configured, 'Boss');
    for (const { passwords } of restarted)
      expect(await passwords.verify('Boss', password, stored)).toEqual({ matches: true, outdated: false });
    expect((await signIn(configured, 'Boss', 'another password')).status).toBe(401);
    expect((await signIn(configured, 'Boss')).status).toBe(200);
  });

  // SETTING-6
  test('keeps its password when the scramble key of an earlier system is set after the first start', async () => {
    const { passwords } = await restart({ scrambleKey: 'set later' });
    const stored = await storedHashOf(configured, 'Boss');
    expect(await passwords.verify('Boss', password, stored)).toEqual({ matches: true, outdated: true });
    expect((await passwords.verify('Boss', 'wrong', stored)).matches).toBe(false);
    const anew = await passwords.hash('Boss', password);
    expect(await passwords.verify('Boss', password, anew)).toEqual({ matches: true, outdated: false });
  });
});
