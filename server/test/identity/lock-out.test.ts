import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEventsDuring } from '../support/audit.ts';
import { comparable, visit } from '../support/client.ts';
import { openLibrary, password } from '../support/library.ts';
import { setStatus, signIn } from '../support/people.ts';
import { addFailures, forgetFailures } from './failures.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');

beforeEach(() => forgetFailures(library));

const statusOf = async (username: string, given?: string) => (await signIn(library, username, given)).status;

async function failTimes(username: string, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) expect(await statusOf(username, 'wrong')).toBe(401);
}

interface Count {
  failures: number;
  locked: boolean;
  lockedUntil: string | null;
}

/** Returns the stored failures of a name. */
async function countOf(name: string): Promise<Count | null> {
  const { rows } = await sql<Count>`
    select failures, coalesce(locked_until > now(), false) as locked, locked_until as "lockedUntil"
    from sign_in_failures where name = ${name}`.execute(library.deps.db);
  return rows[0] ?? null;
}

const isLocked = async (name: string) => (await countOf(name))?.locked ?? false;

/** Moves the failures of a name this many minutes into the past. */
async function moveBack(name: string, minutes: number): Promise<void> {
  const by = sql`make_interval(mins => ${minutes})`;
  const { numAffectedRows } = await sql`update sign_in_failures
    set last_at = last_at - ${by}, locked_until = locked_until - ${by} where name = ${name}`.execute(
    library.deps.db,
  );
  expect(numAffectedRows).toBe(1n);
}

// SIGNIN-10
describe('five failures lock a name for 15 minutes', () => {
  // SIGNIN-10
  test('returns the same 401 for the right password while locked', async () => {
    await library.join('mara');
    const reference = comparable(await signIn(library, 'mara', 'wrong'));
    expect(reference.status).toBe(401);
    await failTimes('mara', 3);
    expect(await isLocked('mara')).toBe(false);
    await failTimes('mara', 1);
    expect(await isLocked('mara')).toBe(true);
    for (const given of [password, 'wrong', ''])
      expect(comparable(await signIn(library, 'mara', given))).toEqual(reference);
    // A provider that is not configured returns the same message.
    const body = { username: 'mara', password, provider: 'nowhere' };
    const elsewhere = await library.anonymous().send('/auth/login', { method: 'POST', body });
    expect(comparable(elsewhere)).toEqual(reference);
  });

  test.each([
    ['accents', 'Zoë Ångström', ['Zoë Ångström', 'zoë ångström', 'ZOË ÅNGSTRÖM', 'zOË åNGSTRÖM']],
    ['Greek sigma, at the end and within', 'ΟΔΥΣΣΕΥΣ', ['οδυσσευς', 'οδυσσευσ', 'ΟΔΥΣΣΕΥΣ', 'Οδυσσευς']],
    ['the dotted capital I', 'İlker', ['İlker', 'i̇lker', 'İLKER', 'I\u0307LKER']],
    ['composed and decomposed accents', 'José', ['Jos\u00e9', 'jose\u0301', 'JOSE\u0301']],
    ['sharp s', 'Groß', ['groß', 'GROSS', 'gross', 'GROẞ']],
    ['full-width letters and ligatures', 'Fiona', ['fiona', 'Ｆｉｏｎａ', 'ﬁona']],
    ['the sign of Kelvin', 'Kelvin', ['\u212aelvin', 'kelvin', 'KELVIN']],
    ['letters outside the first plane', '𐐔𐐯𐑅𐐨', ['𐐔𐐯𐑅𐐨', '𐐼𐐯𐑅𐐨', '𐐔𐐇𐐝𐐀']],
  ])('counts all spellings of %s together, regardless of case', async (_, username, spellings) => {
    const { db } = library.deps;
    await library.join(username);
    for (const spelling of spellings) expect(await statusOf(spelling)).toBe(200);
    for (const spelling of spellings) await failTimes(spelling, 1);
    const counted = await db.selectFrom('sign_in_failures').select('failures').execute();
    expect(counted).toEqual([{ failures: spellings.length }]);
  });

  // SIGNIN-10
  test('locks unknown names like known ones', async () => {
    await library.join('known');
    const wrong = async (name: string) => comparable(await signIn(library, name, 'wrong'));
    for (let i = 0; i < 7; i += 1) expect(await wrong('nobody')).toEqual(await wrong('known'));
    const [known, nobody] = [await countOf('known'), await countOf('nobody')];
    expect({ ...nobody, lockedUntil: null }).toEqual({ ...known, lockedUntil: null });
    expect(nobody?.locked).toBe(true);
  });

  // USER-10
  test('locks a disabled account like any other', async () => {
    const gone = await library.join('gone');
    await setStatus(library, gone, 'disabled');
    for (let i = 0; i < 5; i += 1) expect(await statusOf('gone')).toBe(401);
    await setStatus(library, gone, 'active');
    expect([await statusOf('gone'), await isLocked('gone')]).toEqual([401, true]);
  });

  test('locks only that name, and ends neither sessions nor tokens', async () => {
    const [one] = await library.joinAll('one', 'one2');
    const { token } = await one.ok('createToken', { body: { name: 'script', scopes: ['read'] } });
    await addFailures(library, 'one', 4);
    await failTimes('one', 1);
    expect([await statusOf('one'), await statusOf('one2')]).toEqual([401, 200]);
    for (const caller of [one, visit(library.address, { authorization: `Bearer ${token}` })])
      expect((await caller.ok('getMe')).ref).toBe(one.ref);
  });

  // SIGNIN-10
  test('ends a lock after 15 minutes, without extending it on further failures', async () => {
    await library.join('olga');
    await failTimes('olga', 5);
    const first = await countOf('olga');
    const left = Date.parse(first?.lockedUntil ?? '') - Date.now();
    expect(Math.abs(left - 15 * 60_000)).toBeLessThan(60_000);
    await failTimes('olga', 2);
    expect((await countOf('olga'))?.lockedUntil).toBe(first?.lockedUntil);
    await moveBack('olga', 14);
    expect(await statusOf('olga')).toBe(401);
    await moveBack('olga', 1);
    expect(await statusOf('olga')).toBe(200);
    // A successful sign-in forgets the failures.
    expect(await countOf('olga')).toBeNull();
  });

  // SIGNIN-12
  test('allows five more attempts after a lock, and records each lock', async () => {
    const pia = await library.join('pia');
    const events = await auditEventsDuring(library, async () => {
      await failTimes('pia', 5);
      await moveBack('pia', 16);
      await failTimes('pia', 1);
      expect(await countOf('pia')).toEqual({ failures: 1, locked: false, lockedUntil: null });
      await failTimes('pia', 3);
      expect(await isLocked('pia')).toBe(false);
      await failTimes('pia', 1);
      expect(await isLocked('pia')).toBe(true);
    });
    const lock = { event: 'auth.locked', actor_user_ref: null, subject_user_ref: pia.ref };
    expect(events).toMatchObject([lock, lock]);
  });

  test('does not count failures older than 15 minutes', async () => {
    for (const [minutes, locked] of [
      [14, true],
      [16, false],
    ] as const) {
      await addFailures(library, 'rosa', 4);
      await moveBack('rosa', minutes);
      await failTimes('rosa', 1);
      expect([minutes, await isLocked('rosa')]).toEqual([minutes, locked]);
      await forgetFailures(library);
    }
  });

  // SIGNIN-12
  test('records one lockout for 100 concurrent failures', async () => {
    const uta = await library.join('uta');
    const attempt = async (_: unknown, i: number) =>
      // Beyond the limit of the queue, sign-ins get 429; they are not checked, so they do not count.
      expect([401, 429]).toContain(await statusOf('uta', `wrong ${i}`));
    const events = await auditEventsDuring(library, () => Promise.all(Array.from({ length: 100 }, attempt)));
    expect(events).toMatchObject([{ event: 'auth.locked', subject_user_ref: uta.ref }]);
    expect([await isLocked('uta'), await statusOf('uta')]).toEqual([true, 401]);
  });
});

describe('a new password', () => {
  // SIGNIN-11, USER-11
  test('lifts the lock when an administrator sets it', async () => {
    const vera = await library.join('vera');
    await addFailures(library, 'vera', 4);
    await failTimes('vera', 1);
    const { temporary_password } = await root.ok('resetPassword', { params: { ref: vera.ref } });
    expect([await statusOf('vera', temporary_password), await statusOf('vera')]).toEqual([200, 401]);
    expect((await countOf('vera'))?.failures).toBe(1);
  });

  // SIGNIN-14
  test('cannot be set by the account itself while its name is locked', async () => {
    const wera = await library.join('wera');
    const change = (given: string) =>
      wera.refused('changePassword', { body: { current_password: given, new_password: `${password}!` } });
    await addFailures(library, 'wera', 4);
    for (const given of ['wrong', password]) {
      expect(await change(given)).toEqual({ status: 403, error: 'wrong password' });
      expect(await isLocked('wera')).toBe(true);
    }
    expect(await statusOf('wera')).toBe(401);
    await moveBack('wera', 16);
    expect([await statusOf('wera', `${password}!`), await statusOf('wera')]).toEqual([401, 200]);
    expect((await wera.ok('getMe')).ref).toBe(wera.ref);
  });
});

describe('unusual names', () => {
  test('are counted as that name only', async () => {
    const names = [
      "'; drop table sign_in_failures; --",
      '%',
      'xeni\u202ea',
      '\u200fxenia',
      ' xenia ',
      '👩‍👩‍👧‍👦🏳️‍🌈',
      'x'.repeat(500),
      '𓀀'.repeat(250),
      '__proto__',
    ];
    for (const name of names) await addFailures(library, name, 4);
    for (const name of names) await failTimes(name, 1);
    const { rows } = await sql<{ name: string }>`
      select name from sign_in_failures where failures = 5 and locked_until > now()`.execute(library.deps.db);
    expect(rows.map(({ name }) => name).sort()).toEqual(names.toSorted());
  });

  test('with invisible characters are no spelling of another name', async () => {
    await library.join('xenia');
    for (const name of ['xeni\u202ea', '\u200fxenia', ' xenia ', 'xenia\u200b'])
      expect([name, await statusOf(name)]).toEqual([name, 401]);
    expect([await countOf('xenia'), await statusOf('xenia')]).toEqual([null, 200]);
  });
});
