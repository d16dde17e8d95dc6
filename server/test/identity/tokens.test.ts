import { createHash } from 'node:crypto';
import { scopes, type TokenScope } from '@vitrine/contract/capabilities';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { databaseText } from '../support/database-text.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { bearer, grant, nowhere, withdrawGrants } from '../support/people.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('Mara');
const olga = await library.join('olga');

/** A caller with this text in the header, and with other headers. */
const authorized = (authorization: string, more: Record<string, string> = {}) =>
  visit(library.address, { authorization, ...more });
const withToken = (token: string, more?: Record<string, string>) => authorized(`Bearer ${token}`, more);

function mint(account: Account, given: readonly TokenScope[] = ['read'], expires_at: string | null = null) {
  return account.ok('createToken', { body: { name: 'script', scopes: [...given], expires_at } });
}

const heldTokens = async ({ ref }: Account) =>
  (await library.deps.db.selectFrom('access_tokens').select('id').where('user_ref', '=', ref).execute())
    .length;

// TOKEN-1
describe('POST /auth/tokens', () => {
  // TOKEN-1, TOKEN-2
  test('creates a unique token of `vt_pat_` and 32 letters and digits', async () => {
    const minted = await Promise.all(Array.from({ length: 12 }, () => mint(olga)));
    for (const { token } of minted) expect(token).toMatch(/^vt_pat_[A-Za-z0-9]{32}$/);
    expect(new Set(minted.map(({ token }) => token)).size).toBe(12);
    for (const expires_at of [null, '2040-05-06T07:08:09Z']) {
      const body = { name: 'x'.repeat(100), scopes: [...scopes], expires_at };
      const { token: _, ...rest } = await olga.ok('createToken', { body });
      expect(rest).toEqual({
        ...body,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        created_at: expect.any(String),
        last_used_at: null,
      });
      expect(Math.abs(Date.parse(rest.created_at) - Date.now())).toBeLessThan(60_000);
    }
  });

  // TOKEN-2
  test('shows the token once and stores only its SHA-256', async () => {
    const { id, token } = await mint(mara);
    await withToken(token).ok('getMe');
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

  test('refuses a blank name, a repeated scope, and an expiry in the past or on no day', async () => {
    const before = await heldTokens(mara);
    for (const body of [
      { name: '   ', scopes: ['read'] },
      { name: 'x', scopes: ['read', 'read'] },
      { name: 'x', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' },
      { name: 'x', scopes: ['read'], expires_at: '2040-02-31T00:00:00Z' },
    ])
      expect([body, await mara.status('POST', '/auth/tokens', body)]).toEqual([body, 400]);
    expect(await heldTokens(mara)).toBe(before);
  });

  // TOKEN-3
  test('allows 100 tokens per account, also under concurrent requests, then returns 409', async () => {
    const many = await library.join('many');
    await sql`insert into access_tokens (user_ref, name, token_hash, scopes)
      select ${many.ref}, 'old', sha256(int4send(n)), '{read}' from generate_series(1, 99) n`.execute(
      library.deps.db,
    );
    const body = { name: 'x', scopes: ['read'] };
    const create = () => many.status('POST', '/auth/tokens', body);
    const found = await Promise.all(Array.from({ length: 10 }, create));
    expect(found.sort()).toEqual([201, ...Array(9).fill(409)]);
    expect(await heldTokens(many)).toBe(100);
    const [{ id = '' } = {}] = (await many.ok('listTokens')).items;
    await many.ok('deleteToken', { params: { id } });
    await mint(many);
  });
});

test('lists only the tokens of the account, newest first, without duplicates on pages', async () => {
  const lena = await library.join('lena');
  const names = ['one', 'two', 'three', 'four'];
  for (const name of names) await lena.ok('createToken', { body: { name, scopes: ['read'] } });
  const pages = await pagesOf((from) => lena.ok('listTokens', { query: { limit: 3, ...from } }));
  expect(pages.map((items) => items.map(({ name }) => name))).toEqual([['four', 'three', 'two'], ['one']]);
  const page = await lena.ok('listTokens', { query: { limit: 4 } });
  expect(page.next_cursor).toBeNull();
  const properties = ['created_at', 'expires_at', 'id', 'last_used_at', 'name', 'scopes'];
  expect(Object.keys(page.items[0] ?? {}).sort()).toEqual(properties);
  // A cursor of another account selects no rows of it.
  const { next_cursor } = await lena.ok('listTokens', { query: { limit: 1 } });
  const shown = await mara.ok('listTokens', { query: { limit: 200, cursor: next_cursor ?? '' } });
  expect(shown.items.filter(({ name }) => names.includes(name))).toEqual([]);
});

describe('DELETE /auth/tokens/{id}', () => {
  // TOKEN-7
  test('revokes only that token, immediately and permanently, also with the token itself', async () => {
    const [gone, kept] = [await mint(mara, ['admin']), await mint(mara)];
    await withToken(gone.token).ok('deleteToken', { params: { id: gone.id } });
    expect((await withToken(gone.token).refused('getMe')).status).toBe(401);
    await withToken(kept.token).ok('getMe');
    expect((await mara.refused('deleteToken', { params: { id: gone.id } })).status).toBe(404);
  });

  // TOKEN-8
  test('returns 404 for a token of another account, also to administrators', async () => {
    const { id, token } = await mint(mara);
    const missing = await olga.refused('deleteToken', { params: { id: nowhere } });
    expect(missing.status).toBe(404);
    for (const other of [olga, root])
      expect(await other.refused('deleteToken', { params: { id } })).toEqual(missing);
    await withToken(token).ok('getMe');
  });
});

describe('a bearer token', () => {
  test('authenticates as its account, after the scheme in any case', async () => {
    const { token } = await mint(mara);
    const { capabilities } = await mara.ok('getMe');
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer ']) {
      const user = await authorized(`${scheme} ${token}`).ok('getMe');
      expect(user, scheme).toMatchObject({ ref: mara.ref, auth_method: 'token', capabilities });
    }
  });

  // TOKEN-6
  test('takes precedence over a session cookie and leaves that session alone', async () => {
    const { token } = await mint(mara);
    const both = withToken(token, { cookie: `user=${olga.cookie()}` });
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
    const refusal = '{"error":"the bearer token is not valid"}';
    const wrong = [token, `${token}x`, token.slice(0, -1), token.toLowerCase(), token.slice(7), ''];
    for (const one of [...wrong, mara.cookie() ?? '']) {
      const both = withToken(one, { cookie: `user=${mara.cookie()}` });
      for (const path of ['/auth/me', '/appearance']) {
        const { status, text } = await both.send(path);
        expect([one, path, status, text]).toEqual([one, path, 401, refusal]);
      }
    }
  });

  // TOKEN-6
  test('is ignored in an address, in a cookie and under another scheme', async () => {
    const { token } = await mint(mara);
    const callers: [string, Visitor][] = [
      ['/auth/me', visit(library.address, { cookie: `user=${token}` })],
      ['/auth/me', visit(library.address, { 'x-api-key': token })],
    ];
    for (const scheme of ['Basic', 'Token', 'Bearer:', 'BearerX'])
      callers.push(['/auth/me', authorized(`${scheme} ${token}`)]);
    for (const query of ['access_token=', 'token=', 'user=', 'authorization=Bearer%20'])
      callers.push([`/auth/me?${query}${token}`, library.anonymous()]);
    const found = await Promise.all(callers.map(([path, caller]) => caller.status('GET', path)));
    expect(found).toEqual(callers.map(() => 401));
  });

  // TOKEN-7
  test('is refused after its expiry, and outlives the sessions of its account', async () => {
    const owner = await library.join('owner');
    const { token } = await mint(owner, ['read'], new Date(Date.now() + 3_600_000).toISOString());
    await root.ok('endUserSessions', { params: { ref: owner.ref } });
    expect((await owner.refused('getMe')).status).toBe(401);
    expect((await withToken(token).ok('getMe')).ref).toBe(owner.ref);
    await sql`update access_tokens set expires_at = expires_at - interval '3601 seconds'
      where user_ref = ${owner.ref}`.execute(library.deps.db);
    for (const more of [{}, { cookie: `user=${mara.cookie()}` }])
      expect((await withToken(token, more).refused('getMe')).status).toBe(401);
  });

  // TOKEN-11
  test('records its last use at most once in five minutes, also when its scope is missing', async () => {
    const { id, token } = await mint(mara, ['posts.write']);
    const lastUsed = async () =>
      (await mara.ok('listTokens')).items.find((item) => item.id === id)?.last_used_at ?? null;
    /** Uses the token after its last use was moved back, and returns the times before and after. */
    const useAfter = async (minutes: number) => {
      await sql`update access_tokens set last_used_at = now() - make_interval(mins => ${minutes})
        where id = ${id}`.execute(library.deps.db);
      const before = await lastUsed();
      await withToken(token).refused('getMe');
      return [before, await lastUsed()];
    };
    expect(await lastUsed()).toBeNull();
    await withToken(token).refused('getMe');
    expect(Math.abs(Date.parse((await lastUsed()) ?? '') - Date.now())).toBeLessThan(60_000);
    const [four, kept] = await useAfter(4);
    expect(kept).toBe(four);
    const [six, used] = await useAfter(6);
    expect(Date.parse(used ?? '')).toBeGreaterThan(Date.parse(six ?? '') + 300_000);
  });
});

// TOKEN-9
test('a token never becomes a session by setting the password of its account', async () => {
  const agent = await library.join('agent', 'admin');
  const script = await bearer(library, agent, ['admin']);
  const reset = await script.send(`/admin/users/${agent.ref}/reset-password`, { method: 'POST' });
  const { temporary_password = '' }: { temporary_password?: string } = JSON.parse(reset.text);
  const browser = library.anonymous();
  await browser.status('POST', '/auth/login', { username: 'agent', password: temporary_password });
  const body = { name: 'x', scopes: ['admin'] };
  expect(await browser.status('POST', '/auth/tokens', body)).not.toBe(201);
});

/** Returns an address for the operation that names nothing. */
function addressed({ path }: Operation): string {
  return path.replaceAll('{ref}', '999999999').replace(/\{\w+\}/g, nowhere);
}

/** Calls the operation and returns its id, the status and the error. */
async function call(operation: Operation, caller: Visitor, body: unknown): Promise<string> {
  const sent = operation.method === 'GET' ? {} : { body };
  const { status, text } = await caller.send(addressed(operation), { method: operation.method, ...sent });
  const { error = '' }: { error?: string } = status < 400 ? {} : JSON.parse(text);
  return `${operation.id}: ${status} ${error}`;
}

const all: Operation[] = Object.values(operations);

const chief = await library.join('chief', 'admin');

// TOKEN-4
describe('scopes at every operation', () => {
  const callers = new Map<string, Visitor>();

  /** Returns the caller with a token of these scopes. Only the first use of a token is recorded. */
  async function callerWith(given: readonly TokenScope[]): Promise<Visitor> {
    const known = callers.get(given.join());
    if (known !== undefined) return known;
    const caller = await bearer(library, chief, given);
    callers.set(given.join(), caller);
    await caller.send('/auth/me');
    return caller;
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
    expect(sessionOnly.map(({ id }) => id).sort()).toEqual([
      'addPasskey',
      'createPushSubscription',
      'createToken',
      'deletePasskey',
      'deletePushSubscription',
      'downloadAccountExport',
      'endImpersonation',
      'getAccountExport',
      'getDeletionRequest',
      'impersonate',
      'linkIdentity',
      'logout',
      'requestDeletion',
      'startAccountExport',
      'startPasskey',
      'unlinkIdentity',
      'updatePasskey',
      'withdrawDeletionRequest',
    ]);
    expect(unlimited.map(({ id }) => id)).toContain('login');
  });

  // TOKEN-4, TOKEN-9. All other operations that change something need `admin`.
  test.each(
    Object.entries({
      'posts.write': `
      addAssetToCollection addToCollection batchPosts clearCollectionFieldValue closeReview createCollection
      createCollectionLink createPost
      createPostLink createWhiteboard deleteCollection deleteCollectionPeer deleteCollectionShare
      deletePost deletePostPeer deleteShare deleteWhiteboard likePost orderCollection orderCollectionItems pinPost publishPost
      putCollectionPeer putCollectionShare putPostPeer putShare removeAssetFromCollection removeFromCollection
      renewLink requestReview restoreCollection restorePost revokeLink setCollectionFieldValue unlikePost unpinPost
      unpublishPost updateCollection updateLink updateLinkGuest updatePost
      updateWhiteboard`,
      'assets.write': `
      addAssetVersion addRelatedAsset appendToUpload batchAssets cancelBatch clearAssetFieldValue createAsset createAssetLink createStack
      createUpload
      deleteAsset deleteAssetPeer deleteAssetShare deleteAssetVersion deleteStack deleteSubtitles deleteUpload importAssets putAssetPeer
      putAssetShare putSubtitles removeRelatedAsset reprocessAsset resolveDuplicates restoreAsset restoreAssetVersion setAssetFieldValue
      setAssetPoster setAssetState setStackTop undoBatch updateAsset`,
      'comments.write': `
      assignComment createAnnotation createComment decideReview deleteComment likeComment reopenComment resolveComment
      unlikeComment updateComment`,
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
    // A picture to search by and a list of files do not fit into an address. Cancelling a download changes nothing else.
    const reads = ['searchByImage', 'createArchive', 'cancelArchive'];
    for (const { id, method, scope } of limited)
      expect([id, scope === 'read']).toEqual([id, method === 'GET' || reads.includes(id)]);
  });

  // TOKEN-4
  test('refuses a call with all other scopes, names the missing scope and changes nothing', async () => {
    const calls: [operation: Operation, caller: Visitor, error: string][] = [];
    for (const operation of limited) {
      const reaching: readonly string[] = [operation.scope, ...(operation.otherScopes ?? []), 'admin'];
      const caller = await callerWith(scopes.filter((scope) => !reaching.includes(scope)));
      calls.push([operation, caller, `missing scope ${operation.scope}`]);
    }
    for (const operation of sessionOnly)
      calls.push([operation, await callerWith(scopes), 'this requires a session; tokens are not accepted']);
    const before = await databaseText(library);
    // The body would be refused if it were read.
    const found = await Promise.all(calls.map(([operation, caller]) => call(operation, caller, '{"half')));
    expect(found).toEqual(calls.map(([{ id }, , error]) => `${id}: 403 ${error}`));
    expect(await databaseText(library)).toBe(before);
  });

  test('names the missing scope before a missing capability', async () => {
    const member = await bearer(library, await library.join('member'), ['read']);
    const answer = await member.send('/fields', { method: 'POST', body: {} });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([403, 'missing scope fields.admin']);
  });

  test('requires the same scope for HEAD as for GET', async () => {
    const statusWith = async (scope: TokenScope) => (await callerWith([scope])).status('HEAD', '/auth/me');
    expect([await statusWith('posts.write'), await statusWith('read')]).toEqual([403, 200]);
  });

  test('never refuses a call within the scopes, or with `admin`, for its scope', async () => {
    const found: string[] = [];
    for (const operation of limited)
      for (const scope of new Set([operation.scope, ...(operation.otherScopes ?? []), 'admin' as const]))
        if (scope !== 'none' && scope !== 'session')
          found.push(await call(operation, await callerWith([scope]), {}));
    // An address to unsubscribe contains its own credential; the cookie of a sign-in is one.
    const others = ['/mail/unsubscribe', '/auth/continue'];
    for (const operation of unlimited.filter(({ path }) => !others.includes(path)))
      found.push(await call(operation, await callerWith(['comments.write']), {}));
    expect(found.length).toBeGreaterThan(all.length);
    expect(found.filter((line) => /: (401|403|50[^1]) /.test(line))).toEqual([]);
  });
});

const viewer = await library.join('viewer', 'viewer');
const script = await bearer(library, viewer, scopes);

// TOKEN-5
describe('a scope never adds a capability', () => {
  // TOKEN-5, ROLE-17
  test('refuses a token with every scope where its account lacks the capability', async () => {
    // A viewer holds teams.read and nothing else.
    const gated = all.flatMap((operation) =>
      typeof operation.door === 'object' && operation.door.holds !== 'teams.read'
        ? [{ operation, missing: operation.door.holds }]
        : [],
    );
    expect(gated.length).toBeGreaterThan(20);
    const found = await Promise.all(gated.map(({ operation }) => call(operation, script, {})));
    const due = gated.map(({ operation, missing }) => `${operation.id}: 403 missing capability ${missing}`);
    expect(found).toEqual(due);
  });

  test('applies a granted or withdrawn capability to the token immediately', async () => {
    await grant(library, viewer, 'system.config.read');
    await script.ok('getPublicMode');
    await withdrawGrants(library, viewer);
    expect((await script.refused('getPublicMode')).error).toBe('missing capability system.config.read');
  });
});
