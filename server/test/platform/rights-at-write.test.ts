import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenScope } from '@vitrine/contract/capabilities';
import type { Operation } from '@vitrine/contract/operation';
import { basePath, operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startSession } from '../../src/people/identity/sessions.ts';
import { type Answered, visit } from '../support/client.ts';
import { type Account, openLibrary, publish, upload as uploadAsset } from '../support/library.ts';
import { actAs, grant, nowhere, setRole, withdrawGrants } from '../support/people.ts';
import { plainText, png } from '../support/pictures.ts';
import { watchStatements } from '../support/statements.ts';
import { asForm, asJson, formEnd, headOf, openWire, partHead, sessionOf } from './wire.ts';

type Headers = Readonly<Record<string, string>>;

interface Sent {
  method: string;
  path: string;
  body: Uint8Array;
  headers: Headers;
}

const library = await openLibrary();

const { db } = library.deps;

/** Requests without credentials. */
const json = (method: string, path: string, body: object): Sent => ({
  method,
  path,
  body: Buffer.from(JSON.stringify(body)),
  headers: asJson,
});
const form = (path: string, bytes: Uint8Array): Sent => ({
  method: 'POST',
  path,
  body: Buffer.concat([Buffer.from(partHead), bytes, Buffer.from(formEnd)]),
  headers: asForm,
});

/** Resolves after this many connections were returned to the pool: one for each request that is let in. */
function letIn(requests: number): Promise<void> {
  const { pool } = library.database;
  let left = requests;
  return new Promise((resolve) => {
    const count = () => {
      left -= 1;
      if (left > 0) return;
      pool.off('release', count);
      resolve();
    };
    pool.on('release', count);
  });
}

/** Sends requests without their last byte, makes `change` once all of them are let in, and sends the rest. */
async function sendAround(requests: readonly Sent[], change: () => Promise<unknown>): Promise<Answered[]> {
  const wires = await Promise.all(requests.map(() => openWire(library)));
  const entered = letIn(requests.length);
  for (const [index, { method, path, body, headers }] of requests.entries()) {
    const head = headOf(method, basePath + path, body.length, { connection: 'close', ...headers });
    void wires[index]?.send(Buffer.concat([Buffer.from(head), body.subarray(0, -1)]));
  }
  await entered;
  await change();
  for (const [index, { body }] of requests.entries()) void wires[index]?.send(body.subarray(-1));
  return Promise.all(wires.map(({ ended }) => ended));
}

const count = async (table: 'users' | 'collections' | 'logos') => {
  const { rows } = await sql`select from ${sql.table(table)}`.execute(db);
  return rows.length;
};

/** Returns incoming files, originals and the rows about them. */
async function bytesKept(): Promise<unknown> {
  const files = await readdir(join(library.config.dataDir, 'library'), { recursive: true });
  const rows = [db.selectFrom('files').selectAll().execute(), db.selectFrom('assets').selectAll().execute()];
  return [files.sort(), ...(await Promise.all(rows))];
}

let numbered = 0;
/** An account whose capabilities the service has resolved before. */
async function arrive(role: 'admin' | 'member'): Promise<Account> {
  numbered += 1;
  const account = await library.join(`${role}-${numbered}`, role);
  await account.ok('getMe');
  return account;
}

async function tokenOf(account: Account, scopes: TokenScope[]): Promise<Headers> {
  const { token } = await account.ok('createToken', { body: { name: 'script', scopes } });
  const credentials = { authorization: `Bearer ${token}` };
  await visit(library.address, credentials).ok('getMe');
  return credentials;
}

const collection = () => json('POST', '/collections', { name: 'Never made' });
const upload = () => form('/assets', plainText('bytes nobody has uploaded before'));
const disable =
  ({ ref }: Account) =>
  () =>
    sql`update users set status = 'disabled' where ref = ${ref}`.execute(db);

interface Scene {
  status: number;
  /** What the message contains, if it matters. */
  error?: RegExp;
  credentials: Headers;
  request: Sent;
  /** Ends the right while the request is in transit. */
  change(): Promise<unknown>;
  /** Returns what the request would change. */
  state(): Promise<unknown>;
}

const scenes: Record<string, () => Promise<Scene>> = {
  async 'an expired token does not switch public mode on'() {
    const admin = await arrive('admin');
    return {
      status: 401,
      credentials: await tokenOf(admin, ['admin']),
      request: json('PUT', '/system/public-mode', { enabled: true }),
      change: () =>
        sql`update access_tokens set expires_at = now() - interval '1 minute' where user_ref = ${admin.ref}`.execute(
          db,
        ),
      state: () => db.selectFrom('settings').selectAll().where('key', '=', 'public_mode').execute(),
    };
  },
  async 'a token whose scopes were reduced creates no collection'() {
    const account = await arrive('member');
    return {
      status: 403,
      error: /scope/,
      credentials: await tokenOf(account, ['read', 'posts.write', 'assets.write']),
      request: collection(),
      change: () =>
        sql`update access_tokens set scopes = '{read}' where user_ref = ${account.ref}`.execute(db),
      state: () => count('collections'),
    };
  },
  async 'an account that lost the capability of the door creates no administrator'() {
    const admin = await arrive('admin');
    const made = { username: 'made', password: 'correct horse battery', role: 'admin' };
    return {
      status: 403,
      error: /capability/,
      credentials: sessionOf(admin),
      request: json('POST', '/admin/users', made),
      change: () => setRole(library, admin, 'viewer'),
      state: () => count('users'),
    };
  },
  async 'an account that lost a capability the handler asks for edits no post of others'() {
    const author = await arrive('member');
    const operator = await arrive('member');
    await grant(library, operator, 'posts.admin');
    await operator.ok('getMe');
    const asset = await uploadAsset(author, plainText('of a post'));
    const { id } = await publish(author, [asset], { visibility: 'public', title: 'As it was' });
    return {
      status: 403,
      credentials: sessionOf(operator),
      request: json('PATCH', `/posts/${id}`, { title: 'Changed' }),
      change: () => withdrawGrants(library, operator),
      state: () => db.selectFrom('posts').select('title').where('id', '=', id).execute(),
    };
  },
  async 'an impersonation that expired creates no collection'() {
    const mask = await actAs(library, await arrive('admin'), await arrive('member'));
    await mask.ok('getMe');
    return {
      status: 401,
      error: /acting as another user has ended/,
      credentials: sessionOf(mask),
      request: collection(),
      change: () =>
        sql`update sessions set expires_at = now() where impersonator_user_ref is not null`.execute(db),
      state: () => count('collections'),
    };
  },
  async 'an impersonation whose administrator was disabled creates no collection'() {
    const admin = await arrive('admin');
    const mask = await actAs(library, admin, await arrive('member'));
    await mask.ok('getMe');
    return {
      status: 401,
      error: /acting as another user has ended/,
      credentials: sessionOf(mask),
      request: collection(),
      change: disable(admin),
      state: () => count('collections'),
    };
  },
  async 'an upload of an account that is disabled becomes no asset'() {
    const account = await arrive('member');
    const credentials = sessionOf(account);
    return { status: 401, credentials, request: upload(), change: disable(account), state: bytesKept };
  },
  async 'an upload with a deleted token becomes no asset'() {
    const account = await arrive('member');
    return {
      status: 401,
      credentials: await tokenOf(account, ['read', 'posts.write', 'assets.write']),
      request: upload(),
      change: () => sql`delete from access_tokens where user_ref = ${account.ref}`.execute(db),
      state: bytesKept,
    };
  },
  async 'an account that lost the capability does not change the logo'() {
    const admin = await arrive('admin');
    const path = '/admin/system/appearance/logo';
    return {
      status: 403,
      credentials: sessionOf(admin),
      request: { method: 'POST', path, body: await png(64, 48), headers: { 'content-type': 'image/png' } },
      change: () =>
        sql`insert into user_capability_revokes (user_ref, capability)
          select ${admin.ref}, unnest(array['system.appearance.write', 'system.admin'])`.execute(db),
      state: () => count('logos'),
    };
  },
  async 'a visitor searches by no picture once public mode is off'() {
    await library.setPublicMode(true);
    return {
      status: 401,
      credentials: {},
      request: form('/search/by-image', await png(8, 8)),
      change: () => library.setPublicMode(false),
      state: bytesKept,
    };
  },
};

// HTTP-29
test.each(Object.entries(scenes))('a right that ends while the body is in transit: %s', async (_, scene) => {
  const { status, error = /\S/, credentials, request, change, state } = await scene();
  const before = await state();
  const headers = { ...request.headers, ...credentials };
  const [answer] = await sendAround([{ ...request, headers }], change);
  expect([answer?.status, answer?.text]).toEqual([status, expect.stringMatching(error)]);
  expect(await state()).toEqual(before);
});

/** Returns a body of every kind that an operation accepts; operations without one also read a JSON body. */
function bodiesOf(operation: Operation): Sent[] {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => (name === 'ref' ? '1' : nowhere));
  const { method } = operation;
  if (operation.raw !== undefined)
    return [{ method, path, body: Buffer.from('xx'), headers: { 'content-type': 'image/png' } }];
  const bodies = [json(method, path, {})];
  return operation.form === true ? [...bodies, form(path, plainText('bytes'))] : bodies;
}

// HTTP-29
test('every changing operation resolves the caller again once the body is complete', async () => {
  const account = await arrive('admin');
  const requests = Object.values(operations)
    .filter(({ method, door }: Operation) => method !== 'GET' && door !== 'open')
    .flatMap((operation) => bodiesOf(operation).map((body) => ({ id: operation.id, ...body })));
  expect(requests.length).toBeGreaterThan(100);
  // Requests of one session would share the statements that `letIn` counts.
  const session = { userRef: account.ref, days: 1, address: '127.0.0.1', userAgent: 'test' };
  const tokens = await Promise.all(requests.map(() => startSession(db, session)));
  const answers = await sendAround(
    requests.map((sent, index) => ({
      ...sent,
      headers: { ...sent.headers, cookie: `user=${tokens[index]?.token}` },
    })),
    () => sql`delete from sessions where user_ref = ${account.ref}`.execute(db),
  );
  expect(answers.map(({ status }, index) => [requests[index]?.id, status])).toEqual(
    requests.map(({ id }) => [id, 401]),
  );
});

test('resolves the credential once for a request that arrived in one piece', async () => {
  const account = await arrive('member');
  const body = JSON.stringify({ name: 'Whole' });
  const [answer, statements] = await watchStatements(library, async () => {
    const wire = await openWire(library);
    const headers = { ...asJson, ...sessionOf(account), connection: 'close' };
    void wire.send(headOf('POST', `${basePath}/collections`, body.length, headers) + body);
    return wire.ended;
  });
  expect(answer.status).toBe(201);
  expect(statements.filter(({ text }) => text.includes('s.token_hash = $1'))).toHaveLength(1);
});
