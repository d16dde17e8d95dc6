import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { actAs, anotherSession, bearer, grant, sessionIdOf } from '../support/people.ts';
import { openSecond } from '../support/second.ts';

const UNKNOWN_USER = 404_000;

const library = await openLibrary({ VITRINE_SESSION_DAYS: '2' });
/** A second service on the same database, like another process. */
const second = await openSecond(library);
const root = await library.join('root', 'admin');
const bystander = await library.join('bystander');
afterAll(second.close);

/** Returns the same browser, connected to the other process. */
const elsewhere = (visitor: Visitor): Visitor => visit(second.address, {}, visitor.cookie());

async function isSignedIn(visitor: Visitor): Promise<boolean> {
  const both = [visitor, elsewhere(visitor)].map((one) => one.status('GET', '/me'));
  const [here, there] = await Promise.all(both);
  expect(here, 'the processes disagree').toBe(there);
  return here === 200;
}

const areSignedIn = (...visitors: Visitor[]) => Promise.all(visitors.map(isSignedIn));

describe('GET /account/sessions', () => {
  // SESSION-6
  test('lists the sessions of the account, newest first, and marks the current one', async () => {
    const { db } = library.deps;
    const mara = await library.join('mara');
    const phone = await anotherSession(library, mara, 'phone');
    await anotherSession(library, mara, 'expired');
    await sql`update sessions set created_at = created_at - interval '1 hour',
        expires_at = case when user_agent = 'expired' then now() else expires_at end
      where user_ref = ${mara.ref} and user_agent <> 'phone'`.execute(db);
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
    const { text } = await mara.send('/account/sessions');
    for (const visitor of [mara, phone]) expect(text).not.toContain(visitor.cookie());
    const stored = db.selectFrom('sessions').select('token_hash').where('user_ref', '=', mara.ref);
    for (const { token_hash } of await stored.execute())
      for (const encoding of ['hex', 'base64url'] as const)
        expect(text).not.toContain(token_hash.toString(encoding));
  });

  // SESSION-6
  test('names the administrator of an impersonation to both sides', async () => {
    const target = await library.join('target');
    const mask = await actAs(library, root, target);
    const impersonated_by = { ref: root.ref, username: 'root' };
    for (const [visitor, current] of [
      [target, false],
      [mask, true],
    ] as const)
      expect((await visitor.ok('listSessions')).items).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ impersonated_by, current }),
          expect.objectContaining({ impersonated_by: null, current: !current }),
        ]),
      );
    expect((await root.ok('listSessions')).items).toMatchObject([{ impersonated_by: null, current: true }]);
  });

  // SESSION-6
  test('pages without duplicates or gaps while sessions start', async () => {
    const anna = await library.join('anna');
    for (let i = 0; i < 4; i += 1) await anotherSession(library, anna);
    // All have the same time, so the id orders them.
    await sql`update sessions set created_at = '2026-01-01T00:00:00Z' where user_ref = ${anna.ref}`.execute(
      library.deps.db,
    );
    const all = (await anna.ok('listSessions')).items.map(({ id }) => id);
    const first = await anna.ok('listSessions', { query: { limit: 3 } });
    await anotherSession(library, anna);
    const second = await anna.ok('listSessions', { query: { limit: 3, cursor: first.next_cursor ?? '' } });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(all);
    expect([all.length, second.next_cursor]).toEqual([5, null]);
  });

  test('keeps 500 characters of the user agent, and the address', async () => {
    const lena = await library.join('lena');
    const name = `Mozilla/5.0 ${'x'.repeat(2000)}`;
    const browser = visit(library.address, { 'user-agent': name });
    await browser.ok('login', { body: { username: 'lena', password } });
    const mask = visit(library.address, { 'user-agent': name }, root.cookie());
    await mask.ok('impersonate', { params: { ref: lena.ref }, body: undefined });
    for (const visitor of [browser, mask]) {
      const session = (await visitor.ok('listSessions')).items.find(({ current }) => current);
      expect(session).toMatchObject({ user_agent: name.slice(0, 500), address: '127.0.0.1' });
    }
  });
});

describe('ending own sessions', () => {
  // SESSION-7
  test('ends one session: its next request is 401 on every process', async () => {
    const mara = await library.join('ending');
    for (const ending of [mara, elsewhere(mara)]) {
      const phone = await anotherSession(library, mara);
      const id = await sessionIdOf(phone);
      await ending.ok('endSession', { params: { id } });
      expect(await areSignedIn(phone, mara, bystander)).toEqual([false, true, true]);
      expect((await ending.refused('endSession', { params: { id } })).status).toBe(404);
    }
    // Ending the current session signs out.
    await mara.ok('endSession', { params: { id: await sessionIdOf(mara) } });
    expect(await isSignedIn(mara)).toBe(false);
  });

  // SESSION-7
  test('returns 404 for a session of another account, also to administrators', async () => {
    const missing = { status: 404, error: 'not found' };
    for (const caller of [await library.join('nosy'), root])
      for (const id of [await sessionIdOf(bystander), randomUUID()])
        expect(await caller.refused('endSession', { params: { id } })).toEqual(missing);
    expect(await isSignedIn(bystander)).toBe(true);
  });

  // SESSION-7
  test('ends all other sessions, impersonations of the account included', async () => {
    const mara = await library.join('alone');
    const others = [await anotherSession(library, mara), await actAs(library, root, mara)];
    await mara.ok('endOtherSessions');
    expect(await areSignedIn(...others, mara, bystander, root)).toEqual([false, false, true, true, true]);
    await mara.ok('endOtherSessions');
    expect((await mara.ok('listSessions')).items).toHaveLength(1);
    // An impersonation that ends the sessions of its target stays.
    const [mask, second] = [await actAs(library, root, mara), await actAs(library, root, mara)];
    await mask.ok('endOtherSessions');
    expect(await areSignedIn(mask, second, mara)).toEqual([true, false, false]);
  });

  test('ends all sessions when a token does it, which has none itself', async () => {
    const mara = await library.join('scripted');
    const script = await bearer(library, mara, ['admin', 'read']);
    expect((await script.ok('listSessions')).items.map(({ current }) => current)).toEqual([false]);
    await script.ok('endOtherSessions');
    expect(await isSignedIn(mara)).toBe(false);
    expect((await script.ok('listSessions')).items).toEqual([]);
  });
});

describe('an administrator', () => {
  // SESSION-8
  test('sees the sessions of an account, with addresses and browsers only with users.pii.read', async () => {
    const [target, reader, trusted] = await library.joinAll('seen', 'reader', 'trusted');
    await grant(library, reader, 'users.read');
    await grant(library, trusted, ['users.read', 'users.pii.read']);
    await actAs(library, root, target);
    const params = { ref: target.ref };
    const bare = (await reader.ok('listUserSessions', { params })).items;
    const whole = (await trusted.ok('listUserSessions', { params })).items;
    expect(bare).toHaveLength(2);
    expect(whole).toMatchObject([{ address: '127.0.0.1' }, { address: '127.0.0.1' }]);
    expect(bare).toEqual(whole.map((one) => ({ ...one, user_agent: null, address: null, current: false })));
    const own = await root.ok('listUserSessions', { params: { ref: root.ref } });
    expect(own.items.some(({ current }) => current)).toBe(true);
    const pages = await pagesOf((from) =>
      reader.ok('listUserSessions', { params, query: { limit: 1, ...from } }),
    );
    expect(pages).toEqual(bare.map((one) => [one]));
  });

  // SESSION-8
  test('ends one or all sessions of an account on every process, but not the current one', async () => {
    const [target, writer] = await library.joinAll('kicked', 'writer');
    await grant(library, writer, 'users.write');
    const [phone, mask] = [await anotherSession(library, target), await actAs(library, root, target)];
    const own = await anotherSession(library, writer);
    await writer.ok('endUserSession', { params: { ref: target.ref, id: await sessionIdOf(phone) } });
    expect(await areSignedIn(phone, target, mask)).toEqual([false, true, true]);
    await writer.ok('endUserSessions', { params: { ref: target.ref } });
    await writer.ok('endUserSessions', { params: { ref: target.ref } });
    expect(await areSignedIn(target, mask, writer)).toEqual([false, false, true]);
    await writer.ok('endUserSessions', { params: { ref: writer.ref } });
    expect(await areSignedIn(writer, own)).toEqual([true, false]);
  });

  test('gets 404 for an unknown account or session, and for a session under another account', async () => {
    const id = await sessionIdOf(bystander);
    for (const params of [
      { ref: root.ref, id },
      { ref: UNKNOWN_USER, id },
      { ref: bystander.ref, id: randomUUID() },
    ])
      expect((await root.refused('endUserSession', { params })).status).toBe(404);
    for (const operation of ['endUserSessions', 'listUserSessions'] as const)
      expect((await root.refused(operation, { params: { ref: UNKNOWN_USER } })).status).toBe(404);
    expect(await isSignedIn(bystander)).toBe(true);
  });
});

// SESSION-1
describe('the lifetime', () => {
  const stateOf = async ({ ref }: Account) => {
    const { expires_at, last_used_at, last_seen_at } = await library.deps.db
      .selectFrom('sessions as s')
      .innerJoin('users as u', 'u.ref', 's.user_ref')
      .select(['s.expires_at', 's.last_used_at', 'u.last_seen_at'])
      .where('u.ref', '=', ref)
      .executeTakeFirstOrThrow();
    return {
      hoursLeft: (Date.parse(expires_at) - Date.now()) / 3_600_000,
      unusedMs: Date.now() - Date.parse(last_used_at),
      wasSeen: last_seen_at !== null,
    };
  };

  async function age({ ref }: Account, unused: string, left: string): Promise<void> {
    await sql`update sessions set last_used_at = now() - ${unused}::interval, expires_at = now() + ${left}::interval
      where user_ref = ${ref}`.execute(library.deps.db);
  }

  // SESSION-1
  test('is a setting, counts from the last use, and is extended at most once in five minutes', async () => {
    const mara = await library.join('lasting');
    await age(mara, '4 minutes', '1 hour');
    await mara.ok('getMe');
    const kept = await stateOf(mara);
    expect(kept.hoursLeft).toBeLessThanOrEqual(1);
    expect([kept.unusedMs > 200_000, kept.wasSeen]).toEqual([true, false]);
    await age(mara, '6 minutes', '1 hour');
    await mara.ok('getMe');
    const extended = await stateOf(mara);
    expect(extended.hoursLeft).toBeGreaterThan(47.9);
    expect(extended.hoursLeft).toBeLessThanOrEqual(48);
    expect([extended.unusedMs < 10_000, extended.wasSeen]).toEqual([true, true]);
  });

  // SESSION-3
  test('is not extended after it ended; the sweep deletes the session', async () => {
    const mara = await library.join('gone');
    await age(mara, '6 minutes', '-1 second');
    expect(await isSignedIn(mara)).toBe(false);
    expect((await stateOf(mara)).hoursLeft).toBeLessThan(0);
    await expire(library.deps.db);
    await expect(stateOf(mara)).rejects.toThrow();
    expect(await isSignedIn(root)).toBe(true);
  });
});

// SESSION-18
describe('session_days', () => {
  const endsInDays = async (visitor: Visitor) => {
    const { items } = await visitor.ok('listSessions');
    const current = items.find((session) => session.current);
    return Math.round((Date.parse(current?.expires_at ?? '') - Date.now()) / 86_400_000);
  };
  const setDays = (session_days: number) => root.ok('updateAccountSettings', { body: { session_days } });

  test('is the configured number until an administrator sets it, and shortens existing sessions at once', async () => {
    expect((await root.ok('getAccountSettings')).session_days).toBe(2);
    const lars = await library.join('lars');
    const unused = await anotherSession(library, lars, 'unused');
    expect(await setDays(9)).toMatchObject({ session_days: 9, registration: 'off' });
    const signedIn = await visit(library.address).send('/auth/login', {
      method: 'POST',
      body: { username: 'lars', password },
    });
    expect(signedIn.headers.get('set-cookie')).toMatch(/Max-Age=7776(00|01)\b|Max-Age=77759\d/);
    expect(await endsInDays(lars)).toBe(2);
    await sql`update sessions set last_used_at = now() - interval '30 hours'
      where user_ref = ${lars.ref} and user_agent = 'unused'`.execute(library.deps.db);
    expect(await areSignedIn(unused)).toEqual([true]);
    await setDays(1);
    expect(await endsInDays(lars)).toBe(1);
    expect(await endsInDays(root)).toBe(1);
    await sql`update sessions set last_used_at = now() - interval '30 hours', expires_at = now() + interval '9 days'
      where user_ref = ${lars.ref} and user_agent = 'unused'`.execute(library.deps.db);
    await setDays(3);
    await setDays(1);
    expect(await areSignedIn(unused, lars)).toEqual([false, true]);
  });

  test.each([0, 366, 1.5])('refuses %s days', async (session_days) => {
    expect(await root.status('PATCH', '/admin/system/accounts', { session_days })).toBe(400);
  });
});
