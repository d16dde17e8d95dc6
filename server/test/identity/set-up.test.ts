import { beforeAll, describe, expect, test } from 'vitest';
import { openHashing } from '../../src/identity/hashing.ts';
import { openDeps } from '../../src/service.ts';
import { type Library, openLibrary, password } from '../support/library.ts';
import { storedHashOf } from '../support/people.ts';

async function administrators(library: Library): Promise<string[]> {
  const rows = await library.deps.db
    .selectFrom('users')
    .innerJoin('roles', 'roles.id', 'users.role_id')
    .select('users.username')
    .where('roles.code', '=', 'admin')
    .execute();
  return rows.map((row) => row.username);
}

// SETUP-1
describe('set-up of an empty library', () => {
  let library: Library;

  beforeAll(async () => {
    library = await openLibrary();
  });

  test('is required while there is no administrator', async () => {
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
    await library.join('mara');
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
  });

  test.each([
    ['a short password', { username: 'root', password: '1234567' }, 'password'],
    ['a blank username', { username: '   ', password }, 'username'],
    ['a username with blanks around it', { username: ' root ', password }, 'username'],
    ['an e-mail that is no address', { username: 'root', password, email: 'nobody' }, 'email'],
    [
      'a sensitivity that set-up does not offer',
      { username: 'root', password, default_sensitivity: 'public' },
      'sensitivity',
    ],
  ])('returns 400 for %s and names the property', async (_, body, named) => {
    const answer = await library.anonymous().send('/setup/complete', { method: 'POST', body });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({ error: expect.stringContaining(named) });
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
  });

  test('returns 409 for a taken name', async () => {
    const refusal = await library
      .anonymous()
      .refused('completeSetup', { body: { username: 'MARA', password } });
    expect(refusal.status).toBe(409);
    expect(await library.anonymous().ok('getSetupStatus')).toEqual({ needs_setup: true });
  });

  // SETUP-1
  test('creates the first administrator and signs them in', async () => {
    const visitor = library.anonymous();
    const body = {
      username: 'Root',
      password,
      email: 'root@example.org',
      site_name: '  Glass house ',
      default_sensitivity: 'org',
    };
    const answer = await visitor.send('/setup/complete', { method: 'POST', body });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('set-cookie')).toMatch(/^user=[\w-]{43};.*HttpOnly; SameSite=Lax/);
    const user = await visitor.ok('getSessionUser');
    expect(JSON.parse(answer.text)).toEqual(user);
    expect(user).toMatchObject({
      username: 'Root',
      email: 'root@example.org',
      capabilities_status: 'resolved',
    });
    expect(user.capabilities).toContain('system.admin');
    await visitor.ok('getPublicMode');
    expect((await visitor.ok('getSite')).default_sensitivity).toBe('org');
    expect((await visitor.ok('getAppearance')).site_name).toBe('Glass house');
    expect(await visitor.ok('getSetupStatus')).toEqual({ needs_setup: false });
    await library.anonymous().ok('login', { body: { username: 'root', password } });
  });

  // SETUP-1
  test('returns 409 to everyone afterwards', async () => {
    for (const visitor of [library.anonymous(), await library.join('vera', 'admin')]) {
      const body = { username: 'second', password, site_name: 'Taken over' };
      expect((await visitor.refused('completeSetup', { body })).status).toBe(409);
    }
    expect(await administrators(library)).toEqual(['Root', 'vera']);
    expect((await library.anonymous().ok('getAppearance')).site_name).toBe('Glass house');
  });
});

// SETUP-1
test('creates one administrator from ten concurrent requests', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      raced.anonymous().send('/setup/complete', { method: 'POST', body: { username: `root${i}`, password } }),
    ),
  );
  expect(outcomes.map((one) => one.status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
  const winner = outcomes.find((one) => one.status === 201)?.text ?? '';
  expect(await administrators(raced)).toEqual([JSON.parse(winner).username]);
  expect(outcomes.filter((one) => one.headers.has('set-cookie'))).toHaveLength(1);
});

let raced: Library;
let configured: Library;

beforeAll(async () => {
  raced = await openLibrary();
  configured = await openLibrary(
    { VITRINE_ADMIN_USERNAME: 'Boss', VITRINE_ADMIN_PASSWORD: password },
    { hashing: openHashing() },
  );
});

// SETTING-7
describe('an administrator named in the settings', () => {
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
    const { deps, config } = configured;
    const restart = (username: string, given: string) =>
      openDeps(
        deps.db,
        deps.storage,
        { ...config, admin: { username, password: given }, scrambleKey: null },
        deps.log,
      );
    const restarted = await Promise.all([
      restart('Boss', 'another password'),
      restart('Second', password),
      restart('Boss', password),
    ]);
    expect(await administrators(configured)).toEqual(['Boss']);
    // The secret of the first start remains, because otherwise nobody could sign in.
    expect(new Set(restarted.map((one) => one.secretKey))).toEqual(new Set([deps.secretKey]));
    for (const { passwords } of restarted) {
      expect(await passwords.verify('Boss', password, await storedHashOf(configured, 'Boss'))).toEqual({
        matches: true,
        outdated: false,
      });
    }
    const refused = await configured
      .anonymous()
      .refused('login', { body: { username: 'Boss', password: 'another password' } });
    expect(refused.status).toBe(401);
    await configured.anonymous().ok('login', { body: { username: 'Boss', password } });
  });

  // SETTING-6
  test('keeps its password when the scramble key of an earlier system is set after the first start', async () => {
    const { deps, config } = configured;
    const { passwords } = await openDeps(
      deps.db,
      deps.storage,
      { ...config, scrambleKey: 'set later' },
      deps.log,
    );
    const stored = await storedHashOf(configured, 'Boss');
    expect(await passwords.verify('Boss', password, stored)).toEqual({ matches: true, outdated: true });
    expect((await passwords.verify('Boss', 'wrong', stored)).matches).toBe(false);
    const anew = await passwords.hash('Boss', password);
    expect(await passwords.verify('Boss', password, anew)).toEqual({ matches: true, outdated: false });
  });
});
