import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { expire } from '../../src/sweep/expired.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';
import { actAs, anotherSession, bearer, grant } from '../support/people.ts';
import { openSecond } from '../support/second.ts';

const nowhere = 404_000;

let library: Library;
/** A second service on the same database, like another process. */
let otherAddress: string;
let root: Account;

beforeAll(async () => {
  library = await openLibrary({ VITRINE_SESSION_DAYS: '2' });
  const second = await openSecond(library);
  otherAddress = second.address;
  root = await library.join('root', 'admin');
  return second.close;
});

/** Returns the same browser, connected to the other process. */
function elsewhere(visitor: Visitor): Visitor {
  return visit(otherAddress, {}, visitor.cookie());
}

async function idOf(visitor: Visitor): Promise<string> {
  const current = (await visitor.ok('listSessions')).items.find((one) => one.current);
  if (current === undefined) throw new Error('no session is the current one');
  return current.id;
}

async function isSignedIn(visitor: Visitor): Promise<boolean> {
  const statuses = [(await visitor.send('/me')).status, (await elsewhere(visitor).send('/me')).status];
  expect(new Set(statuses).size, `the processes disagree: ${statuses.join(' and ')}`).toBe(1);
  return statuses[0] === 200;
}

describe('GET /account/sessions', () => {
  // SESSION-6
  test('lists the sessions of the account, newest first, and marks the current one', async () => {
    const { db } = library.deps;
    const [mara, other] = [await library.join('mara'), await library.join('other')];
    const phone = await anotherSession(library, mara, 'phone');
    await anotherSession(library, other);
    await sql`update sessions set created_at = created_at - interval '1 hour'
      where user_ref = ${mara.ref} and user_agent = 'test'`.execute(db);
    const { items, next_cursor } = await mara.ok('listSessions');
    expect(next_cursor).toBeNull();
    expect(items.map(({ user_agent, current }) => [user_agent, current])).toEqual([
      ['phone', false],
      ['test', true],
    ]);
    expect((await phone.ok('listSessions')).items.map(({ current }) => current)).toEqual([true, false]);
    expect(items[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      current: true,
      user_agent: 'test',
      address: '127.0.0.1',
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      expires_at: expect.any(String),
      impersonated_by: null,
    });
    const text = (await mara.send('/account/sessions')).text;
    for (const visitor of [mara, phone]) expect(text).not.toContain(visitor.cookie());
    const stored = await db
      .selectFrom('sessions')
      .select('token_hash')
      .where('user_ref', '=', mara.ref)
      .execute();
    for (const { token_hash } of stored) {
      expect(text).not.toContain(token_hash.toString('hex'));
      expect(text).not.toContain(token_hash.toString('base64url'));
    }
  });

  // SESSION-6
  test('names the administrator of an impersonation to both sides', async () => {
    const target = await library.join('target');
    const mask = await actAs(library, root, target);
    const by = { ref: root.ref, username: 'root' };
    const seen = (await target.ok('listSessions')).items;
    expect(seen.map((one) => [one.impersonated_by, one.current])).toEqual(
      expect.arrayContaining([
        [by, false],
        [null, true],
      ]),
    );
    const worn = (await mask.ok('listSessions')).items;
    expect(worn.filter(({ current }) => current).map((one) => one.impersonated_by)).toEqual([by]);
    expect((await root.ok('listSessions')).items.map((one) => one.impersonated_by)).toEqual([null]);
  });

  test('omits expired sessions', async () => {
    const paul = await library.join('paul');
    const old = await anotherSession(library, paul, 'old');
    await sql`update sessions set expires_at = now() - interval '1 second'
      where user_ref = ${paul.ref} and user_agent = 'old'`.execute(library.deps.db);
    expect((await paul.ok('listSessions')).items).toHaveLength(1);
    expect(await isSignedIn(old)).toBe(false);
  });

  // SESSION-6
  test('pages without duplicates or gaps while sessions start and end', async () => {
    const anna = await library.join('anna');
    for (let i = 0; i < 6; i += 1) await anotherSession(library, anna, `browser ${i}`);
    // Several have the same time, so the id orders them.
    await sql`update sessions set created_at = '2026-01-01T00:00:00Z'
      where user_ref = ${anna.ref} and user_agent in ('browser 1', 'browser 2', 'browser 3')`.execute(
      library.deps.db,
    );
    const all = (await anna.ok('listSessions')).items.map(({ id }) => id);
    expect(all).toHaveLength(7);
    const first = await anna.ok('listSessions', { query: { limit: 5 } });
    await anotherSession(library, anna, 'newcomer');
    const second = await anna.ok('listSessions', { query: { limit: 5, cursor: first.next_cursor ?? '' } });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(all);
    expect(second.next_cursor).toBeNull();
  });

  test('keeps 500 characters of the user agent, and the address', async () => {
    await library.join('lena');
    const name = `Mozilla/5.0 ${'x'.repeat(2000)}`;
    const browser = visit(library.address, { 'user-agent': name });
    await browser.ok('login', { body: { username: 'lena', password } });
    const [session] = (await browser.ok('listSessions')).items;
    expect(session).toMatchObject({ user_agent: name.slice(0, 500), address: '127.0.0.1', current: true });
    const target = await library.join('gaius');
    const mask = visit(library.address, { 'user-agent': name }, root.cookie());
    await mask.ok('impersonate', { params: { ref: target.ref }, body: undefined });
    expect((await mask.ok('listSessions')).items[0]?.user_agent).toBe(name.slice(0, 500));
  });
});

describe('ending own sessions', () => {
  // SESSION-7
  test('ends one session: its next request is 401 on every process', async () => {
    const [mara, other] = [await library.join('ending'), await library.join('bystander')];
    const phone = await anotherSession(library, mara);
    expect(await isSignedIn(phone)).toBe(true);
    const id = await idOf(phone);
    await mara.ok('endSession', { params: { id } });
    expect(await isSignedIn(phone)).toBe(false);
    expect(await isSignedIn(mara)).toBe(true);
    expect(await isSignedIn(other)).toBe(true);
    expect((await mara.refused('endSession', { params: { id } })).status).toBe(404);
  });

  test('ends a session through another process', async () => {
    const mara = await library.join('twofold');
    const phone = await anotherSession(library, mara);
    await phone.ok('getMe');
    await elsewhere(mara).ok('endSession', { params: { id: await idOf(phone) } });
    expect((await phone.refused('getMe')).status).toBe(401);
  });

  test('signs out by ending the current session', async () => {
    const mara = await library.join('leaving');
    await mara.ok('endSession', { params: { id: await idOf(mara) } });
    expect(await isSignedIn(mara)).toBe(false);
  });

  // SESSION-7
  test('returns 404 for a session of another account, also to administrators', async () => {
    const [mara, other] = [await library.join('nosy'), await library.join('private')];
    const id = await idOf(other);
    for (const caller of [mara, root]) {
      const [theirs, none] = [
        await caller.refused('endSession', { params: { id } }),
        await caller.refused('endSession', { params: { id: randomUUID() } }),
      ];
      expect(theirs).toEqual({ status: 404, error: 'not found' });
      expect(none).toEqual(theirs);
    }
    expect(await isSignedIn(other)).toBe(true);
  });

  // SESSION-7
  test('ends all other sessions, impersonations of the account included', async () => {
    const [mara, other] = [await library.join('alone'), await library.join('untouched')];
    const browsers = [
      await anotherSession(library, mara),
      await anotherSession(library, mara),
      await actAs(library, root, mara),
    ];
    await mara.ok('endOtherSessions');
    for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
    for (const account of [mara, other, root]) expect(await isSignedIn(account)).toBe(true);
    await mara.ok('endOtherSessions');
    expect((await mara.ok('listSessions')).items).toHaveLength(1);
  });

  test('keeps an impersonation that ends the sessions of its target', async () => {
    const target = await library.join('masked');
    const [mask, second] = [await actAs(library, root, target), await actAs(library, root, target)];
    await mask.ok('endOtherSessions');
    expect([await isSignedIn(mask), await isSignedIn(second), await isSignedIn(target)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('requires the scope `read` to list sessions and `admin` to end them', async () => {
    const mara = await library.join('scripted');
    const reading = await bearer(library, mara, ['read']);
    const { items } = await reading.ok('listSessions');
    expect(items.map(({ current }) => current)).toEqual([false]);
    const id = items[0]?.id ?? '';
    expect(await reading.refused('endSession', { params: { id } })).toEqual({
      status: 403,
      error: 'missing scope admin',
    });
    expect((await reading.refused('endOtherSessions')).status).toBe(403);
    expect(await isSignedIn(mara)).toBe(true);
    const writing = await bearer(library, mara, ['posts.write']);
    expect(await writing.refused('listSessions')).toEqual({ status: 403, error: 'missing scope read' });
    await (await bearer(library, mara, ['admin'])).ok('endOtherSessions');
    expect(await isSignedIn(mara)).toBe(false);
    expect((await reading.ok('listSessions')).items).toEqual([]);
  });

  test.each([false, true])(
    'returns 401 to anonymous callers for every operation (public mode %j)',
    async (publicMode) => {
      await library.setPublicMode(publicMode);
      const nobody = library.anonymous();
      const id = randomUUID();
      for (const [method, path] of [
        ['GET', '/account/sessions'],
        ['DELETE', '/account/sessions'],
        ['DELETE', `/account/sessions/${id}`],
        ['DELETE', '/account/sessions/x'],
        ['GET', `/admin/users/${root.ref}/sessions`],
        ['DELETE', `/admin/users/${root.ref}/sessions`],
        ['DELETE', `/admin/users/${nowhere}/sessions/${id}`],
      ] as const)
        expect([path, (await nobody.send(path, { method })).status]).toEqual([path, 401]);
      await library.setPublicMode(false);
      expect(await isSignedIn(root)).toBe(true);
    },
  );
});

describe('an administrator', () => {
  // SESSION-8
  test('sees the sessions of an account, with addresses and browsers only with users.pii.read', async () => {
    const [target, reader, private_] = [
      await library.join('seen'),
      await library.join('reader'),
      await library.join('trusted'),
    ];
    await grant(library, reader, 'users.read');
    await grant(library, private_, ['users.read', 'users.pii.read']);
    await actAs(library, root, target);
    const params = { ref: target.ref };
    const bare = (await reader.ok('listUserSessions', { params })).items;
    expect(bare.map((one) => [one.user_agent, one.address])).toEqual([
      [null, null],
      [null, null],
    ]);
    const whole = (await private_.ok('listUserSessions', { params })).items;
    expect(whole.map((one) => one.address)).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(whole.map(({ id, impersonated_by }) => [id, impersonated_by])).toEqual(
      bare.map(({ id, impersonated_by }) => [id, impersonated_by]),
    );
    expect(whole.every(({ current }) => !current)).toBe(true);
    expect(
      (await root.ok('listUserSessions', { params: { ref: root.ref } })).items.some((one) => one.current),
    ).toBe(true);
    const first = await reader.ok('listUserSessions', { params, query: { limit: 1 } });
    const next = { limit: 1, cursor: first.next_cursor ?? '' };
    const second = await reader.ok('listUserSessions', { params, query: next });
    expect([...first.items, ...second.items]).toEqual(bare);
  });

  test('gets 403 without users.read, and 404 for an unknown account', async () => {
    const [member, writer, reader] = [
      await library.join('m1'),
      await library.join('w1'),
      await library.join('r1'),
    ];
    await grant(library, writer, ['users.write', 'users.pii.read']);
    await grant(library, reader, 'users.read');
    for (const caller of [member, writer])
      for (const ref of [root.ref, nowhere])
        expect(await caller.refused('listUserSessions', { params: { ref } })).toEqual({
          status: 403,
          error: 'missing capability users.read',
        });
    expect((await reader.refused('listUserSessions', { params: { ref: nowhere } })).status).toBe(404);
    expect(
      await (await actAs(library, root, member)).refused('listUserSessions', { params: { ref: root.ref } }),
    ).toEqual({
      status: 403,
      error: 'missing capability users.read',
    });
  });

  // SESSION-8
  test('ends one or all sessions of an account on every process', async () => {
    const [target, writer] = [await library.join('kicked'), await library.join('w2')];
    await grant(library, writer, 'users.write');
    const [phone, mask] = [await anotherSession(library, target), await actAs(library, root, target)];
    await writer.ok('endUserSession', { params: { ref: target.ref, id: await idOf(phone) } });
    expect([await isSignedIn(phone), await isSignedIn(target), await isSignedIn(mask)]).toEqual([
      false,
      true,
      true,
    ]);
    await writer.ok('endUserSessions', { params: { ref: target.ref } });
    expect([await isSignedIn(target), await isSignedIn(mask)]).toEqual([false, false]);
    expect(await isSignedIn(writer)).toBe(true);
    await writer.ok('endUserSessions', { params: { ref: target.ref } });
  });

  test('keeps the current session when ending all of their own', async () => {
    const writer = await library.join('w3');
    await grant(library, writer, 'users.write');
    const phone = await anotherSession(library, writer);
    await writer.ok('endUserSessions', { params: { ref: writer.ref } });
    expect([await isSignedIn(writer), await isSignedIn(phone)]).toEqual([true, false]);
  });

  test('gets 404 for a session under the ref of another account', async () => {
    const [target, other] = [await library.join('t4'), await library.join('o4')];
    const id = await idOf(target);
    expect((await root.refused('endUserSession', { params: { ref: other.ref, id } })).status).toBe(404);
    expect((await root.refused('endUserSession', { params: { ref: nowhere, id } })).status).toBe(404);
    expect(
      (await root.refused('endUserSession', { params: { ref: target.ref, id: randomUUID() } })).status,
    ).toBe(404);
    expect((await root.refused('endUserSessions', { params: { ref: nowhere } })).status).toBe(404);
    expect(await isSignedIn(target)).toBe(true);
  });

  test('cannot end sessions of an account that may do more', async () => {
    const { db } = library.deps;
    const writer = await library.join('w5', 'viewer');
    const [richer, inTeam, member] = [
      await library.join('t5', 'viewer'),
      await library.join('u5', 'viewer'),
      await library.join('v5'),
    ];
    await grant(library, writer, 'users.write');
    await grant(library, richer, 'assets.admin');
    const team = randomUUID();
    await db.insertInto('teams').values({ id: team, slug: 'crew', name: 'Crew' }).execute();
    await db
      .insertInto('user_capability_grants')
      .values({ user_ref: inTeam.ref, capability: 'posts.admin', team_id: team })
      .execute();
    for (const target of [root, richer, inTeam, member]) {
      const id = await idOf(target);
      const refusal = { status: 403, error: 'that account has capabilities that you lack' };
      const { ref } = target;
      expect(await writer.refused('endUserSession', { params: { ref, id } })).toEqual(refusal);
      expect(await writer.refused('endUserSessions', { params: { ref } })).toEqual(refusal);
      expect(await isSignedIn(target)).toBe(true);
    }
    await grant(library, writer, 'assets.admin');
    await writer.ok('endUserSessions', { params: { ref: richer.ref } });
    expect(await isSignedIn(richer)).toBe(false);
  });

  // SESSION-8
  test('needs users.write, and the scope admin of a token', async () => {
    const [reader, target, writer] = [
      await library.join('r6'),
      await library.join('t6', 'viewer'),
      await library.join('w6'),
    ];
    await grant(library, reader, ['users.read', 'users.pii.read']);
    await grant(library, writer, ['users.write', 'users.read']);
    const id = await idOf(target);
    for (const ref of [target.ref, nowhere]) {
      expect((await reader.refused('endUserSession', { params: { ref, id } })).status).toBe(403);
      expect((await reader.refused('endUserSessions', { params: { ref } })).status).toBe(403);
    }
    const { ref } = target;
    const reading = await bearer(library, writer, ['read']);
    await reading.ok('listUserSessions', { params: { ref } });
    expect(await reading.refused('endUserSessions', { params: { ref } })).toEqual({
      status: 403,
      error: 'missing scope admin',
    });
    expect(await isSignedIn(target)).toBe(true);
    // A scope adds no capability.
    expect(
      (await (await bearer(library, reader, ['admin'])).refused('endUserSessions', { params: { ref } }))
        .status,
    ).toBe(403);
    await (await bearer(library, writer, ['admin'])).ok('endUserSession', { params: { ref, id } });
    expect(await isSignedIn(target)).toBe(false);
  });
});

// SESSION-1
describe('the lifetime', () => {
  async function row(account: Account) {
    const { db } = library.deps;
    const session = await db
      .selectFrom('sessions')
      .select(['expires_at', 'last_used_at'])
      .where('user_ref', '=', account.ref)
      .executeTakeFirstOrThrow();
    const user = await db
      .selectFrom('users')
      .select('last_seen_at')
      .where('ref', '=', account.ref)
      .executeTakeFirstOrThrow();
    const hours = (Date.parse(session.expires_at) - Date.now()) / 3_600_000;
    return { hours, lastUsed: Date.parse(session.last_used_at), seen: user.last_seen_at };
  }

  async function age(account: Account, unused: string, left: string): Promise<void> {
    await sql`update sessions set last_used_at = now() - ${unused}::interval, expires_at = now() + ${left}::interval
      where user_ref = ${account.ref}`.execute(library.deps.db);
  }

  // SESSION-1
  test('is a setting and counts from the last use', async () => {
    const mara = await library.join('lasting');
    await age(mara, '6 minutes', '1 hour');
    await mara.ok('getMe');
    const after = await row(mara);
    expect(after.hours).toBeGreaterThan(47.9);
    expect(after.hours).toBeLessThanOrEqual(48);
    expect(Date.now() - after.lastUsed).toBeLessThan(10_000);
    expect(after.seen).not.toBeNull();
  });

  // SESSION-1
  test('is extended at most once in five minutes', async () => {
    const mara = await library.join('busy');
    await age(mara, '4 minutes', '1 hour');
    await mara.ok('getMe');
    const after = await row(mara);
    expect(after.hours).toBeLessThanOrEqual(1);
    expect(Date.now() - after.lastUsed).toBeGreaterThan(200_000);
    expect(after.seen).toBeNull();
  });

  test('is not extended after it ended; the sweep deletes the session', async () => {
    const mara = await library.join('gone');
    await age(mara, '6 minutes', '-1 second');
    expect(await isSignedIn(mara)).toBe(false);
    expect((await row(mara)).hours).toBeLessThan(0);
    await expire(library.deps.db);
    await expect(row(mara)).rejects.toThrow();
    expect(await isSignedIn(root)).toBe(true);
  });
});
