import { createHmac } from 'node:crypto';
import { hash } from '@node-rs/bcrypt';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSession } from '../../src/identity/sessions.ts';
import { comparable, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';
import { signIn } from '../support/people.ts';

const scrambleKey = 'a key of the lock-out tests';

let library: Library;
let root: Account;

beforeAll(async () => {
  library = await openLibrary({ VITRINE_SCRAMBLE_KEY: scrambleKey });
  root = await library.join('root', 'admin');
});

beforeEach(async () => {
  await library.deps.db.deleteFrom('sign_in_failures').execute();
});

/** Creates an account with a session, and with a hash that is cheap to check, so that many failures are fast. */
async function enter(username: string): Promise<Account> {
  const { db } = library.deps;
  const digest = createHmac('sha256', scrambleKey).update(`RS${username}${password}`).digest('hex');
  const stored = await hash(digest, { cost: 4 });
  const { ref } = await db
    .insertInto('users')
    .values((eb) => ({
      username,
      password_hash: stored,
      role_id: eb.selectFrom('roles').select('id').where('code', '=', 'member').$asScalar(),
    }))
    .returning('ref')
    .executeTakeFirstOrThrow();
  const token = await startSession(db, { userRef: ref, days: 1, address: '', userAgent: '' });
  return { ...visit(library.address, {}, token), ref, username };
}

async function statusOf(username: string, given = password): Promise<number> {
  return (await signIn(library, username, given)).status;
}

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

/** Moves the failures of a name this many minutes into the past. */
async function moveBack(name: string, minutes: number): Promise<void> {
  const by = sql`make_interval(mins => ${minutes})`;
  const { numAffectedRows } = await sql`update sign_in_failures
    set last_at = last_at - ${by}, locked_until = locked_until - ${by} where name = ${name}`.execute(
    library.deps.db,
  );
  expect(numAffectedRows).toBe(1n);
}

/** Records this many recent failures. */
async function addFailures(name: string, failures: number): Promise<void> {
  await library.deps.db.insertInto('sign_in_failures').values({ name, failures }).execute();
}

interface Locked {
  subject: number | null;
  actor: number | null;
  metadata: Record<string, unknown>;
}

async function lockEvents(): Promise<Locked[]> {
  const { rows } = await sql<Locked>`
    select subject_user_ref as subject, actor_user_ref as actor, metadata from audit_events
    where event = 'auth.locked' order by occurred_at, id`.execute(library.deps.db);
  return rows;
}

/** Returns the lockouts that `work` causes. */
async function locksDuring(work: () => Promise<void>): Promise<Locked[]> {
  const before = (await lockEvents()).length;
  await work();
  return (await lockEvents()).slice(before);
}

// SIGNIN-10
describe('five failures lock a name for 15 minutes', () => {
  // SIGNIN-10
  test('returns the same 401 for the right password while locked', async () => {
    await enter('mara');
    const reference = comparable(await signIn(library, 'mara', 'wrong'));
    expect(reference.status).toBe(401);
    await failTimes('mara', 3);
    expect((await countOf('mara'))?.locked).toBe(false);
    await failTimes('mara', 1);
    expect((await countOf('mara'))?.locked).toBe(true);
    for (const given of [password, 'wrong', '']) {
      expect(comparable(await signIn(library, 'mara', given))).toEqual(reference);
    }
    // A provider that is not configured returns the same message.
    const body = { username: 'mara', password, provider: 'nowhere' };
    const elsewhere = await library.anonymous().send('/auth/login', { method: 'POST', body });
    expect(comparable(elsewhere)).toEqual(reference);
  });

  test('ignores the case of the name', async () => {
    await enter('Zoë Ångström');
    const spellings = ['Zoë Ångström', 'zoë ångström', 'ZOË ÅNGSTRÖM', 'zOË åNGSTRÖM', 'ZOë Ångström'];
    for (const one of spellings) expect(await statusOf(one, 'wrong')).toBe(401);
    for (const one of spellings) expect([one, await statusOf(one)]).toEqual([one, 401]);
    await library.deps.db.deleteFrom('sign_in_failures').execute();
    expect(await statusOf('zoë ångström')).toBe(200);
  });

  test.each([
    ['Greek sigma, at the end and within', 'ΟΔΥΣΣΕΥΣ', ['οδυσσευς', 'οδυσσευσ', 'ΟΔΥΣΣΕΥΣ', 'Οδυσσευς']],
    ['the dotted capital I', 'İlker', ['İlker', 'i̇lker', 'İLKER', 'ilker', 'ıLKER']],
    ['the sign of Kelvin', 'Kelvin', ['\u212aelvin', 'kelvin', 'KELVIN']],
    ['letters outside the first plane', '𐐔𐐯𐑅𐐨', ['𐐔𐐯𐑅𐐨', '𐐼𐐯𐑅𐐨', '𐐔𐐇𐐝𐐀']],
  ])('counts all spellings of %s together, regardless of case', async (_, username, spellings) => {
    const { db } = library.deps;
    const { ref } = await enter(username);
    const { rows } = await sql<{ spelling: string }>`
      select spelling from unnest(${spellings}::text[]) spelling, users u
      where u.ref = ${ref} and lower(u.username) = lower(spelling)`.execute(db);
    expect(rows.length).toBeGreaterThan(1);
    for (const { spelling } of rows) await failTimes(spelling, 1);
    const counted = await db.selectFrom('sign_in_failures').select('failures').execute();
    expect(counted).toEqual([{ failures: rows.length }]);
  });

  // SIGNIN-10
  test('locks unknown names like known ones', async () => {
    await enter('known');
    const answers: Record<string, unknown[]> = { known: [], nobody: [] };
    for (const name of ['known', 'nobody']) {
      for (let i = 0; i < 7; i += 1) answers[name]?.push(comparable(await signIn(library, name, 'wrong')));
    }
    expect(answers.nobody).toEqual(answers.known);
    const [known, nobody] = [await countOf('known'), await countOf('nobody')];
    expect({ ...nobody, lockedUntil: null }).toEqual({ ...known, lockedUntil: null });
    expect(nobody?.locked).toBe(true);
  });

  // USER-10
  test('locks a disabled account like any other', async () => {
    const gone = await enter('gone');
    await root.ok('setUserStatus', { params: { ref: gone.ref }, body: { status: 'disabled' } });
    for (let i = 0; i < 5; i += 1) expect(await statusOf('gone')).toBe(401);
    await root.ok('setUserStatus', { params: { ref: gone.ref }, body: { status: 'active' } });
    expect(await statusOf('gone')).toBe(401);
    expect((await countOf('gone'))?.locked).toBe(true);
  });

  test('locks only that name, and ends no session', async () => {
    const [one] = [await enter('one'), await enter('one2')];
    const { token } = await one.ok('createToken', { body: { name: 'script', scopes: ['read'] } });
    await failTimes('one', 5);
    expect(await statusOf('one')).toBe(401);
    expect(await statusOf('one2')).toBe(200);
    expect((await one.ok('getMe')).ref).toBe(one.ref);
    expect((await visit(library.address, { authorization: `Bearer ${token}` }).ok('getMe')).ref).toBe(
      one.ref,
    );
  });

  // SIGNIN-10
  test('forgets four failures after a successful sign-in', async () => {
    await enter('nora');
    for (let round = 0; round < 2; round += 1) {
      await failTimes('nora', 4);
      expect((await countOf('nora'))?.failures).toBe(4);
      expect(await statusOf('nora')).toBe(200);
      expect(await countOf('nora')).toBeNull();
    }
  });

  // SIGNIN-10
  test('ends a lock after 15 minutes, without extending it on further failures', async () => {
    await enter('olga');
    await failTimes('olga', 5);
    const first = await countOf('olga');
    const left = Date.parse(first?.lockedUntil ?? '') - Date.now();
    expect(Math.abs(left - 15 * 60_000)).toBeLessThan(60_000);
    await failTimes('olga', 6);
    expect((await countOf('olga'))?.lockedUntil).toBe(first?.lockedUntil);
    await moveBack('olga', 14);
    expect(await statusOf('olga')).toBe(401);
    await moveBack('olga', 1);
    expect(await statusOf('olga')).toBe(200);
    expect(await countOf('olga')).toBeNull();
  });

  test('allows five more attempts after a lock', async () => {
    await enter('pia');
    await failTimes('pia', 5);
    await moveBack('pia', 16);
    await failTimes('pia', 1);
    expect(await countOf('pia')).toEqual({ failures: 1, locked: false, lockedUntil: null });
    await failTimes('pia', 3);
    expect((await countOf('pia'))?.locked).toBe(false);
    await failTimes('pia', 1);
    expect((await countOf('pia'))?.locked).toBe(true);
  });

  test('does not count failures older than 15 minutes', async () => {
    await enter('rosa');
    await failTimes('rosa', 4);
    await moveBack('rosa', 14);
    await failTimes('rosa', 1);
    expect((await countOf('rosa'))?.locked).toBe(true);
    await library.deps.db.deleteFrom('sign_in_failures').execute();
    await failTimes('rosa', 4);
    await moveBack('rosa', 16);
    await failTimes('rosa', 1);
    expect(await countOf('rosa')).toEqual({ failures: 1, locked: false, lockedUntil: null });
    expect(await statusOf('rosa')).toBe(200);
  });
});

describe('the lock in the audit log', () => {
  test('is a single event with the address and without an actor', async () => {
    const sara = await enter('sara');
    const events = await locksDuring(() => failTimes('SARA', 8));
    expect(events).toEqual([{ subject: sara.ref, actor: null, metadata: { address: '127.0.0.1' } }]);
  });

  // SIGNIN-12
  test('is recorded once per lock', async () => {
    const tina = await enter('tina');
    const events = await locksDuring(async () => {
      await failTimes('tina', 5);
      await moveBack('tina', 16);
      await failTimes('tina', 5);
    });
    expect(events.map(({ subject }) => subject)).toEqual([tina.ref, tina.ref]);
  });

  // SIGNIN-12
  test('does not record an unknown name, which may be a mistyped password', async () => {
    await addFailures('hunter2 hunter2', 4);
    const events = await locksDuring(() => failTimes('Hunter2 Hunter2', 1));
    expect(events).toEqual([{ subject: null, actor: null, metadata: { address: '127.0.0.1' } }]);
    const { rows } = await sql<{ line: string }>`select e::text as line from audit_events e`.execute(
      library.deps.db,
    );
    expect(rows.map(({ line }) => line.toLowerCase()).join('\n')).not.toContain('hunter2');
  });

  test('records one lockout for 100 concurrent failures', async () => {
    const uta = await enter('uta');
    const statuses = new Set<number>();
    const events = await locksDuring(async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) => signIn(library, 'uta', `wrong ${i}`)),
      );
      for (const { status } of answers) statuses.add(status);
    });
    // Beyond the limit of the queue, sign-ins get 429; they are not checked, so they do not count.
    for (const status of statuses) expect([401, 429]).toContain(status);
    expect([events.length, events[0]?.subject]).toEqual([1, uta.ref]);
    expect(await countOf('uta')).toMatchObject({ locked: true });
    expect(await statusOf('uta')).toBe(401);
  });
});

describe('a new password', () => {
  // SIGNIN-11
  test('lifts the lock when an administrator sets it', async () => {
    const vera = await enter('vera');
    await failTimes('vera', 5);
    const { temporary_password } = await root.ok('resetPassword', { params: { ref: vera.ref } });
    expect(await statusOf('vera', temporary_password)).toBe(200);
    expect(await statusOf('vera')).toBe(401);
    expect((await countOf('vera'))?.failures).toBe(1);
    expect((await vera.refused('getMe')).status).toBe(401);
  });

  test('cannot be set by the account itself while its name is locked', async () => {
    const wera = await enter('wera');
    const change = (given: string) =>
      wera.refused('changePassword', { body: { current_password: given, new_password: `${password}!` } });
    await addFailures('wera', 4);
    expect(await change('wrong')).toEqual({ status: 403, error: 'wrong password' });
    expect((await countOf('wera'))?.locked).toBe(true);
    expect(await change(password)).toEqual({ status: 403, error: 'wrong password' });
    expect(await statusOf('wera')).toBe(401);
    await moveBack('wera', 16);
    expect(await statusOf('wera', `${password}!`)).toBe(401);
    expect(await statusOf('wera')).toBe(200);
  });
});

describe('unusual names', () => {
  test.each([
    ['SQL', "'; drop table sign_in_failures; --"],
    ['a pattern', '%'],
    ['a mark that turns the direction of writing', 'xeni\u202ea'],
    ['a mark of right-to-left', '\u200fxenia'],
    ['blanks around it', ' xenia '],
    ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈'],
    ['500 characters', 'x'.repeat(500)],
    ['500 characters of two bytes and more', '𝔵'.repeat(250)],
    ['the name of a property', '__proto__'],
  ])('counts %s as that name only', async (_, name) => {
    await addFailures(name, 4);
    await failTimes(name, 1);
    expect((await countOf(name))?.locked).toBe(true);
    const { rows } = await sql<{ name: string }>`select name from sign_in_failures`.execute(library.deps.db);
    expect(rows).toEqual([{ name }]);
    await library.deps.db.deleteFrom('sign_in_failures').execute();
  });

  test('does not treat invisible characters as another spelling of a name', async () => {
    await enter('xenia');
    for (const name of ['xeni\u202ea', '\u200fxenia', ' xenia ', 'xenia\u200b']) {
      expect([name, await statusOf(name)]).toEqual([name, 401]);
    }
    expect(await countOf('xenia')).toBeNull();
    expect(await statusOf('xenia')).toBe(200);
  });

  test.each([
    ['NUL', 'xenia\u0000', 400],
    ['nothing', '', 400],
    ['501 characters', 'x'.repeat(501), 400],
    ['a megabyte less what stands around it', 'x'.repeat(1024 * 1024 - 100), 400],
    ['a megabyte', 'x'.repeat(1024 * 1024), 413],
  ])('refuses %s and stores nothing', async (_, name, status) => {
    expect(await statusOf(name, 'wrong')).toBe(status);
    const { rows } = await sql`select from sign_in_failures`.execute(library.deps.db);
    expect(rows.length).toBe(0);
  });
});
