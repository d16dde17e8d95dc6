import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TokenScope } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createAccount } from '../../src/identity/accounts.ts';
import { startSession } from '../../src/identity/sessions.ts';
import { acceptSecondFactor, stepOf } from '../../src/identity/two-factor-code.ts';
import { type Answered, type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';

const STEP_MS = 30_000;
const badCredentials = [401, 'wrong username or password'];
const invalidCode = [401, 'invalid_2fa_code'];

let library: Library;

beforeAll(async () => {
  // Stops only the clock, in the middle of a step, so that no code expires during a slow test.
  vi.useFakeTimers({ toFake: ['Date'], now: Math.floor(Date.now() / STEP_MS) * STEP_MS + STEP_MS / 2 });
  library = await openLibrary();
});

afterAll(() => {
  vi.useRealTimers();
});

function passSteps(count: number): void {
  vi.setSystemTime(Date.now() + count * STEP_MS);
}

/** Decodes base32 without padding (RFC 4648). */
function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = Array.from(text, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Computes a code (RFC 6238); a test below compares it with an independent program. */
function codeAt(secret: string, now: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / STEP_MS)));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

const codeNow = (secret: string, steps = 0) => codeAt(secret, Date.now() + steps * STEP_MS);

/** Returns six digits that are not a code of this secret at present. */
function wrongCode(secret: string): string {
  const right = new Set([-2, -1, 0, 1, 2].map((steps) => codeNow(secret, steps)));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.has(code)) ?? '';
}

/** Creates an account with a session but without a password, because hashing one is slow. */
async function enter(username: string): Promise<Account> {
  const { db, passwords } = library.deps;
  const ref = await createAccount(db, passwords, { username, password: null, role: 'member' });
  if (ref === null) throw new Error(`${username} is taken`);
  const token = await startSession(db, { userRef: ref, days: 1, address: '', userAgent: '' });
  return { ...visit(library.address, {}, token), ref, username };
}

interface Enrolled {
  account: Account;
  secret: string;
  codes: string[];
}

/** Turns two-factor sign-in on, with no present code used yet. */
async function turnOn(account: Account): Promise<Enrolled> {
  const { secret_base32: secret } = await account.ok('enrollTwoFactor');
  const body = { code: codeNow(secret) };
  const { recovery_codes: codes } = await account.ok('confirmTwoFactor', { body });
  passSteps(3);
  return { account, secret, codes };
}

/** Checks a code after the password: returns how it was accepted, or null. */
function accept({ account }: Enrolled, code: string | undefined) {
  return acceptSecondFactor(library.deps.db, library.deps, account.ref, code ?? '');
}

function signIn(username: string, code?: string, given = password): Promise<Answered> {
  const body = { username, password: given, ...(code === undefined ? {} : { totp_code: code }) };
  return library.anonymous().send('/auth/login', { method: 'POST', body });
}

/** Returns the outcome of a sign-in: 200, or status and error. */
async function outcome(username: string, code?: string, given = password): Promise<unknown> {
  const { status, text } = await signIn(username, code, given);
  const body: { error?: string } = JSON.parse(text);
  return status === 200 ? 200 : [status, body.error];
}

const forgetFailures = () => library.deps.db.deleteFrom('sign_in_failures').execute();

/** Returns the number of failures that count against a name. */
async function failuresOf(name: string): Promise<number> {
  const { db } = library.deps;
  const row = await db
    .selectFrom('sign_in_failures')
    .select('failures')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.failures ?? 0;
}

/** Records this many failures. */
async function fail(name: string, failures: number): Promise<void> {
  await library.deps.db.insertInto('sign_in_failures').values({ name, failures }).execute();
}

/** Returns every row of every table as text. */
async function databaseText(): Promise<string> {
  const { db } = library.deps;
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  expect(tables.length).toBeGreaterThan(20);
  const lines: string[] = [];
  for (const { schema, name } of tables) {
    const { rows } = await sql<{ line: string }>`
      select t::text as line from ${sql.table(`${schema}.${name}`)} t`.execute(db);
    lines.push(...rows.map(({ line }) => line));
  }
  return lines.join('\n').toLowerCase();
}

async function eventsAbout(ref: number): Promise<{ event: string; actor: number | null }[]> {
  const { rows } = await sql<{ event: string; actor: number | null }>`
    select event, actor_user_ref as actor from audit_events
    where subject_user_ref = ${ref} and event like 'auth.2fa.%' order by occurred_at, id`.execute(
    library.deps.db,
  );
  return rows;
}

interface Sample {
  secret: string;
  at: string;
  code: string;
}
const samples: { made_with: string; codes: Sample[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'totp-codes.json'), 'utf8'),
);

// TWOFACTOR-1
describe('a code from the app', () => {
  test('equals that of oathtool for the same secret and time', () => {
    expect(samples.made_with).toContain('oathtool');
    expect(samples.codes.length).toBeGreaterThan(50);
    for (const { secret, at, code } of samples.codes) {
      const time = Date.parse(at);
      const where = `${secret} at ${at}`;
      expect(codeAt(secret, time), where).toBe(code);
      expect(stepOf(secret, code, time), where).toBe(Math.floor(time / STEP_MS));
    }
  });

  // TWOFACTOR-1
  test('is valid one step early or late, not two', () => {
    for (const { secret, at, code } of samples.codes) {
      const time = Date.parse(at);
      const step = Math.floor(time / STEP_MS);
      const start = step * STEP_MS;
      // From the beginning of the previous step to the end of the next one.
      for (const now of [start - STEP_MS, start - 1, start, start + STEP_MS, start + 2 * STEP_MS - 1]) {
        expect(stepOf(secret, code, now)).toBe(step);
      }
      for (const now of [start - STEP_MS - 1, start + 2 * STEP_MS]) {
        expect(stepOf(secret, code, now)).toBeNull();
      }
    }
  });

  test('is invalid for another secret', () => {
    for (const { secret, at, code } of samples.codes) {
      const others = samples.codes.filter((one) => one.at === at && one.secret !== secret);
      for (const other of others) expect(stepOf(other.secret, code, Date.parse(at))).toBeNull();
    }
  });

  test('has six digits and may contain spaces', () => {
    const { secret, at, code } = samples.codes[0] ?? { secret: '', at: '', code: '' };
    const now = Date.parse(at);
    const spaced = `${code.slice(0, 3)} ${code.slice(3)}`;
    expect(stepOf(secret, spaced, now)).toBe(Math.floor(now / STEP_MS));
    const fullWidth = code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    const wrong = [
      '',
      code.slice(1),
      `${code}0`,
      `0${code}`,
      `+${code.slice(1)}`,
      `${code}.0`,
      'abcdef',
      fullWidth,
      `${code}\n`,
    ];
    for (const one of wrong) expect(stepOf(secret, one, now), JSON.stringify(one)).toBeNull();
  });
});

// TWOFACTOR-3
describe('enrolling', () => {
  test('reports its progress at GET /account/2fa', async () => {
    const ada = await library.join('ada');
    const off = {
      enrolled: false,
      confirmed: false,
      enrolled_at: null,
      confirmed_at: null,
      last_used_at: null,
      recovery_codes_remaining: 0,
    };
    expect(await ada.ok('getTwoFactor')).toEqual(off);
    const { secret_base32: secret } = await ada.ok('enrollTwoFactor');
    const made = await ada.ok('getTwoFactor');
    expect(made).toEqual({ ...off, enrolled: true, enrolled_at: expect.any(String) });
    // No code is required until it is confirmed (TWOFACTOR-3).
    expect(await outcome('ada')).toBe(200);
    await ada.ok('confirmTwoFactor', { body: { code: codeNow(secret) } });
    expect(await ada.ok('getTwoFactor')).toEqual({
      ...made,
      confirmed: true,
      confirmed_at: expect.any(String),
      last_used_at: expect.any(String),
      recovery_codes_remaining: 10,
    });
    expect(await outcome('ada')).toEqual([401, '2fa_required']);
    expect(await eventsAbout(ada.ref)).toEqual([{ event: 'auth.2fa.enabled', actor: ada.ref }]);
  });

  test('returns a secret of 160 bits and an otpauth address', async () => {
    const odd = await enter('Ödd & Co: 100%?');
    const { secret_base32: secret, otpauth_url } = await odd.ok('enrollTwoFactor');
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(otpauth_url);
    expect([url.protocol, url.host]).toEqual(['otpauth:', 'totp']);
    expect(decodeURIComponent(url.pathname)).toBe('/Vitrine:Ödd & Co: 100%?');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      issuer: 'Vitrine',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });

  // TWOFACTOR-3
  test('replaces an unconfirmed secret', async () => {
    const bea = await enter('bea');
    const first = (await bea.ok('enrollTwoFactor')).secret_base32;
    const second = (await bea.ok('enrollTwoFactor')).secret_base32;
    expect(second).not.toBe(first);
    expect(await bea.refused('confirmTwoFactor', { body: { code: codeNow(first) } })).toEqual({
      status: 400,
      error: 'invalid_2fa_code',
    });
    await bea.ok('confirmTwoFactor', { body: { code: codeNow(second) } });
  });

  // TWOFACTOR-3
  test('is confirmed once, by a correct code', async () => {
    const cleo = await enter('cleo');
    const confirm = (body: unknown) => cleo.send('/account/2fa/confirm', { method: 'POST', body });
    expect((await confirm({ code: '123456' })).status).toBe(409);
    const { secret_base32: secret } = await cleo.ok('enrollTwoFactor');
    const wrong = [wrongCode(secret), '', 'abcdef', codeNow(secret, 2), codeNow(secret, -2)];
    for (const code of wrong) {
      const answer = await confirm({ code });
      expect([code, answer.status, answer.text]).toEqual([code, 400, '{"error":"invalid_2fa_code"}']);
    }
    expect((await cleo.ok('getTwoFactor')).confirmed).toBe(false);
    expect((await confirm({ code: codeNow(secret) })).status).toBe(200);
    passSteps(1);
    expect((await confirm({ code: codeNow(secret) })).status).toBe(409);
  });

  test('is confirmed once under ten concurrent requests', async () => {
    const dora = await enter('dora');
    const { secret_base32: secret } = await dora.ok('enrollTwoFactor');
    const body = { code: codeNow(secret) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => dora.send('/account/2fa/confirm', { method: 'POST', body })),
    );
    const right = answers.filter(({ status }) => status === 200);
    expect(right.length).toBe(1);
    for (const { status } of answers) expect([200, 400, 409]).toContain(status);
    expect((await dora.ok('getTwoFactor')).recovery_codes_remaining).toBe(10);
    const shown: { recovery_codes: string[] } = JSON.parse(right[0]?.text ?? '');
    const codes = shown.recovery_codes;
    expect(await accept({ account: dora, secret, codes }, codes[0])).toBe('recovery');
  });

  // TWOFACTOR-3
  test('returns 409 when two-factor is already on', async () => {
    const edda = await turnOn(await enter('edda'));
    const { account, secret, codes } = edda;
    expect((await account.refused('enrollTwoFactor')).status).toBe(409);
    expect(await account.ok('getTwoFactor')).toMatchObject({ confirmed: true, recovery_codes_remaining: 10 });
    expect(await accept(edda, codeNow(secret))).toBe('totp');
    expect(await accept(edda, codes[0])).toBe('recovery');
  });

  // TWOFACTOR-6
  test('stores neither the secret nor recovery codes in plain text', async () => {
    const { secret, codes } = await turnOn(await enter('fina'));
    const all = await databaseText();
    expect(all).toContain('fina');
    const hex = (value: string | Buffer) => Buffer.from(value).toString('hex');
    const bytes = fromBase32(secret);
    for (const text of [secret, hex(secret), hex(bytes), bytes.toString('base64')]) {
      expect(all).not.toContain(text.toLowerCase());
    }
    for (const code of codes) {
      const bare = code.replace('-', '');
      for (const text of [code, bare]) {
        expect(all).not.toContain(text.toLowerCase());
        expect(all).not.toContain(hex(text));
        // With only 50 random bits, an unkeyed hash could be reversed.
        for (const one of [text, text.toLowerCase()]) {
          expect(all).not.toContain(createHash('sha256').update(one).digest('hex'));
        }
      }
    }
  });
});

// TWOFACTOR-4
describe('signing in with two-factor on', () => {
  let gesa: Enrolled;

  beforeAll(async () => {
    gesa = await turnOn(await library.join('gesa'));
  });

  // TWOFACTOR-4
  test('returns 401 2fa_required without a code and counts no failure', async () => {
    for (const code of [undefined, '   ']) {
      const answer = await signIn('gesa', code);
      expect([answer.status, answer.text]).toEqual([401, '{"error":"2fa_required"}']);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect(await failuresOf('gesa')).toBe(0);
  });

  // TWOFACTOR-5
  test('returns the usual 401 for a wrong password and does not use up the code', async () => {
    const recovery = gesa.codes[0];
    for (const code of [undefined, codeNow(gesa.secret), recovery]) {
      expect(await outcome('gesa', code, 'wrong')).toEqual(badCredentials);
    }
    expect(await accept(gesa, codeNow(gesa.secret))).toBe('totp');
    expect(await accept(gesa, recovery)).toBe('recovery');
    passSteps(3);
    await forgetFailures();
  });

  // TWOFACTOR-4
  test('returns 401 invalid_2fa_code for a wrong code', async () => {
    const answer = await signIn('gesa', wrongCode(gesa.secret));
    expect([answer.status, answer.text]).toEqual([401, '{"error":"invalid_2fa_code"}']);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test('counts wrong codes until a correct code', async () => {
    await forgetFailures();
    expect(await outcome('gesa', wrongCode(gesa.secret))).toEqual(invalidCode);
    expect(await outcome('gesa', 'no-code')).toEqual(invalidCode);
    expect(await outcome('gesa')).toEqual([401, '2fa_required']);
    expect(await failuresOf('gesa')).toBe(2);
    expect(await outcome('gesa', codeNow(gesa.secret))).toBe(200);
    expect(await failuresOf('gesa')).toBe(0);
    passSteps(3);
  });

  test('succeeds with the correct code, which the audit log records', async () => {
    const answer = await signIn('gesa', ` ${codeNow(gesa.secret).replace(/^.../, '$& ')} `);
    expect(answer.status).toBe(200);
    const token = /^user=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
    expect((await visit(library.address, {}, token).ok('getMe')).ref).toBe(gesa.account.ref);
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select('metadata')
      .where('event', '=', 'auth.signed_in')
      .where('subject_user_ref', '=', gesa.account.ref)
      .execute();
    expect(events.length).toBeGreaterThan(0);
    for (const { metadata } of events) {
      expect(metadata).toMatchObject({ provider: 'password', two_factor: true });
    }
    expect(await outcome('gesa', codeNow(gesa.secret))).toEqual(invalidCode);
    passSteps(3);
    await forgetFailures();
  });

  test('succeeds once with a recovery code, in any spelling', async () => {
    const code = gesa.codes[1] ?? '';
    expect(await outcome('gesa', ` ${code.replace('-', '').toLowerCase()} `)).toBe(200);
    expect(await outcome('gesa', code)).toEqual(invalidCode);
    await forgetFailures();
  });

  // TWOFACTOR-4
  test('locks the name at the fifth wrong code', async () => {
    for (let i = 0; i < 5; i += 1) expect(await outcome('gesa', wrongCode(gesa.secret))).toEqual(invalidCode);
    for (const code of [undefined, codeNow(gesa.secret), gesa.codes[2]]) {
      expect(await outcome('gesa', code)).toEqual(badCredentials);
    }
    await forgetFailures();
    expect(await outcome('gesa', gesa.codes[2])).toBe(200);
  });
});

describe('the code of the app is accepted', () => {
  // TWOFACTOR-1
  test('with one step of drift to either side, and not with two', async () => {
    const kaja = await turnOn(await enter('kaja'));
    expect(await accept(kaja, codeNow(kaja.secret, -2))).toBeNull();
    expect(await accept(kaja, codeNow(kaja.secret, 2))).toBeNull();
    expect(await accept(kaja, codeNow(kaja.secret, -1))).toBe('totp');
    expect(await accept(kaja, codeNow(kaja.secret, 1))).toBe('totp');
  });

  // TWOFACTOR-2
  test('once, and not when it is older than the last accepted one', async () => {
    const lotte = await turnOn(await enter('lotte'));
    const [before, now, next] = [-1, 0, 1].map((steps) => codeNow(lotte.secret, steps));
    expect(await accept(lotte, now)).toBe('totp');
    expect(await accept(lotte, now)).toBeNull();
    expect(await accept(lotte, before)).toBeNull();
    expect(await accept(lotte, next)).toBe('totp');
    passSteps(1);
    expect(await accept(lotte, next)).toBeNull();
    expect(await accept(lotte, now)).toBeNull();
    expect(await accept(lotte, codeNow(lotte.secret, 1))).toBe('totp');
  });

  test('not when it confirmed the enrolment', async () => {
    const account = await enter('mina');
    const { secret_base32: secret } = await account.ok('enrollTwoFactor');
    await account.ok('confirmTwoFactor', { body: { code: codeNow(secret) } });
    const mina = { account, secret, codes: [] };
    expect(await accept(mina, codeNow(secret))).toBeNull();
    expect(await accept(mina, codeNow(secret, -1))).toBeNull();
    expect(await accept(mina, codeNow(secret, 1))).toBe('totp');
  });

  test('not before the enrolment is confirmed', async () => {
    const account = await enter('maja');
    const { secret_base32: secret } = await account.ok('enrollTwoFactor');
    expect(await accept({ account, secret, codes: [] }, codeNow(secret))).toBeNull();
  });

  // TWOFACTOR-2
  test('once under ten concurrent requests', async () => {
    const nele = await turnOn(await enter('nele'));
    for (let round = 0; round < 5; round += 1) {
      const code = codeNow(nele.secret);
      const found = await Promise.all(Array.from({ length: 10 }, () => accept(nele, code)));
      expect(found.filter((way) => way !== null)).toEqual(['totp']);
      passSteps(1);
    }
  });

  test('not at another account', async () => {
    const [orla, pia] = [await turnOn(await enter('orla')), await turnOn(await enter('pia'))];
    expect(await accept(orla, codeNow(pia.secret))).toBeNull();
    expect(await accept(orla, pia.codes[0])).toBeNull();
    expect(await accept(pia, pia.codes[0])).toBe('recovery');
    expect(await accept(orla, codeNow(orla.secret))).toBe('totp');
  });
});

describe('recovery codes', () => {
  // TWOFACTOR-6
  test('are ten, all different, as XXXXX-XXXXX', async () => {
    const { codes } = await turnOn(await enter('sina'));
    expect(codes.length).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[A-Z0-9]{5}-[A-Z0-9]{5}$/);
    expect(new Set(codes).size).toBe(10);
  });

  // TWOFACTOR-6
  test('are accepted once each, without hyphen, in lower case and with spaces', async () => {
    const tilda = await turnOn(await enter('tilda'));
    const [first = '', second = '', third = '', fourth = ''] = tilda.codes;
    const spellings = [first, second.replace('-', ''), third.toLowerCase(), fourth.replace('-', ' ')];
    for (const [spent, code] of spellings.entries()) {
      expect([code, await accept(tilda, code)]).toEqual([code, 'recovery']);
      const { recovery_codes_remaining } = await tilda.account.ok('getTwoFactor');
      expect(recovery_codes_remaining).toBe(9 - spent);
    }
    for (const code of [first, second, third.replace('-', ''), fourth.toLowerCase()]) {
      expect([code, await accept(tilda, code)]).toEqual([code, null]);
    }
    const part = tilda.codes[5]?.slice(0, 5);
    for (const code of ['', '-', part, `${tilda.codes[5]}A`]) expect(await accept(tilda, code)).toBeNull();
    expect((await tilda.account.ok('getTwoFactor')).recovery_codes_remaining).toBe(6);
    for (const code of tilda.codes.slice(4)) expect(await accept(tilda, code)).toBe('recovery');
    expect((await tilda.account.ok('getTwoFactor')).recovery_codes_remaining).toBe(0);
    expect(await accept(tilda, codeNow(tilda.secret))).toBe('totp');
  });

  test('are accepted once under ten concurrent requests', async () => {
    const ulla = await turnOn(await enter('ulla'));
    for (const code of ulla.codes.slice(0, 5)) {
      const found = await Promise.all(Array.from({ length: 10 }, () => accept(ulla, code)));
      expect(found.filter((way) => way !== null)).toEqual(['recovery']);
    }
    expect((await ulla.account.ok('getTwoFactor')).recovery_codes_remaining).toBe(5);
  });

  test('do not confirm an enrolment', async () => {
    const { account, codes } = await turnOn(await library.join('wilma'));
    await account.ok('disableTwoFactor', { body: { current_password: password } });
    await account.ok('enrollTwoFactor');
    const refused = await account.refused('confirmTwoFactor', { body: { code: codes[0] ?? '' } });
    expect(refused).toEqual({ status: 400, error: 'invalid_2fa_code' });
  });

  // TWOFACTOR-7
  test('are renewed with the password, which invalidates the old ones', async () => {
    const account = await library.join('xenia');
    const body = { current_password: password };
    expect((await account.refused('renewRecoveryCodes', { body })).status).toBe(409);
    const { secret_base32: secret } = await account.ok('enrollTwoFactor');
    // It is not on yet, so there is nothing to recover.
    expect((await account.refused('renewRecoveryCodes', { body })).status).toBe(409);
    const confirming = { body: { code: codeNow(secret) } };
    const { recovery_codes: first } = await account.ok('confirmTwoFactor', confirming);
    const xenia = { account, secret, codes: first };
    expect(await account.refused('renewRecoveryCodes', { body: { current_password: 'wrong' } })).toEqual({
      status: 403,
      error: 'wrong password',
    });
    expect(await accept(xenia, first[0])).toBe('recovery');
    const { recovery_codes: second } = await account.ok('renewRecoveryCodes', { body });
    expect(new Set([...first, ...second]).size).toBe(20);
    expect((await account.ok('getTwoFactor')).recovery_codes_remaining).toBe(10);
    for (const code of first) expect(await accept(xenia, code)).toBeNull();
    for (const code of second) expect(await accept(xenia, code)).toBe('recovery');
    const events = (await eventsAbout(account.ref)).map(({ event }) => event);
    expect(events).toEqual(['auth.2fa.enabled', 'auth.2fa.recovery_codes.renewed']);
  });
});

describe('disabling', () => {
  // TWOFACTOR-7
  test('needs the password, and then signing in needs no code', async () => {
    const yara = await turnOn(await library.join('yara'));
    const { account, secret, codes } = yara;
    for (const given of ['wrong', '', codeNow(secret)]) {
      expect(await account.refused('disableTwoFactor', { body: { current_password: given } })).toEqual({
        status: 403,
        error: 'wrong password',
      });
    }
    expect((await account.send('/account/2fa/disable', { method: 'POST', body: {} })).status).toBe(400);
    expect(await outcome('yara')).toEqual([401, '2fa_required']);
    const body = { current_password: password };
    await account.ok('disableTwoFactor', { body });
    expect(await account.ok('getTwoFactor')).toMatchObject({ enrolled: false, recovery_codes_remaining: 0 });
    expect(await outcome('yara')).toBe(200);
    expect((await account.refused('disableTwoFactor', { body })).status).toBe(409);
    expect(await eventsAbout(account.ref)).toEqual([
      { event: 'auth.2fa.enabled', actor: account.ref },
      { event: 'auth.2fa.disabled', actor: account.ref },
    ]);
    // Turning it on again creates a new secret; the old codes do not work.
    const again = (await account.ok('enrollTwoFactor')).secret_base32;
    expect(again).not.toBe(secret);
    await account.ok('confirmTwoFactor', { body: { code: codeNow(again) } });
    for (const code of [codeNow(secret, 1), codes[0]]) expect(await accept(yara, code)).toBeNull();
  });

  test('locks the name after five wrong passwords', async () => {
    const { account, codes } = await turnOn(await library.join('zita'));
    const wrong = { body: { current_password: 'wrong' } };
    expect((await account.refused('disableTwoFactor', wrong)).status).toBe(403);
    expect((await account.refused('renewRecoveryCodes', wrong)).status).toBe(403);
    expect(await failuresOf('zita')).toBe(2);
    await forgetFailures();
    await fail('zita', 4);
    expect((await account.refused('disableTwoFactor', wrong)).status).toBe(403);
    const right = { body: { current_password: password } };
    expect(await account.refused('disableTwoFactor', right)).toEqual({
      status: 403,
      error: 'wrong password',
    });
    expect((await account.refused('renewRecoveryCodes', right)).status).toBe(403);
    expect(await outcome('zita', codes[0])).toEqual(badCredentials);
    expect((await account.ok('getTwoFactor')).confirmed).toBe(true);
    await forgetFailures();
    await account.ok('disableTwoFactor', right);
  });
});

// TWOFACTOR-8
describe('DELETE /admin/users/{ref}/2fa', () => {
  let root: Account;
  let clerk: Account;
  let target: Enrolled;

  beforeAll(async () => {
    root = await library.join('root', 'admin');
    clerk = await enter('clerk');
    await library.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: clerk.ref, capability: 'users.write' })
      .execute();
    target = await turnOn(await library.join('target'));
  });

  const remove = (caller: Visitor, ref: number) =>
    caller.refused('removeUserTwoFactor', { params: { ref } }).then(({ status, error }) => [status, error]);

  const tokenOf = async (account: Account, scope: 'read' | 'admin') => {
    const { token } = await account.ok('createToken', { body: { name: scope, scopes: [scope] } });
    return visit(library.address, { authorization: `Bearer ${token}` });
  };

  test('is refused without users.write', async () => {
    const { account } = target;
    const stranger = await enter('stranger');
    expect(await remove(library.anonymous(), account.ref)).toEqual([401, 'sign in first']);
    await library.setPublicMode(true);
    expect(await remove(library.anonymous(), account.ref)).toEqual([401, 'sign in first']);
    await library.setPublicMode(false);
    for (const caller of [stranger, account, await tokenOf(stranger, 'admin')]) {
      expect(await remove(caller, account.ref)).toEqual([403, 'missing capability users.write']);
    }
    expect(await remove(await tokenOf(root, 'read'), account.ref)).toEqual([403, 'missing scope admin']);
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: clerk.ref }, body: {} });
    expect(await remove(mask, account.ref)).toEqual([403, 'not allowed while acting as another user']);
    expect(await outcome('target')).toEqual([401, '2fa_required']);
  });

  // TWOFACTOR-8
  test('is refused for an account that may do more', async () => {
    const { secret_base32: secret } = await root.ok('enrollTwoFactor');
    await root.ok('confirmTwoFactor', { body: { code: codeNow(secret) } });
    expect(await remove(clerk, root.ref)).toEqual([403, 'that account has capabilities that you lack']);
    expect((await root.ok('getTwoFactor')).confirmed).toBe(true);
    await root.ok('disableTwoFactor', { body: { current_password: password } });
  });

  test('returns 404 for an unknown account or one without two-factor', async () => {
    const plain = await enter('plain');
    expect((await remove(root, plain.ref))[0]).toBe(404);
    for (const ref of [999_999_999, 0, -1]) expect((await remove(root, ref))[0]).toBe(404);
  });

  // TWOFACTOR-8
  test('disables it, so that signing in needs no code', async () => {
    const { account } = target;
    await clerk.ok('removeUserTwoFactor', { params: { ref: account.ref } });
    expect(await account.ok('getTwoFactor')).toMatchObject({ enrolled: false, recovery_codes_remaining: 0 });
    expect(await outcome('target')).toBe(200);
    expect((await remove(clerk, account.ref))[0]).toBe(404);
    expect((await eventsAbout(account.ref)).at(-1)).toEqual({ event: 'auth.2fa.disabled', actor: clerk.ref });
  });
});

describe('who may change two-factor', () => {
  let root: Account;
  let owner: Enrolled;

  beforeAll(async () => {
    root = await library.join('chief', 'admin');
    owner = await turnOn(await enter('owner'));
  });

  const changes = [
    ['/account/2fa/enroll', undefined],
    ['/account/2fa/confirm', { code: '123456' }],
    ['/account/2fa/disable', { current_password: password }],
    ['/account/2fa/recovery-codes', { current_password: password }],
  ] as const;

  async function errorsOf(caller: Visitor): Promise<unknown[]> {
    const found: unknown[] = [];
    for (const [path, body] of changes) {
      const { status, text } = await caller.send(path, { method: 'POST', body });
      const { error }: { error?: string } = JSON.parse(text);
      found.push([status, error]);
    }
    return found;
  }

  const four = (answer: unknown) => changes.map(() => answer);

  async function tokenOf(account: Account, scopes: TokenScope[]): Promise<Visitor> {
    const { token } = await account.ok('createToken', { body: { name: 'script', scopes } });
    return visit(library.address, { authorization: `Bearer ${token}` });
  }

  // TOKEN-10
  test('allows a bearer token with `admin`', async () => {
    const bearer = await tokenOf(await enter('scripted'), ['admin']);
    expect((await bearer.ok('enrollTwoFactor')).otpauth_url).toMatch(/^otpauth:/);
    expect(await bearer.refused('confirmTwoFactor', { body: { code: 'no' } })).toEqual({
      status: 400,
      error: 'invalid_2fa_code',
    });
  });

  test('refuses an impersonating administrator, but shows the state', async () => {
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: owner.account.ref }, body: {} });
    expect(await errorsOf(mask)).toEqual(four([403, 'not allowed while acting as another user']));
    expect((await mask.ok('getTwoFactor')).confirmed).toBe(true);
  });

  test('changes only the caller’s own two-factor', async () => {
    expect((await root.ok('getTwoFactor')).enrolled).toBe(false);
    await root.ok('enrollTwoFactor');
    expect((await owner.account.ok('getTwoFactor')).recovery_codes_remaining).toBe(10);
    expect(await accept(owner, codeNow(owner.secret))).toBe('totp');
  });
});
