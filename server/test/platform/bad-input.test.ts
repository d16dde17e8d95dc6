import { ErrorBody } from '@vitrine/contract/errors';
import { errorStatuses } from '@vitrine/contract/errors/of-operation';
import type { Operation } from '@vitrine/contract/operation';
import { basePath, operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { startImpersonation, startSession } from '../../src/people/identity/sessions.ts';
import { textOf } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { anotherSession, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { pick, propertiesOf, type Random, randomFrom, sampleOf, schemaOf } from '../support/samples.ts';
import { addTeam } from '../support/teams.ts';

/** Determines the garbage; failures name the seed. */
const seed = Number(process.env.BAD_INPUT_SEED ?? 20_261_121);
/** Requests of each caller to each operation. */
const CASES = 2;

const all: readonly Operation[] = Object.values(operations);
const errorShape = Compile(ErrorBody);

const deep = (open: string, inner: string, close: string) =>
  open.repeat(10_000) + inner + close.repeat(10_000);

/** JSON values that hardly any property allows, as text. */
const badValues: readonly [string, ...string[]] = [
  'null',
  ...'true 0 -1 1.5 9007199254740993 123456789012345678901234567890 1e308 -1e-308 "" " " [] {} [[]]'.split(
    ' ',
  ),
  ...'"\\u0000" "a\\u0000b" "\\ud800" "\\udfff" "\\u202etxt.exe" "%00" {"a\\u0000b":1}'.split(' '),
  ...'"2024-02-31T00:00:00Z" "infinity" ["a","a",null,{}] {"toString":1} {"length":-1}'.split(' '),
  ...'{"then":"x"} {"__proto__":{"admin":true}} {"kind":"user","capabilities":["system.admin"]}'.split(' '),
  JSON.stringify("'; drop table users; --"),
  JSON.stringify('é'.repeat(3000)),
  JSON.stringify('x'.repeat(20_000)),
  `[${'0,'.repeat(999)}0]`,
  deep('[', '', ']'),
  deep('{"a":', '1', '}'),
];

/** Bodies that are not an object, or not JSON. */
const badBodies: readonly [string, ...string[]] = [
  '',
  ' ',
  ...'{ }{ {"a":1,} {"a":1}{"a":1} \u0000 \ufeff{} null true 5 "text" [] NaN <xml/> a=b&c=d'.split(' '),
  ...'{"__proto__":{}} {"constructor":{"prototype":{}}}'.split(' '),
  deep('[', '', ']'),
  '['.repeat(10_000),
];

/** A well-formed cursor that names an impossible row. */
const cursorAt = (at: string) =>
  Buffer.from(`${at} 00000000-0000-4000-8000-000000000000`).toString('base64url');

/** Encoded segments and values of an address. */
const badTexts: readonly [string, ...string[]] = [
  '%20',
  ...'0 -1 1.5 9007199254740993 99999999999999999999999999 1e5 0x10 NaN null x %00 a%00b'.split(' '),
  ...'%ED%A0%80 %C0%AF %E2%80%AE %25 %2F%2E%2E%2F {ref} * __proto__ constructor'.split(' '),
  ..."'%20or%201=1-- 00000000-0000-0000-0000-00000000000g 00000000-0000-4000-8000-000000000000".split(' '),
  cursorAt('2024-02-31T00:00:00Z'),
  cursorAt('0000-01-01T00:00:00Z'),
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
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'nonsense',
];

/** Returns a body for the operation that is mostly plausible, but usually not entirely. */
function badBody(random: Random, operation: Operation): string {
  if (operation.body === undefined || random() < 0.2) return pick(random, badBodies);
  const properties = propertiesOf(schemaOf(operation.body));
  const isWhole = random() < 0.25;
  const spoiled = isWhole ? -1 : Math.floor(random() * (properties.length + 1));
  const members = properties.flatMap(([name, schema], index) => {
    if (index !== spoiled && random() < 0.2) return [];
    // Other places must not be the reason of the refusal.
    const plausible = JSON.stringify(sampleOf(schema, Math.floor(random() * 1e9)));
    return [`${JSON.stringify(name)}:${index === spoiled ? pick(random, badValues) : plausible}`];
  });
  if (spoiled === properties.length)
    members.push(`${pick(random, ['"unknown"', '"__proto__"', '"\\u0000"'])}:${pick(random, badValues)}`);
  if (random() < 0.1 && members[0] !== undefined) members.push(members[0]);
  return `{${members.join(',')}}`;
}

/** Returns a request for the operation with garbage in its address, body or headers. */
function badRequest(random: Random, operation: Operation): { path: string; init: RequestInit } {
  const { method } = operation;
  const filled = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    random() < 0.5 ? (known[name] ?? 'x') : pick(random, badTexts),
  );
  const names = [...propertiesOf(schemaOf(operation.query)).map(([name]) => name), 'unknown'];
  const query = Array.from({ length: Math.floor(random() * 4) }, () => {
    const name = names[Math.floor(random() * names.length)] ?? 'x';
    const key = pick(random, [name, name, name, `${name}[]`, `${name}[a]`, '__proto__', '%00', '']);
    return `${key}=${pick(random, badTexts)}`;
  });
  const path = `${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  if (method === 'GET' || random() < 0.1) return { path, init: { method } };
  const type = random() < 0.15 ? pick(random, badTypes) : 'application/json';
  return { path, init: { method, body: badBody(random, operation), headers: { 'content-type': type } } };
}

/** The signed-in callers and those with an access token. */
const accounts = new Map<string, Account>();
const tokens = new Map<string, string>();

const library = await openLibrary();
const root = await library.join('root', 'admin');
const victim = await library.join('victim', 'viewer');
for (const [name, role] of [
  ['stranger', 'viewer'],
  ['teammate', 'member'],
  ['owner', 'member'],
  ['holder', 'member'],
  ['admin', 'admin'],
  ['impersonated', 'member'],
  ['token-with-every-scope', 'admin'],
  ['token-to-read', 'admin'],
] as const)
  accounts.set(name, await library.join(name, role));
await addTeam(library, 'crew', [accountOf('teammate')]);
for (const name of ['holder', 'impersonated'])
  await grant(library, accountOf(name), ['users.read', 'users.write', 'system.config.write', 'roles.read']);
for (const [name, scope] of [
  ['token-with-every-scope', 'admin'],
  ['token-to-read', 'read'],
] as const) {
  const session = await anotherSession(library, accountOf(name));
  tokens.set(name, (await session.ok('createToken', { body: { name, scopes: [scope] } })).token);
}
const asset = await upload(accountOf('owner'), plainFile());
await publish(accountOf('owner'), [asset], { visibility: 'public' });
/** Values of parameters that name existing objects. */
const known: Record<string, string> = {
  key: 'col',
  username: 'victim',
  ref: String(victim.ref),
  id: asset.id,
};

function accountOf(name: string): Account {
  const account = accounts.get(name);
  if (account === undefined) throw new Error(`there is no account ${name}`);
  return account;
}

/** Returns the credentials of this caller, with a new session each time, because some operations end it. */
async function credentialsOf(name: string): Promise<Record<string, string>> {
  if (name === 'anonymous') return {};
  const token = tokens.get(name);
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  const { db } = library.deps;
  const start = { userRef: accountOf(name).ref, address: '127.0.0.1', userAgent: 'test' };
  if (name !== 'impersonated')
    return { cookie: `user=${(await startSession(db, { ...start, days: 30 })).token}` };
  const mask = await startImpersonation(db, { ...start, impersonatorRef: root.ref, minutes: 5 });
  return { cookie: `user=${mask.token}` };
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

/** Returns the number of events that the audit log attributes to this caller. */
function eventsOf({ events }: State, name: string): number {
  const own = events[String(accounts.get(name)?.ref ?? 0)] ?? 0;
  return own + (name === 'impersonated' ? (events[String(root.ref)] ?? 0) : 0);
}

/** Returns what is wrong with a response, or null. */
function faultOf(operation: Operation, path: string, status: number, text: string): string | null {
  const declared: number[] = [...Object.keys(operation.responses).map(Number), ...errorStatuses(operation)];
  // 501 is correct if the contract declares it, for a part that is not installed.
  if (status >= 500 && !(status === 501 && declared.includes(501))) return 'is a fault of ours';
  // Those of HTTP itself. A segment that is longer than any id names nothing.
  const ofHttp = [400, 413, 415, ...(path.length > 500 ? [404] : [])];
  if (!declared.includes(status) && !ofHttp.includes(status)) return 'is a status it does not declare';
  if (status < 400) return null;
  try {
    return errorShape.Check(JSON.parse(text)) ? null : `is no error body: ${text.slice(0, 200)}`;
  } catch {
    return `is no JSON: ${text.slice(0, 200)}`;
  }
}

/** Sends garbage as one caller; returns the faults, and the number of calls that succeeded. */
async function bombard(operation: Operation, name: string, random: Random) {
  const credentials = await credentialsOf(name);
  const faults: string[] = [];
  let succeeded = 0;
  for (let i = 0; i < CASES; i += 1) {
    const { path, init } = badRequest(random, operation);
    const headers = { ...init.headers, ...credentials };
    const response = await fetch(library.address + basePath + path, { ...init, headers });
    const text = await textOf(response);
    if (response.ok) succeeded += 1;
    const fault = faultOf(operation, path, response.status, text);
    if (fault === null) continue;
    const sent = `${init.method} ${path.slice(0, 300)} ${JSON.stringify(init.headers)} ${String(init.body).slice(0, 300)}`;
    faults.push(`BAD_INPUT_SEED=${seed}: ${response.status} to ${name} ${fault}: ${sent}`);
  }
  return { name, faults, succeeded };
}

// HTTP-36
test.each(all.map((operation, index) => [operation.id, operation, index] as const))(
  'garbage for %s is refused with a declared 4xx and changes nothing',
  async (_, operation, index) => {
    // Operations alternate between the callers.
    const others = [...accounts.keys()].filter((name) => name !== 'admin');
    const callers = ['admin', others[index % others.length] ?? 'owner'];
    if (operation.door === 'open' || operation.door === 'public') callers.push('anonymous');
    await library.setPublicMode(index % 2 === 0);
    const before = await state();
    const outcomes = await Promise.all(
      callers.map((name, place) => bombard(operation, name, randomFrom(seed + index * 1000 + place * 10))),
    );
    expect(outcomes.flatMap(({ faults }) => faults)).toEqual([]);
    const after = await state();
    // Each success may record one event; refusals record none.
    for (const { name, succeeded } of outcomes)
      expect(
        eventsOf(after, name) - eventsOf(before, name),
        `events by ${name}, BAD_INPUT_SEED=${seed}`,
      ).toBeLessThanOrEqual(succeeded);
    if (operation.method === 'GET' || outcomes.every(({ succeeded }) => succeeded === 0))
      expect(after.rows, `BAD_INPUT_SEED=${seed}`).toBe(before.rows);
  },
);

// HTTP-14
const needsQuery = ({ query }: Operation) =>
  query !== undefined && Type.IsObject(query) && (query.required ?? []).length > 0;
const answered = all.filter(
  (operation) => operation.method === 'GET' && operation.params === undefined && !needsQuery(operation),
);

test.each(answered.map(({ id, path }) => [id, path] as const))(
  '%s ignores an unknown query parameter',
  async (_, path) => {
    const plain = await root.status('GET', path);
    // 204: nothing is set up. 401: this address lacks the credential that it should contain.
    expect([200, 204, 401, 404]).toContain(plain);
    const extra = 'utm_source=x&a=1&a=2&__proto__=1&constructor[a]=1&unknown[]=0&=&a=%F0%9F%A6%89';
    expect(await root.status('GET', `${path}?${extra}`)).toBe(plain);
  },
);
