import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { scopes, type TokenScope } from '@vitrine/contract/capabilities';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answered, type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

const unknownId = '00000000-0000-4000-8000-00000000dead';

let library: Library;
let root: Account;
let mara: Account;
let olga: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  mara = await library.join('Mara');
  olga = await library.join('olga');
});

const bearer = (token: string, more: Record<string, string> = {}): Visitor =>
  visit(library.address, { authorization: `Bearer ${token}`, ...more });

function mint(account: Visitor, given: readonly TokenScope[] = ['read'], expiresAt?: string) {
  const expiry = expiresAt === undefined ? {} : { expires_at: expiresAt };
  return account.ok('createToken', { body: { name: 'script', scopes: [...given], ...expiry } });
}

const sendMint = (caller: Visitor, body: unknown): Promise<Answered> =>
  caller.send('/auth/tokens', { method: 'POST', body });

const later = (ms: number) => new Date(Date.now() + ms).toISOString();

function errorOf(answer: Answered): string {
  const body: { error: string } = JSON.parse(answer.text);
  return body.error;
}

/** Returns every row of every table as text. */
async function databaseText({ deps: { db } }: Library): Promise<string> {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
    order by 1, 2`.execute(db);
  expect(tables.length).toBeGreaterThan(20);
  const lines: string[] = [];
  for (const { schema, name } of tables) {
    const { rows } = await sql<{ line: string }>`
      select t::text as line from ${sql.table(`${schema}.${name}`)} t order by 1`.execute(db);
    lines.push(...rows.map(({ line }) => `${name} ${line}`));
  }
  return lines.join('\n');
}

async function addTokens(userRef: number, count: number): Promise<void> {
  await sql`insert into access_tokens (user_ref, name, token_hash, scopes)
    select ${userRef}, 'old ' || n, sha256(convert_to(${`${userRef} `} || n, 'UTF8')), '{read}'
    from generate_series(1, ${count}::int) n`.execute(library.deps.db);
}

async function heldTokens(userRef: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from access_tokens where user_ref = ${userRef}`.execute(library.deps.db);
  return rows[0]?.count ?? Number.NaN;
}

// TOKEN-1
describe('POST /auth/tokens', () => {
  // TOKEN-2
  test('creates a unique token of `vt_pat_` and 32 letters and digits', async () => {
    const minted = await Promise.all(Array.from({ length: 12 }, () => mint(olga)));
    for (const { token } of minted) expect(token).toMatch(/^vt_pat_[A-Za-z0-9]{32}$/);
    expect(new Set(minted.map(({ token }) => token)).size).toBe(12);
    const { token: _, ...rest } = await mint(olga, ['read', 'posts.write'], '2040-05-06T07:08:09Z');
    expect(rest).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'script',
      scopes: ['read', 'posts.write'],
      created_at: expect.any(String),
      expires_at: '2040-05-06T07:08:09Z',
      last_used_at: null,
    });
    expect(Math.abs(Date.parse(rest.created_at) - Date.now())).toBeLessThan(60_000);
  });

  // TOKEN-2
  test('shows the token once and stores only its SHA-256', async () => {
    const { id, token } = await mint(mara);
    await bearer(token).ok('getMe');
    const all = await databaseText(library);
    expect(all).toContain(createHash('sha256').update(token).digest('hex'));
    const secret = token.slice('vt_pat_'.length);
    for (const text of [secret, secret.slice(0, 12), secret.slice(-12)]) {
      expect(all).not.toContain(text);
      expect(all).not.toContain(Buffer.from(text).toString('hex'));
    }
    const listed = await mara.send('/auth/tokens');
    expect(listed.text).toContain(id);
    expect(listed.text).not.toContain(secret.slice(0, 12));
  });

  test.each([
    ['a name of blanks', { name: '   ', scopes: ['read'] }],
    ['a capability for a scope', { name: 'x', scopes: ['system.admin'] }],
    ['a scope that no token may carry', { name: 'x', scopes: ['session'] }],
    ['a scope twice', { name: 'x', scopes: ['read', 'read'] }],
    ['an expiry in the past', { name: 'x', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' }],
    ['an expiry on a day that is not', { name: 'x', scopes: ['read'], expires_at: '2040-02-31T00:00:00Z' }],
  ])('refuses a token with %s', async (_, body) => {
    const before = await heldTokens(mara.ref);
    const answer = await sendMint(mara, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).not.toBe('');
    expect(await heldTokens(mara.ref)).toBe(before);
  });

  // TOKEN-1
  test('accepts a name of 100 characters, all scopes, and null for no expiry', async () => {
    const body = { name: 'x'.repeat(100), scopes: [...scopes], expires_at: null };
    const made = await mara.ok('createToken', { body });
    expect(made).toMatchObject(body);
  });

  // TOKEN-1
  test('returns 403 to every bearer token, even with all scopes', async () => {
    for (const account of [mara, root]) {
      const { token } = await mint(account, scopes);
      const before = await heldTokens(account.ref);
      const answer = await sendMint(bearer(token), { name: 'x', scopes: ['read'] });
      expect([answer.status, errorOf(answer)]).toEqual([
        403,
        'this requires a session; tokens are not accepted',
      ]);
      // The bearer token takes precedence over the account's own cookie.
      const both = bearer(token, { cookie: `user=${account.cookie()}` });
      expect((await sendMint(both, { name: 'x', scopes: ['read'] })).status).toBe(403);
      expect(await heldTokens(account.ref)).toBe(before);
    }
  });

  // TOKEN-1
  test('returns 403 while impersonating', async () => {
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: mara.ref }, body: {} });
    expect((await mask.ok('getMe')).ref).toBe(mara.ref);
    const before = await heldTokens(mara.ref);
    expect(await mask.refused('createToken', { body: { name: 'x', scopes: ['read'] } })).toEqual({
      status: 403,
      error: 'not allowed while acting as another user',
    });
    expect(await heldTokens(mara.ref)).toBe(before);
  });

  // TOKEN-3
  test('allows 100 tokens per account, then returns 409', async () => {
    const many = await library.join('many');
    await addTokens(many.ref, 99);
    const { id } = await mint(many);
    expect((await many.refused('createToken', { body: { name: 'x', scopes: ['read'] } })).status).toBe(409);
    await many.ok('deleteToken', { params: { id } });
    await mint(many);
    expect(await heldTokens(many.ref)).toBe(100);
    await mint(olga);
  });

  // TOKEN-3
  test('never exceeds 100 tokens under concurrent requests', async () => {
    const hasty = await library.join('hasty');
    await addTokens(hasty.ref, 99);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => sendMint(hasty, { name: 'x', scopes: ['read'] })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    expect(await heldTokens(hasty.ref)).toBe(100);
  });

  // AUDIT-2
  test('records an audit event without the token', async () => {
    const { id, token } = await mint(mara, ['read', 'comments.write']);
    await mara.ok('deleteToken', { params: { id } });
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'subject_user_ref', 'target_kind', 'metadata'])
      .where('target_id', '=', id)
      .orderBy('occurred_at')
      .orderBy('event')
      .execute();
    const who = { actor_user_ref: mara.ref, subject_user_ref: mara.ref, target_kind: 'token' };
    expect(events).toEqual([
      {
        ...who,
        event: 'auth.token.created',
        metadata: { name: 'script', scopes: ['read', 'comments.write'], expires_at: null },
      },
      { ...who, event: 'auth.token.deleted', metadata: {} },
    ]);
    expect(JSON.stringify(events)).not.toContain(token.slice(7));
  });
});

describe('GET /auth/tokens', () => {
  let lena: Account;
  const names = ['one', 'two', 'three', 'four', 'five'];

  beforeAll(async () => {
    lena = await library.join('lena');
    for (const name of names) await lena.ok('createToken', { body: { name, scopes: ['read'] } });
  });

  test('lists only the tokens of the account, newest first', async () => {
    const { items, next_cursor } = await lena.ok('listTokens');
    expect(items.map(({ name }) => name)).toEqual(names.toReversed());
    expect(next_cursor).toBeNull();
    expect(Object.keys(items[0] ?? {}).sort()).toEqual([
      'created_at',
      'expires_at',
      'id',
      'last_used_at',
      'name',
      'scopes',
    ]);
  });

  test('pages through all tokens without duplicates', async () => {
    const seen: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: { limit: number; cursor?: string } = cursor === '' ? { limit: 2 } : { limit: 2, cursor };
      const page: { items: { name: string }[]; next_cursor: string | null } = await lena.ok('listTokens', {
        query,
      });
      seen.push(...page.items.map(({ name }) => name));
      sizes.push(page.items.length);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(names.toReversed());
    expect(sizes).toEqual([2, 2, 1]);
  });

  test('returns no cursor on a page that ends with the last token', async () => {
    expect((await lena.ok('listTokens', { query: { limit: 5 } })).next_cursor).toBeNull();
  });

  test('shows no tokens of another account under its cursor', async () => {
    const { next_cursor } = await lena.ok('listTokens', { query: { limit: 1 } });
    const own = new Set((await mara.ok('listTokens', { query: { limit: 200 } })).items.map(({ id }) => id));
    const shown = await mara.ok('listTokens', { query: { limit: 200, cursor: next_cursor ?? '' } });
    for (const { id } of shown.items) expect(own).toContain(id);
  });
});

describe('DELETE /auth/tokens/{id}', () => {
  // TOKEN-7
  test('revokes only that token, immediately and permanently', async () => {
    const [gone, kept] = [await mint(mara), await mint(mara)];
    await bearer(gone.token).ok('getMe');
    await mara.ok('deleteToken', { params: { id: gone.id } });
    expect((await bearer(gone.token).refused('getMe')).status).toBe(401);
    await bearer(kept.token).ok('getMe');
    expect((await mara.refused('deleteToken', { params: { id: gone.id } })).status).toBe(404);
  });

  // TOKEN-8
  test('returns 404 for a token of another account, also to administrators', async () => {
    const { id, token } = await mint(mara);
    const missing = await olga.refused('deleteToken', { params: { id: unknownId } });
    expect(missing.status).toBe(404);
    for (const other of [olga, root]) {
      expect(await other.refused('deleteToken', { params: { id } })).toEqual(missing);
    }
    expect((await library.anonymous().refused('deleteToken', { params: { id } })).status).toBe(401);
    await bearer(token).ok('getMe');
  });

  test('lets a token with the scope `admin` delete tokens, itself included', async () => {
    const [weak, strong] = [await mint(mara, ['read', 'posts.write']), await mint(mara, ['admin'])];
    expect(await bearer(weak.token).refused('deleteToken', { params: { id: weak.id } })).toEqual({
      status: 403,
      error: 'missing scope admin',
    });
    await bearer(strong.token).ok('deleteToken', { params: { id: weak.id } });
    expect((await bearer(weak.token).refused('getMe')).status).toBe(401);
    await bearer(strong.token).ok('deleteToken', { params: { id: strong.id } });
    expect((await bearer(strong.token).refused('getMe')).status).toBe(401);
    const event = await library.deps.db
      .selectFrom('audit_events')
      .select('metadata')
      .where('event', '=', 'auth.token.deleted')
      .where('target_id', '=', weak.id)
      .executeTakeFirstOrThrow();
    expect(event.metadata).toEqual({ token_id: strong.id });
  });
});

describe('a bearer token', () => {
  const bearerWith = (authorization: string, more: Record<string, string> = {}) =>
    visit(library.address, { authorization, ...more });

  test('authenticates as its account and identifies itself as a token', async () => {
    const { token } = await mint(mara);
    const user = await bearer(token).ok('getMe');
    expect(user).toMatchObject({ ref: mara.ref, username: 'Mara', auth_method: 'token' });
    expect(user.capabilities).toEqual((await mara.ok('getMe')).capabilities);
  });

  test.each(['bearer', 'BEARER', 'bEaReR', 'Bearer '])('counts after the scheme %j', async (scheme) => {
    const { token } = await mint(mara);
    expect((await bearerWith(`${scheme} ${token}`).ok('getMe')).ref).toBe(mara.ref);
  });

  // TOKEN-6
  test('takes precedence over a session cookie and leaves that session alone', async () => {
    const { token } = await mint(mara);
    const both = bearer(token, { cookie: `user=${olga.cookie()}` });
    const answer = await both.send('/auth/me');
    expect(JSON.parse(answer.text)).toMatchObject({ ref: mara.ref, auth_method: 'token' });
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect((await both.refused('logout')).status).toBe(403);
    expect((await olga.ok('getMe')).auth_method).toBe('session');
  });

  // TOKEN-6
  test('returns 401 everywhere when invalid, even with a valid cookie', async () => {
    const { id, token } = await mint(mara);
    await mara.ok('deleteToken', { params: { id } });
    const wrong = [token, `${token}x`, token.slice(0, -1), token.toLowerCase(), token.slice(7), ''];
    for (const one of [...wrong, mara.cookie() ?? '']) {
      const both = bearerWith(`Bearer ${one}`, { cookie: `user=${mara.cookie()}` });
      for (const path of ['/auth/me', '/posts', '/appearance']) {
        const answer = await both.send(path);
        expect([one, path, answer.status]).toEqual([one, path, 401]);
        expect(answer.text).toBe('{"error":"the bearer token is not valid"}');
      }
    }
  });

  // TOKEN-6
  test('is ignored in an address, in a cookie and under another scheme', async () => {
    const { token } = await mint(mara);
    for (const name of ['access_token', 'token', 'bearer', 'user', 'authorization']) {
      const value = encodeURIComponent(name === 'authorization' ? `Bearer ${token}` : token);
      expect((await library.anonymous().send(`/auth/me?${name}=${value}`)).status).toBe(401);
    }
    expect((await visit(library.address, { cookie: `user=${token}` }).send('/auth/me')).status).toBe(401);
    for (const scheme of ['Basic', 'Token', 'Bearer:', 'BearerX']) {
      expect((await bearerWith(`${scheme} ${token}`).send('/auth/me')).status).toBe(401);
    }
    expect((await visit(library.address, { 'x-api-key': token }).send('/auth/me')).status).toBe(401);
  });

  // TOKEN-7
  test('is refused after its expiry', async () => {
    const { id, token } = await mint(mara, ['read'], later(3_600_000));
    await bearer(token).ok('getMe');
    await sql`update access_tokens set expires_at = expires_at - interval '3601 seconds'
      where id = ${id}`.execute(library.deps.db);
    expect((await bearer(token).refused('getMe')).status).toBe(401);
    expect((await bearer(token, { cookie: `user=${mara.cookie()}` }).refused('getMe')).status).toBe(401);
  });

  // TOKEN-7, USER-10
  test('returns 401 while its account is disabled', async () => {
    const gone = await library.join('gone');
    const { token } = await mint(gone);
    const params = { ref: gone.ref };
    for (const status of ['pending', 'disabled', 'archived'] as const) {
      await root.ok('setUserStatus', { params, body: { status } });
      expect((await bearer(token).refused('getMe')).status).toBe(401);
    }
    await root.ok('setUserStatus', { params, body: { status: 'active' } });
    await bearer(token).ok('getMe');
  });

  // TOKEN-7
  test('outlives the sessions of its account', async () => {
    const { token } = await mint(mara);
    const other = visit(library.address, {}, mara.cookie());
    await root.ok('endUserSessions', { params: { ref: mara.ref } });
    expect((await other.refused('getMe')).status).toBe(401);
    expect((await bearer(token).ok('getMe')).ref).toBe(mara.ref);
    mara = await library.join('Mara again');
  });

  // TOKEN-11
  test('records its last use at most once in five minutes', async () => {
    const { id, token } = await mint(mara);
    const lastUsed = async () =>
      (await mara.ok('listTokens')).items.find((item) => item.id === id)?.last_used_at ?? null;
    expect(await lastUsed()).toBeNull();
    await bearer(token).ok('getMe');
    const first = await lastUsed();
    expect(Math.abs(Date.parse(first ?? '') - Date.now())).toBeLessThan(60_000);
    await sleep(20);
    await bearer(token).ok('getMe');
    expect(await lastUsed()).toBe(first);
    const moveBack = (minutes: number) =>
      sql`update access_tokens
      set last_used_at = now() - make_interval(mins => ${minutes}) where id = ${id}`.execute(library.deps.db);
    await moveBack(4);
    const fourAgo = await lastUsed();
    await bearer(token).ok('getMe');
    expect(await lastUsed()).toBe(fourAgo);
    await moveBack(6);
    const sixAgo = await lastUsed();
    await bearer(token).ok('getMe');
    expect(Date.parse((await lastUsed()) ?? '')).toBeGreaterThan(Date.parse(sixAgo ?? '') + 300_000);
  });

  test('counts a use that was refused for its scope', async () => {
    const [used, spent] = [await mint(mara, ['posts.write']), await mint(mara, ['read'], later(60_000))];
    await bearer(used.token).refused('getMe');
    await sql`update access_tokens set expires_at = now() - interval '1 second'
      where id = ${spent.id}`.execute(library.deps.db);
    await bearer(spent.token).refused('getMe');
    const { items } = await mara.ok('listTokens');
    expect(items.find(({ id }) => id === used.id)?.last_used_at).not.toBeNull();
    expect(items.find(({ id }) => id === spent.id)?.last_used_at).toBeNull();
  });
});

// TOKEN-9
describe('a token never becomes a session, which could create tokens', () => {
  let agent: Account;
  let token: string;

  beforeAll(async () => {
    agent = await library.join('agent', 'admin');
    token = (await mint(agent, ['admin'])).token;
  });

  const mintAs = async (visitor: Visitor) =>
    (await sendMint(visitor, { name: 'x', scopes: ['admin'] })).status;

  test('by starting and ending an impersonation', async () => {
    const path = `/admin/users/${olga.ref}/impersonate`;
    const started = await bearer(token).send(path, { method: 'POST', body: {} });
    const mask = /^user=([^;]+)/.exec(started.headers.get('set-cookie') ?? '')?.[1];
    const browser = visit(library.address, {}, mask);
    await browser.send('/auth/impersonation/end', { method: 'POST' });
    expect(await mintAs(browser)).not.toBe(201);
  });

  test('by changing the password', async () => {
    const path = `/admin/users/${agent.ref}/reset-password`;
    const reset = await bearer(token).send(path, { method: 'POST' });
    const given: { temporary_password?: string } = JSON.parse(reset.text);
    const browser = library.anonymous();
    const body = { username: 'agent', password: given.temporary_password ?? '' };
    await browser.send('/auth/login', { method: 'POST', body });
    expect(await mintAs(browser)).not.toBe(201);
  });
});

/** Returns a request for the operation that changes nothing. */
function addressed({ path }: Operation): string {
  return path.replaceAll('{ref}', '999999999').replace(/\{\w+\}/g, unknownId);
}

const all: Operation[] = Object.values(operations);
const scopeFault = /^(missing scope|this requires a session)/;

// TOKEN-4
describe('scopes at every operation', () => {
  let held: Library;
  let chief: Account;
  const tokens = new Map<TokenScope, Visitor>();
  const everything: Visitor[] = [];

  beforeAll(async () => {
    held = await openLibrary();
    chief = await held.join('chief', 'admin');
    for (const scope of scopes) {
      const { token } = await chief.ok('createToken', { body: { name: scope, scopes: [scope] } });
      tokens.set(scope, visit(held.address, { authorization: `Bearer ${token}` }));
    }
    const { token } = await chief.ok('createToken', { body: { name: 'all', scopes: [...scopes] } });
    everything.push(visit(held.address, { authorization: `Bearer ${token}` }));
    // Only the first use is recorded; later ones change nothing.
    for (const visitor of [...tokens.values(), ...everything]) await visitor.send('/auth/me');
  });

  /** Calls the operation with each of these tokens, with a body that would be refused if it were read. */
  async function refusals(operation: Operation, visitors: Iterable<Visitor>): Promise<Set<string>> {
    const init = operation.method === 'GET' ? {} : { method: operation.method, body: '{"half' };
    const answers = await Promise.all(Array.from(visitors, (one) => one.send(addressed(operation), init)));
    return new Set(answers.map((answer) => `${answer.status} ${errorOf(answer)}`));
  }

  const limited = all.filter(({ scope }) => scope !== 'none' && scope !== 'session');
  const sessionOnly = all.filter(({ scope }) => scope === 'session');
  const unlimited = all.filter(({ scope }) => scope === 'none');

  test('the tables of operations are not empty', () => {
    expect(new Set(limited.map(({ scope }) => scope))).toEqual(
      new Set(['read', 'posts.write', 'assets.write', 'comments.write', 'fields.admin', 'admin']),
    );
    // TOKEN-9: `admin` allows everything but creating tokens; starting and ending an impersonation would allow that,
    // too.
    expect(sessionOnly.map(({ id }) => id).sort()).toEqual(['createToken', 'impersonate', 'logout']);
    expect(unlimited.map(({ id }) => id)).toContain('login');
  });

  // TOKEN-4, TOKEN-9. All other operations that change something need `admin`.
  test.each(
    Object.entries({
      'posts.write': `
      addToCollection clearCollectionFieldValue createCollection createCollectionLink createPost
      createPostLink createWhiteboard deleteCollection deleteCollectionPeer deleteCollectionShare
      deletePost deletePostPeer deleteShare deleteWhiteboard likePost orderCollection publishPost
      putCollectionPeer putCollectionShare putPostPeer putShare removeFromCollection
      restoreCollection restorePost revokeLink setCollectionFieldValue unlikePost unpublishPost
      updateCollection updateLink updatePost`,
      'assets.write': `
      appendToUpload clearAssetFieldValue createAsset createAssetLink createUpload deleteAsset
      deleteAssetPeer deleteAssetShare deleteSubtitles deleteUpload putAssetPeer putAssetShare
      putSubtitles reprocessAsset restoreAsset setAssetFieldValue setAssetPoster setAssetState
      updateAsset`,
      'comments.write': `
      createComment deleteComment likeComment unlikeComment updateComment`,
      'fields.admin': `
      addFieldTerms archiveField cancelBackfill createField decidePeerField mergeFieldTerms
      mergeTags putField removeDefaultOverride renameTag resetPeerField retryExtraction
      setDefaultOverride setFieldExtraction startBackfill updateField updateFieldTerm`,
    }),
  )('`%s` allows exactly the intended changes', (scope, ids) => {
    const allowed = all.filter((operation) => operation.scope === scope).map(({ id }) => id);
    expect(allowed.sort()).toEqual(ids.trim().split(/\s+/));
  });

  // TOKEN-4
  test('requires `read` for exactly the operations that only read', () => {
    // A picture to search by does not fit into an address.
    const reads = ['searchByImage'];
    for (const { id, method, scope } of limited) {
      expect([id, scope === 'read']).toEqual([id, method === 'GET' || reads.includes(id)]);
    }
  });

  // TOKEN-4
  test('refuses a call outside the scopes, names the missing scope and changes nothing', async () => {
    const before = await databaseText(held);
    for (const operation of limited) {
      const reaching: readonly string[] = [operation.scope, ...(operation.otherScopes ?? []), 'admin'];
      const without = [...tokens].filter(([scope]) => !reaching.includes(scope));
      const found = await refusals(
        operation,
        without.map(([, visitor]) => visitor),
      );
      expect([operation.id, ...found]).toEqual([operation.id, `403 missing scope ${operation.scope}`]);
    }
    for (const operation of sessionOnly) {
      const found = await refusals(operation, [...tokens.values(), ...everything]);
      expect([operation.id, ...found]).toEqual([
        operation.id,
        '403 this requires a session; tokens are not accepted',
      ]);
    }
    expect(await databaseText(held)).toBe(before);
  });

  test('requires the same scope for HEAD as for GET', async () => {
    const writer = tokens.get('posts.write');
    const answer = await writer?.send('/auth/me', { method: 'HEAD' });
    expect(answer?.status).toBe(403);
    expect((await tokens.get('read')?.send('/auth/me', { method: 'HEAD' }))?.status).toBe(200);
  });

  test('never refuses a call within the scopes, or with `admin`, for its scope', async () => {
    // An address to unsubscribe contains its own credential.
    const others = unlimited.filter(({ path }) => path !== '/mail/unsubscribe');
    for (const operation of [...limited, ...others]) {
      const within = [...tokens].filter(
        ([scope]) => operation.scope === 'none' || scope === operation.scope || scope === 'admin',
      );
      expect(within.length).toBeGreaterThan(0);
      for (const [scope, visitor] of within) {
        const init = operation.method === 'GET' ? {} : { method: operation.method, body: {} };
        const answer = await visitor.send(addressed(operation), init);
        const where = `${operation.id} with ${scope}: ${answer.status}`;
        if (answer.status !== 501) expect(answer.status, where).toBeLessThan(500);
        expect([401, 403], where).not.toContain(answer.status);
        expect(answer.text, where).not.toMatch(scopeFault);
      }
    }
  });
});

// TOKEN-5
describe('a scope never adds a capability', () => {
  let viewer: Account;
  let token: string;

  beforeAll(async () => {
    viewer = await library.join('viewer', 'viewer');
    token = (await mint(viewer, scopes)).token;
  });

  // TOKEN-5
  test('refuses a token with every scope wherever it refuses its account', async () => {
    // A viewer holds teams.read and nothing else.
    const gated = all.filter(({ door }) => typeof door === 'object' && door.holds !== 'teams.read');
    expect(gated.length).toBeGreaterThan(20);
    for (const operation of gated) {
      const init = operation.method === 'GET' ? {} : { method: operation.method, body: {} };
      const [byToken, bySession] = await Promise.all([
        bearer(token).send(addressed(operation), init),
        viewer.send(addressed(operation), init),
      ]);
      expect([operation.id, byToken.status, byToken.text]).toEqual([
        operation.id,
        403,
        expect.stringMatching(/missing capability/),
      ]);
      expect([bySession.status, bySession.text]).toEqual([byToken.status, byToken.text]);
    }
  });

  test('applies a granted or revoked capability to the token immediately', async () => {
    const { db } = library.deps;
    await db
      .insertInto('user_capability_grants')
      .values({ user_ref: viewer.ref, capability: 'system.config.read' })
      .execute();
    await bearer(token).ok('getPublicMode');
    const posting = await mint(viewer, ['posts.write']);
    expect(await bearer(posting.token).refused('getPublicMode')).toEqual({
      status: 403,
      error: 'missing scope read',
    });
    await db.deleteFrom('user_capability_grants').where('user_ref', '=', viewer.ref).execute();
    expect((await bearer(token).refused('getPublicMode')).error).toBe(
      'missing capability system.config.read',
    );
  });

  test('shows a token what its account sees', async () => {
    const [own, foreign] = [await mint(mara, scopes), await mint(olga, scopes)];
    expect((await bearer(own.token).ok('listTokens')).items.map(({ id }) => id)).toContain(own.id);
    expect((await bearer(foreign.token).ok('listTokens')).items.map(({ id }) => id)).not.toContain(own.id);
  });
});
