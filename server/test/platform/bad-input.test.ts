import { randomUUID } from 'node:crypto';
import { ErrorBody } from '@vitrine/contract/errors';
import { errorStatuses } from '@vitrine/contract/openapi';
import type { Operation } from '@vitrine/contract/operation';
import { basePath, operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { Compile } from 'typebox/compile';
import { beforeAll, describe, expect, test } from 'vitest';
import { startImpersonation, startSession } from '../../src/identity/sessions.ts';
import { textOf } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { anotherSession, grant } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

/** Determines the garbage; failures name the seed. */
const seed = Number(process.env.BAD_INPUT_SEED ?? 20_261_121);
const CASES = 4;

const all: readonly Operation[] = Object.values(operations);
const errorShape = Compile(ErrorBody);

/** Returns a generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Random = () => number;

function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}

const deep = (open: string, inner: string, close: string) =>
  open.repeat(10_000) + inner + close.repeat(10_000);

/** JSON values that no property allows, as text. */
const badValues: readonly [string, ...string[]] = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '9007199254740993',
  '123456789012345678901234567890',
  '1e308',
  '-1e-308',
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udfff and more"',
  '"\\u202etxt.exe"',
  '"%00"',
  '"\'; drop table users; --"',
  '"00000000-0000-0000-0000-00000000000"',
  '"9999999-99-99T99:99:99Z"',
  '"2024-02-31T00:00:00Z"',
  '"infinity"',
  JSON.stringify('x'.repeat(20_000)),
  JSON.stringify('é'.repeat(3000)),
  '[]',
  '{}',
  '[[]]',
  '["a"]',
  '["a","a",null,{}]',
  `[${'0,'.repeat(999)}0]`,
  '{"toString":1,"valueOf":null}',
  '{"length":-1}',
  '{"then":"x"}',
  '{"a\\u0000b":1}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"__proto__":{"admin":true}}',
  '{"kind":"user","capabilities":["system.admin"]}',
  deep('[', '', ']'),
  deep('{"a":', '1', '}'),
];

/** Bodies that are not an object, or not JSON. */
const badBodies: readonly [string, ...string[]] = [
  '',
  ' ',
  '{',
  '}{',
  '{"a":1,}',
  '{"a":1}{"a":1}',
  '\u0000',
  '\ufeff{}',
  'null',
  'true',
  '5',
  '"text"',
  '[]',
  'NaN',
  '<xml/>',
  'a=b&c=d',
  '{"__proto__":{}}',
  '{"constructor":{"prototype":{}}}',
  deep('[', '', ']'),
  deep('{"a":', '1', '}'),
  '['.repeat(10_000),
];

/** A well-formed cursor that names an impossible row. */
const cursorAt = (at: string) =>
  Buffer.from(`${at} 00000000-0000-4000-8000-000000000000`).toString('base64url');

/** Encoded segments and values of an address. */
const badTexts: readonly [string, ...string[]] = [
  '%20',
  '0',
  '-1',
  '1.5',
  '9007199254740993',
  '99999999999999999999999999',
  '1e5',
  '0x10',
  'NaN',
  'null',
  'x',
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%C0%AF',
  '%E2%80%AE',
  '%25',
  '%2F%2E%2E%2F',
  "'%20or%201=1--",
  '00000000-0000-0000-0000-00000000000g',
  '00000000-0000-4000-8000-000000000000',
  '{ref}',
  '*',
  '__proto__',
  'constructor',
  cursorAt('2024-02-31T00:00:00Z'),
  cursorAt('0000-01-01T00:00:00Z'),
  'x'.repeat(400),
  'x'.repeat(600),
  '%F0%9F%A6%89'.repeat(60),
  // Three of these fit into the 16 KiB limit of a request's head.
  'x'.repeat(4000),
];

const badTypes: readonly [string, ...string[]] = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'application/json, text/plain',
  'application/jsonx',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'nonsense',
  'application/octet-stream',
];

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function schemaOf(schema: object | undefined): Json {
  return schema === undefined ? null : JSON.parse(JSON.stringify(schema));
}

function propertiesOf(schema: Json): [string, Json][] {
  return isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : [];
}

/** Returns a value that the schema probably allows, so that garbage in other places is not refused because of it. */
function plausible(random: Random, schema: Json): Json {
  if (!isObject(schema)) return null;
  if (Array.isArray(schema.enum)) return schema.enum[Math.floor(random() * schema.enum.length)] ?? null;
  if (Array.isArray(schema.anyOf)) return plausible(random, schema.anyOf[0] ?? null);
  switch (schema.type) {
    case 'string':
      if (schema.format === 'uuid') return '00000000-0000-4000-8000-000000000000';
      if (schema.format === 'date-time') return '2099-01-01T00:00:00Z';
      return `text${Math.floor(random() * 1e9)}@x`;
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1;
    case 'boolean':
      return random() < 0.5;
    case 'array':
      return [plausible(random, schema.items ?? null)];
    case 'object':
      return Object.fromEntries(propertiesOf(schema).map(([name, one]) => [name, plausible(random, one)]));
    default:
      return {};
  }
}

/** Returns a body for the operation that is mostly plausible, but usually not entirely. */
function badBody(random: Random, operation: Operation): string {
  if (operation.body === undefined || random() < 0.2) return pick(random, badBodies);
  const properties = propertiesOf(schemaOf(operation.body));
  const isWhole = random() < 0.25;
  const spoiled = isWhole ? -1 : Math.floor(random() * (properties.length + 1));
  const members = properties.flatMap(([name, schema], index) => {
    const isSpoiled = index === spoiled;
    if (!isSpoiled && random() < 0.2) return [];
    const value = isSpoiled ? pick(random, badValues) : JSON.stringify(plausible(random, schema));
    return [`${JSON.stringify(name)}:${value}`];
  });
  if (spoiled === properties.length)
    members.push(
      `${pick(random, ['"unknown"', '"__proto__"', '"a b"', '"\\u0000"'])}:${pick(random, badValues)}`,
    );
  if (random() < 0.1 && members[0] !== undefined) members.push(members[0]);
  return `{${members.join(',')}}`;
}

interface Sent {
  path: string;
  init: RequestInit;
  /** Whether the address has a segment longer than any id, so that it names nothing. */
  isTooLong: boolean;
}

/** Returns a request for the operation with garbage in its address, body or headers. */
function badRequest(random: Random, operation: Operation, known: Record<string, string>): Sent {
  let isTooLong = false;
  const filled = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = random() < 0.5 ? (known[name] ?? 'x') : pick(random, badTexts);
    if (decodedLength(value) > 500) isTooLong = true;
    return value;
  });
  const names = [...propertiesOf(schemaOf(operation.query)).map(([name]) => name), 'unknown'];
  const query = Array.from({ length: Math.floor(random() * 4) }, () => {
    const name = names[Math.floor(random() * names.length)] ?? 'x';
    const key = pick(random, [name, name, name, `${name}[]`, `${name}[a]`, '__proto__', '%00', '']);
    return `${key}=${pick(random, badTexts)}`;
  });
  const path = `${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  if (operation.method === 'GET' || random() < 0.1)
    return { path, init: { method: operation.method }, isTooLong };
  const type = random() < 0.15 ? pick(random, badTypes) : 'application/json';
  const init = {
    method: operation.method,
    body: badBody(random, operation),
    headers: { 'content-type': type },
  };
  return { path, init, isTooLong };
}

function decodedLength(text: string): number {
  try {
    return decodeURIComponent(text).length;
  } catch {
    return text.length;
  }
}

type CallerName =
  | 'anonymous'
  | 'stranger'
  | 'team member'
  | 'owner'
  | 'holder'
  | 'admin'
  | 'impersonated'
  | 'token with every scope'
  | 'token to read';

let library: Library;
let root: Account;
let victim: Account;
const accounts = new Map<CallerName, number>();
const tokens = new Map<CallerName, string>();
const known: Record<string, string> = { key: 'col', username: 'victim', id: '' };

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  victim = await library.join('victim', 'viewer');
  known.ref = String(victim.ref);
  const kinds: [CallerName, 'admin' | 'member' | 'viewer'][] = [
    ['stranger', 'viewer'],
    ['team member', 'member'],
    ['owner', 'member'],
    ['holder', 'member'],
    ['admin', 'admin'],
    ['impersonated', 'member'],
    ['token with every scope', 'admin'],
    ['token to read', 'admin'],
  ];
  for (const [name, role] of kinds)
    accounts.set(name, (await library.join(name.replaceAll(' ', '-'), role)).ref);
  const refOf = (name: CallerName) => ({ ref: accounts.get(name) ?? 0 });
  await addTeam(library, 'crew', [refOf('team member')]);
  for (const name of ['holder', 'impersonated'] as const)
    await grant(library, refOf(name), [
      'users.read',
      'users.write',
      'users.pii.read',
      'system.config.read',
      'system.config.write',
      'roles.read',
      'caps.read',
      'system.audit.read',
      'auth.impersonate',
    ]);
  for (const [name, scopes] of [
    ['token with every scope', ['admin']],
    ['token to read', ['read']],
  ] as const) {
    const session = await anotherSession(library, refOf(name));
    tokens.set(name, (await session.ok('createToken', { body: { name, scopes: [...scopes] } })).token);
  }
  const owner = await anotherSession(library, refOf('owner'));
  const asset = await upload(owner, await jpeg(8, 8));
  await publish(owner, [asset], { visibility: 'public' });
  known.id = asset.id;
});

function sessionOf(userRef: number): Promise<string> {
  return startSession(library.deps.db, { userRef, days: 30, address: '127.0.0.1', userAgent: 'test' });
}

/** Returns the credentials of this caller, with a new session each time, because some operations end it. */
async function credentialsOf(name: CallerName): Promise<Record<string, string>> {
  const token = tokens.get(name);
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  const userRef = accounts.get(name);
  if (userRef === undefined) return {};
  if (name !== 'impersonated') return { cookie: `user=${await sessionOf(userRef)}` };
  const start = { userRef, impersonatorRef: root.ref, minutes: 5, address: '127.0.0.1', userAgent: 'test' };
  return { cookie: `user=${(await startImpersonation(library.deps.db, start)).token}` };
}

interface State {
  /** A digest of everything that garbage could change. */
  rows: string;
  /** The number of audit events by actor; '0' for nobody. */
  events: Record<string, number>;
}

async function state(): Promise<State> {
  const { rows } = await sql<State>`select md5(concat(
      (select json_agg(to_jsonb(u) - 'last_seen_at' order by ref) from users u),
      (select json_agg(s order by key) from settings s),
      (select json_agg(g order by id) from user_capability_grants g),
      (select json_agg(r order by id) from user_capability_revokes r),
      (select json_agg(f order by user_ref) from two_factor f),
      (select json_agg(f order by follower_user_ref, followed_user_ref) from user_follows f),
      (select count(*) from access_tokens), (select count(*) from assets), (select count(*) from posts)
    )) as rows,
    (select coalesce(json_object_agg(actor, n), '{}') from (
      select coalesce(actor_user_ref, 0) as actor, count(*) as n from audit_events
      where event <> 'auth.locked' group by 1) e) as events`.execute(library.deps.db);
  const [row] = rows;
  if (row === undefined) throw new Error('no state');
  return row;
}

/** Returns the actor that the audit log records for this caller. */
function actorsOf(name: CallerName): string[] {
  const ref = String(accounts.get(name) ?? 0);
  return name === 'impersonated' ? [ref, String(root.ref)] : [ref];
}

function eventsOf({ events }: State, name: CallerName): number {
  return actorsOf(name).reduce((sum, actor) => sum + (events[actor] ?? 0), 0);
}

/** Returns the statuses that an operation may send: those it declares, and those of HTTP itself. */
function isDeclared(operation: Operation, status: number, { isTooLong }: Sent): boolean {
  const declared: number[] = [...Object.keys(operation.responses).map(Number), ...errorStatuses(operation)];
  return declared.includes(status) || [400, 413, 415].includes(status) || (isTooLong && status === 404);
}

/** Returns what is wrong with a response, or null. */
function faultOf(operation: Operation, sent: Sent, status: number, text: string): string | null {
  // 501 is correct if the contract declares it, for a part that is not installed.
  const isMissingPart = status === 501 && errorStatuses(operation).includes(501);
  if (status >= 500 && !isMissingPart) return 'is a fault of ours';
  if (!isDeclared(operation, status, sent)) return 'is a status it does not declare';
  if (status < 400) return null;
  try {
    return errorShape.Check(JSON.parse(text)) ? null : `is no error body: ${text.slice(0, 200)}`;
  } catch {
    return `is no JSON: ${text.slice(0, 200)}`;
  }
}

function describeSent({ path, init }: Sent): string {
  const body = typeof init.body === 'string' ? init.body.slice(0, 300) : '';
  return `${init.method} ${path.slice(0, 300)} ${JSON.stringify(init.headers ?? {})} ${body}`;
}

/** Sends garbage as one caller; returns the faults, and the number of calls that succeeded. */
async function bombard(operation: Operation, name: CallerName, start: number) {
  const random = randomFrom(start);
  const credentials = await credentialsOf(name);
  const faults: string[] = [];
  let succeeded = 0;
  for (let i = 0; i < CASES; i += 1) {
    const sent = badRequest(random, operation, known);
    const headers = { ...sent.init.headers, ...credentials };
    const response = await fetch(library.address + basePath + sent.path, { ...sent.init, headers });
    const text = await textOf(response);
    if (response.ok) succeeded += 1;
    const fault = faultOf(operation, sent, response.status, text);
    if (fault !== null)
      faults.push(`BAD_INPUT_SEED=${seed}: ${response.status} to ${name} ${fault}: ${describeSent(sent)}`);
  }
  return { faults, succeeded };
}

const names: readonly CallerName[] = [
  'anonymous',
  'stranger',
  'team member',
  'owner',
  'holder',
  'admin',
  'impersonated',
  'token with every scope',
  'token to read',
];

// HTTP-36
describe('garbage is refused with a declared 4xx and changes nothing', () => {
  test.each(all.map((operation, index) => [operation.id, operation, index] as const))(
    '%s',
    async (_, operation, index) => {
      for (const publicMode of [false, true]) {
        await library.setPublicMode(publicMode);
        const before = await state();
        // Operations alternate between the signed-in callers.
        const callers = publicMode
          ? names.slice(0, 1)
          : names.filter((name, place) => name === 'admin' || (index + place) % 3 === 0);
        const outcomes = await Promise.all(
          callers.map((name, caller) =>
            bombard(operation, name, seed + index * 1000 + caller * 10 + Number(publicMode)),
          ),
        );
        const succeeded = outcomes.reduce((sum, one) => sum + one.succeeded, 0);
        expect(outcomes.flatMap(({ faults }) => faults)).toEqual([]);
        const after = await state();
        // Each success may record one event; refusals record none.
        for (const [caller, name] of callers.entries())
          expect(
            eventsOf(after, name) - eventsOf(before, name),
            `events by ${name}, BAD_INPUT_SEED=${seed}`,
          ).toBeLessThanOrEqual(outcomes[caller]?.succeeded ?? 0);
        if (succeeded === 0 || operation.method === 'GET')
          expect(after.rows, `BAD_INPUT_SEED=${seed}`).toBe(before.rows);
      }
    },
  );
});

// HTTP-14
describe('an unknown query parameter is ignored', () => {
  const answered = all.filter(({ method, params }) => method === 'GET' && params === undefined);

  test.each(answered.map((operation) => [operation.id, operation] as const))('by %s', async (_, { path }) => {
    const plain = await root.send(path);
    // 401: this address lacks the credential that it should contain.
    expect([200, 401, 404]).toContain(plain.status);
    for (const extra of ['utm_source=x', 'a=1&a=2', '__proto__=1']) {
      const answer = await root.send(`${path}?${extra}`);
      expect([extra, answer.status]).toEqual([extra, plain.status]);
    }
  });
});

// HTTP-13
test('never fails on half of a surrogate pair', async () => {
  const half = `half \ud800 a character ${randomUUID()}`;
  const calls: [string, string, unknown][] = [
    ['POST', '/auth/tokens', { name: half, scopes: ['read'] }],
    ['POST', '/admin/users', { username: half, role: 'viewer' }],
    ['PATCH', `/users/${victim.ref}`, { bio: half, display_name: half }],
    ['PUT', `/admin/users/${victim.ref}/status`, { status: 'active', reason: half }],
    ['POST', `/admin/users/${victim.ref}/grants`, { capability: 'jobs.read', note: half }],
    ['POST', `/admin/users/${victim.ref}/impersonate`, { reason: half }],
    ['PATCH', '/account/preferences', { language: half }],
    ['POST', '/auth/login', { username: half, password: half }],
  ];
  for (const [method, path, body] of calls)
    expect([path, (await root.send(path, { method, body })).status < 500]).toEqual([path, true]);
});

// HTTP-12
test('refuses numbers that JSON cannot represent', async () => {
  for (const number of ['1e400', '-1e400', '9'.repeat(400)]) {
    const body = `{"code":"endless","label":"x","type":"text","options":{"note":{"deep":[${number}]}}}`;
    const answer = await root.send('/fields', { method: 'POST', body });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([
      400,
      'body contains a number that is too large',
    ]);
  }
});

// HTTP-38
test('answers 4xx with the error body to an oversized address or header', async () => {
  for (const path of [`/posts?q=${'x'.repeat(20_000)}`, `/users/${'x'.repeat(20_000)}`]) {
    const answer = await root.send(path);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(Object.keys(JSON.parse(answer.text))).toEqual(['error']);
  }
  const answer = await root.send('/posts', { headers: { 'x-long': 'x'.repeat(20_000) } });
  expect([answer.status, Object.keys(JSON.parse(answer.text))]).toEqual([431, ['error']]);
});
