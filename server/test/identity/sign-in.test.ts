import { createHash, createHmac, randomUUID } from 'node:crypto';
import { hash } from '@node-rs/bcrypt';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openHashing } from '../../src/people/identity/hashing.ts';
import { type Answered, comparable, visit } from '../support/client.ts';
import { databaseText } from '../support/database-text.ts';
import { openLibrary, password } from '../support/library.ts';
import { addAccount, anotherSession, setStatus, storedHashOf } from '../support/people.ts';

const scrambleKey = 'a key of the earlier system';
/** Cheaper than usual; legacy-hashes.test.ts tests the usual cost. */
const COST = 8;
const THIRTY_DAYS = 30 * 86_400;

const library = await openLibrary({ VITRINE_SCRAMBLE_KEY: scrambleKey }, { hashing: openHashing(COST) });
const mara = await library.join('Mara');

function signIn(body: unknown, cookie?: string): Promise<Answered> {
  const visitor = visit(library.address, cookie === undefined ? {} : { cookie });
  return visitor.send('/auth/login', { method: 'POST', body });
}

const statusOf = async (username: string, given = password) =>
  (await signIn({ username, password: given })).status;
const meWith = (headers: Record<string, string>) => visit(library.address, headers).status('GET', '/auth/me');

function tokenOf(answer: Answered): string {
  const token = /^user=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  if (token === undefined) throw new Error(`no cookie: ${answer.status} ${answer.text}`);
  return token;
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** SIGNIN-7: returns the text to hash. */
const plainOf = (username: string) => `RS${username}${password}`;

/** Returns what PHP's password_hash returns: `$2y$` of the keyed digest. */
async function bcryptOf(username: string, cost: number, key = scrambleKey): Promise<string> {
  const digest = createHmac('sha256', key).update(plainOf(username)).digest('hex');
  return (await hash(digest, { cost })).replace(/^\$2\w\$/, '$2y$');
}

describe('POST /auth/login', () => {
  // SIGNIN-1
  test('returns the session user and sets the HttpOnly cookie `user`', async () => {
    const answer = await signIn({ username: 'Mara', password, provider: 'password' });
    expect(answer.status).toBe(200);
    const [pair, ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(pair).toMatch(/^user=[\w-]{43}$/);
    expect(attributes.sort()).toEqual(['HttpOnly', `Max-Age=${THIRTY_DAYS}`, 'Path=/', 'SameSite=Lax']);
    const me = await visit(library.address, { cookie: `user=${tokenOf(answer)}` }).ok('getSessionUser');
    expect(JSON.parse(answer.text)).toEqual(me);
  });

  // SIGNIN-2
  test('accepts the username regardless of case, beyond ASCII too', async () => {
    const zoe = await library.join('Zoë Ångström');
    for (const [account, spellings] of [
      [mara, ['mara', 'MARA', 'mArA']],
      [zoe, ['zoë ångström', 'ZOË ÅNGSTRÖM']],
    ] as const)
      for (const spelling of spellings) {
        const { ref, username } = JSON.parse((await signIn({ username: spelling, password })).text);
        expect([ref, username]).toEqual([account.ref, account.username]);
      }
  });

  // SIGNIN-13
  test('never reuses a token that the browser sent, and ends its session', async () => {
    const brought = 'a'.repeat(43);
    const first = tokenOf(await signIn({ username: 'Mara', password }, `user=${brought}`));
    const second = tokenOf(await signIn({ username: 'Mara', password }, `user=${first}`));
    const tokens = [brought, first, second];
    const found = await Promise.all(tokens.map((token) => meWith({ cookie: `user=${token}` })));
    expect([new Set(tokens).size, found]).toEqual([3, [401, 401, 200]]);
  });

  // SESSION-2
  test('stores only the SHA-256 of the token', async () => {
    const token = tokenOf(await signIn({ username: 'Mara', password }));
    const all = await databaseText(library);
    expect(all).toContain(sha256(token));
    expect(all).not.toContain(token);
    expect(all).not.toContain(Buffer.from(token).toString('hex'));
  });
});

const reference = comparable(await signIn({ username: 'Mara', password: 'wrong' }));
await addAccount(library, 'plain', password);
await addAccount(library, 'empty', '');
await addAccount(library, 'nothing');
for (const status of ['pending', 'disabled', 'archived'] as const) {
  const ref = await addAccount(library, status, await bcryptOf(status, 4));
  await setStatus(library, { ref }, status);
}

// SIGNIN-3
describe('every failure returns the same response', () => {
  test('returns 401 without a cookie for a wrong password', () => {
    expect(reference.status).toBe(401);
    expect(JSON.parse(reference.text)).toEqual({ error: 'wrong username or password' });
    expect(reference.headers.map(([name]) => name)).not.toContain('set-cookie');
  });

  // SIGNIN-3
  test.concurrent.each([
    ['an unknown user', { username: 'nobody', password }],
    ['an empty password', { username: 'Mara', password: '' }],
    ['an unknown provider and the right password', { username: 'Mara', password, provider: 'ldap' }],
    ['an unknown provider and a wrong password', { username: 'Mara', password: 'x', provider: 'oidc' }],
    ['a pending account', { username: 'pending', password }],
    ['a disabled account', { username: 'disabled', password }],
    ['an archived account', { username: 'archived', password }],
    ['a row with the plain password', { username: 'plain', password }],
    ['a row with an empty password', { username: 'empty', password: '' }],
    ['an account without a password', { username: 'nothing', password: '' }],
    ['a comment', { username: "Mara' --", password }],
    ['a condition', { username: "' or '1'='1", password }],
    ['a pattern', { username: 'M_r%', password }],
    ['blanks around the name', { username: ' Mara ', password }],
    ['marks of direction in the name', { username: '\u200fMa\u202era', password }],
  ])('%s', async (_, body) => {
    expect(comparable(await signIn(body))).toEqual(reference);
  });

  // SIGNIN-3
  test('takes as long for an unknown user or an older hash as for a wrong password', async () => {
    await addAccount(library, 'Slow', md5(plainOf('Slow')));
    const quickest = new Map<string, number>();
    const others = ['nobody', 'Slow'];
    const alike = () =>
      others.every((other) => {
        const ratio = (quickest.get(other) ?? 0) / (quickest.get('Mara') ?? 0);
        return ratio > 0.5 && ratio < 2;
      });
    // The fastest of several rounds measures the work itself, also on a busy machine.
    for (let round = 0; round < 4 || (round < 24 && !alike()); round += 1) {
      for (const username of ['Mara', ...others]) {
        const began = performance.now();
        await signIn({ username, password: 'wrong' });
        quickest.set(username, Math.min(quickest.get(username) ?? Infinity, performance.now() - began));
      }
    }
    expect([alike(), quickest]).toEqual([true, quickest]);
  });
});

// SIGNIN-8
describe('hashes of the earlier system', () => {
  // SIGNIN-8
  test('are verified with the stored spelling of the name, and renewed', async () => {
    const old = md5(plainOf('Old.Capitals')).toUpperCase();
    await addAccount(library, 'Old.Capitals', old);
    expect(await statusOf('OLD.CAPITALS', `${password}!`)).toBe(401);
    expect(await storedHashOf(library, 'Old.Capitals')).toBe(old);
    expect(await statusOf('OLD.CAPITALS')).toBe(200);
    const fresh = await storedHashOf(library, 'Old.Capitals');
    expect(fresh).toMatch(/^\$2[by]\$08\$/);
    expect(await statusOf('Old.Capitals')).toBe(200);
    expect(await storedHashOf(library, 'Old.Capitals')).toBe(fresh);
  });

  // SIGNIN-7
  test('bcrypt of PHP is kept at a higher cost and renewed at a lower one', async () => {
    for (const [name, cost, isKept] of [
      ['kept', COST + 1, true],
      ['renewed', COST - 1, false],
    ] as const) {
      const stored = await bcryptOf(name, cost);
      await addAccount(library, name, stored);
      expect(await statusOf(name)).toBe(200);
      expect([name, (await storedHashOf(library, name)) === stored]).toEqual([name, isKept]);
    }
  });

  // SIGNIN-9
  test('do not match under another key or name, nor as the password itself', async () => {
    const stored = {
      Foreign: [await bcryptOf('Foreign', 4, 'another key'), password],
      Swapped: [md5(plainOf('Mara')), password],
      'Thief.Md5': [md5(plainOf('Thief.Md5'))],
      'Thief.Sha': [sha256(md5(plainOf('Thief.Sha')))],
      'Thief.Bcrypt': [await bcryptOf('Thief.Bcrypt', 4)],
      'Thief.Text': ['f'.repeat(40)],
    };
    for (const [username, [text = '', given = text]] of Object.entries(stored)) {
      await addAccount(library, username, text);
      expect([username, await statusOf(username, given)]).toEqual([username, 401]);
    }
  });
});

describe('a session', () => {
  const session = async () => (await anotherSession(library, mara)).cookie() ?? '';

  // SESSION-4
  test('ends on the server at sign-out, without ending others', async () => {
    const [mine, other] = [await session(), await session()];
    const browser = visit(library.address, { cookie: `user=${mine}` });
    const answer = await browser.send('/auth/logout', { method: 'POST' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('clear-site-data')).toBe('"cache"');
    const cleared = answer.headers.get('set-cookie') ?? '';
    expect(cleared).toMatch(/^user=;/);
    expect(cleared).toMatch(/; Path=\//);
    expect(cleared).toMatch(/Max-Age=0|Expires=Thu, 01 Jan 1970/);
    expect(await meWith({ cookie: `user=${mine}` })).toBe(401);
    expect(await meWith({ cookie: `user=${other}` })).toBe(200);
    expect((await browser.refused('logout')).status).toBe(401);
  });

  // SESSION-1
  test('renews the browser’s cookie when it is extended', async () => {
    const token = await session();
    const cookie = { cookie: `user=${token}` };
    const sent = async (path: string, method = 'GET') =>
      (await visit(library.address, cookie).send(path, { method })).headers.get('set-cookie');
    const longUnused = () =>
      sql`update sessions set last_used_at = now() - interval '1 day'
        where token_hash = ${createHash('sha256').update(token).digest()}`.execute(library.deps.db);
    expect(await sent('/auth/me')).toBeNull();
    await longUnused();
    const [value, ...attributes] = (await sent('/auth/me'))?.split('; ') ?? [];
    expect(value).toBe(`user=${token}`);
    expect(attributes.sort()).toEqual(['HttpOnly', `Max-Age=${THIRTY_DAYS}`, 'Path=/', 'SameSite=Lax']);
    expect(await sent('/auth/me')).toBeNull();
    // Caches store these responses.
    for (const stored of ['/appearance', `/assets/${randomUUID()}/file`]) {
      await longUnused();
      expect(await sent(stored), stored).toBeNull();
    }
    await longUnused();
    expect(await sent('/auth/logout', 'POST')).toMatch(/^user=;/);
  });

  // SESSION-3
  test('is not created from garbage, and its token is not read from elsewhere', async () => {
    const token = await session();
    const tokenHash = createHash('sha256').update(token).digest();
    const altered = ['', `${token}x`, token.slice(1), token.toUpperCase()];
    const hashes = [tokenHash.toString('hex'), tokenHash.toString('base64url')];
    const others = ['x', '%00', '%E0%A4%A', "'; drop table sessions; --", '"', 'null', 'x'.repeat(8000)];
    const garbage = [...altered, ...hashes, ...others];
    for (const value of garbage)
      expect([value, await meWith({ cookie: `user=${value}` })]).toEqual([value, 401]);
    expect(await meWith({ cookie: `User=${token}` })).toBe(401);
    for (const name of ['user', 'token', 'access_token'])
      expect(await library.anonymous().status('GET', `/auth/me?${name}=${token}`)).toBe(401);
  });

  // SESSION-14, HTTP-37
  test('uses the first of two cookies (RFC 6265), beside an Authorization header of another scheme', async () => {
    const token = await session();
    const authorization = 'Basic TWFyYTpjb3JyZWN0';
    expect(await meWith({ cookie: `user=${token}; user=garbage` })).toBe(200);
    expect(await meWith({ cookie: `user=garbage; user=${token}` })).toBe(401);
    expect(await meWith({ cookie: `theme=dark; user=${token}; lang=de`, authorization })).toBe(200);
    expect(await meWith({ authorization })).toBe(401);
  });
});

describe('the session user', () => {
  // SESSION-9, SESSION-10
  test('identifies the account, omits unset filters and is the same at both addresses', async () => {
    await library.deps.db
      .updateTable('users')
      .set({ fullname: 'Mara Lind', email: 'mara@example.org' })
      .where('ref', '=', mara.ref)
      .execute();
    const user = await mara.ok('getSessionUser');
    expect(user).toEqual({
      ref: mara.ref,
      username: 'Mara',
      fullname: 'Mara Lind',
      email: 'mara@example.org',
      auth_method: 'session',
      language: '',
      theme: '',
      default_views: { feed: '', layout: '', sort: '' },
      mature_content_allowed: true,
      capabilities: [
        'assets.create',
        'collections.create',
        'fields.vocabulary.extend',
        'posts.comment',
        'posts.create',
        'posts.publish',
        'teams.read',
      ],
      capabilities_status: 'resolved',
      impersonated_by: null,
    });
    expect((await mara.send('/me')).text).toBe((await mara.send('/auth/me')).text);
  });

  // SESSION-11
  test('says whether the install allows mature content', async () => {
    const allow = (value: boolean) =>
      sql`insert into settings (key, value) values ('mature_allowed', ${JSON.stringify(value)})
        on conflict (key) do update set value = excluded.value`.execute(library.deps.db);
    await mara.ok('updatePreferences', { body: { mature_content: { show: true } } });
    for (const mature_content_allowed of [false, true]) {
      await allow(mature_content_allowed);
      const user = await mara.ok('getMe');
      expect(user).toMatchObject({ mature_content_allowed, mature_content: { show: true } });
    }
  });

  // SESSION-13
  test('reports `unavailable` while capabilities cannot be looked up, grants nothing, and recovers', async () => {
    const { db } = library.deps;
    const root = await library.join('root', 'admin');
    await sql`alter table user_capability_revokes rename to out_of_the_way`.execute(db);
    // Invalidates the capabilities resolved before.
    await sql`update access_epoch set epoch = epoch + 1`.execute(db);
    const signedIn = JSON.parse((await signIn({ username: 'root', password })).text);
    const unresolved = { ref: root.ref, capabilities_status: 'unavailable', impersonated_by: null };
    for (const user of [await root.ok('getSessionUser'), await root.ok('getMe'), signedIn]) {
      expect(user).toMatchObject(unresolved);
      expect(user).not.toHaveProperty('capabilities');
    }
    expect((await root.refused('getPublicMode')).status).toBe(403);
    await sql`alter table out_of_the_way rename to user_capability_revokes`.execute(db);
    const recovered = await root.ok('getMe');
    expect(recovered.capabilities_status).toBe('resolved');
    expect(recovered.capabilities).toContain('system.admin');
    await root.ok('getPublicMode');
  });
});

const https = { VITRINE_BASE_URL: 'https://pictures.example', VITRINE_RATE_LIMITS: 'on' };
const limited = await openLibrary(https);
await limited.join('mara');

describe('over https and with rate limits on', () => {
  const attempt = (username: string, given: string) =>
    limited.anonymous().send('/auth/login', { method: 'POST', body: { username, password: given } });

  // SIGNIN-1
  test('sets and clears a Secure cookie', async () => {
    const answer = await attempt('mara', password);
    const attributes = (answer.headers.get('set-cookie') ?? '').split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']));
    const leaving = visit(limited.address, { cookie: `user=${tokenOf(answer)}` });
    const left = await leaving.send('/auth/logout', { method: 'POST' });
    expect((left.headers.get('set-cookie') ?? '').split('; ')).toContain('Secure');
  });

  // RATE-1, RATE-2
  test('allows ten sign-ins a minute per address and name, then answers 429 with Retry-After', async () => {
    const attempts = Array.from({ length: 10 }, (_, i) => attempt(i % 2 === 0 ? 'otto' : 'OTTO', 'wrong'));
    expect(new Set((await Promise.all(attempts)).map(({ status }) => status))).toEqual(new Set([401]));
    const answer = await attempt('oTTo', password);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect((await attempt('mara', password)).status).toBe(200);
  });
});
