import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from 'otpauth';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { acceptSecondFactor, stepOf } from '../../src/people/identity/two-factor-code.ts';
import type { Visitor } from '../support/client.ts';
import { databaseText } from '../support/database-text.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { bearer, grant, signIn, totpCode } from '../support/people.ts';
import { addFailures, forgetFailures } from './failures.ts';

const STEP_MS = 30_000;
const badCredentials = [401, 'wrong username or password'];
const invalidCode = [401, 'invalid_2fa_code'];
const wrongPassword = { status: 403, error: 'wrong password' };

// Stops only the clock, in the middle of a step, so that no code expires during a slow test.
vi.useFakeTimers({ toFake: ['Date'], now: Math.floor(Date.now() / STEP_MS) * STEP_MS + STEP_MS / 2 });
const library = await openLibrary();

afterAll(() => vi.useRealTimers());

const passSteps = (count: number) => vi.setSystemTime(Date.now() + count * STEP_MS);
const codeNow = (secret: string, steps = 0) => totpCode(secret, Date.now() + steps * STEP_MS);

/** Returns six digits that are not a code of this secret at present. */
function wrongCode(secret: string): string {
  const right = new Set([-2, -1, 0, 1, 2].map((steps) => codeNow(secret, steps)));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.has(code)) ?? '';
}

/** Turns two-factor sign-in on for a new account, with no present code used yet. */
async function turnOn(username: string, role?: 'admin') {
  const account = await library.join(username, role);
  const { secret_base32: secret } = await account.ok('enrollTwoFactor');
  const body = { code: codeNow(secret) };
  const { recovery_codes: codes } = await account.ok('confirmTwoFactor', { body });
  passSteps(3);
  return { account, secret, codes };
}

/** Checks a code after the password: returns how it was accepted, or null. */
function accept({ account }: { account: Account }, code: string | undefined) {
  return acceptSecondFactor(library.deps.db, library.deps, account.ref, code ?? '');
}

const tenTimes = <T>(act: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, act));

/** Returns the outcome of a sign-in: 200, or status and error. */
async function outcome(username: string, code?: string, given = password): Promise<unknown> {
  const { status, text } = await signIn(library, username, given, code);
  return status === 200 ? 200 : [status, JSON.parse(text).error];
}

/** Returns the number of failures that count against a name. */
async function failuresOf(name: string): Promise<number> {
  const row = await library.deps.db
    .selectFrom('sign_in_failures')
    .select('failures')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.failures ?? 0;
}

const samples: { made_with: string; codes: { secret: string; at: string; code: string }[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'totp-codes.json'), 'utf8'),
);

// TWOFACTOR-1
describe('a code from the app', () => {
  // TWOFACTOR-1
  test('equals that of oathtool, and is valid one step early or late, not two', () => {
    expect(samples.made_with).toContain('oathtool');
    expect(samples.codes.length).toBeGreaterThan(20);
    for (const { secret, at, code } of samples.codes) {
      const time = Date.parse(at);
      const where = `${secret} at ${at}`;
      const step = Math.floor(time / STEP_MS);
      const start = step * STEP_MS;
      // From the beginning of the previous step to the end of the next one.
      for (const now of [start - STEP_MS, start - 1, start, time, start + STEP_MS, start + 2 * STEP_MS - 1])
        expect(stepOf(secret, code, now), where).toBe(step);
      for (const now of [start - STEP_MS - 1, start + 2 * STEP_MS])
        expect(stepOf(secret, code, now), where).toBeNull();
      const others = samples.codes.filter((one) => one.at === at && one.secret !== secret);
      for (const other of others) expect(stepOf(other.secret, code, time), where).toBeNull();
    }
  });

  test('has six digits and may contain spaces', () => {
    const { secret, at, code } = samples.codes[0] ?? { secret: '', at: '', code: '' };
    const now = Date.parse(at);
    expect(stepOf(secret, `${code.slice(0, 3)} ${code.slice(3)}`, now)).toBe(Math.floor(now / STEP_MS));
    const fullWidth = code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    const altered = [code.slice(1), `${code}0`, `0${code}`, `+${code.slice(1)}`, `${code}.0`, `${code}\n`];
    for (const one of ['', ...altered, 'abcdef', fullWidth])
      expect(stepOf(secret, one, now), JSON.stringify(one)).toBeNull();
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
  });

  test('returns a secret of 160 bits and an otpauth address', async () => {
    const odd = await library.join('Ödd & Co: 100%?');
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
  test('is confirmed once, by a correct code of the last secret', async () => {
    const cleo = await library.join('cleo');
    const confirm = (code: string) => cleo.refused('confirmTwoFactor', { body: { code } });
    expect((await confirm('123456')).status).toBe(409);
    const { secret_base32: replaced } = await cleo.ok('enrollTwoFactor');
    const { secret_base32: secret } = await cleo.ok('enrollTwoFactor');
    const wrong = [wrongCode(secret), '', 'abcdef', ...[-2, 2].map((steps) => codeNow(secret, steps))];
    for (const code of [...wrong, codeNow(replaced)])
      expect([code, await confirm(code)]).toEqual([code, { status: 400, error: 'invalid_2fa_code' }]);
    expect((await cleo.ok('getTwoFactor')).confirmed).toBe(false);
    await cleo.ok('confirmTwoFactor', { body: { code: codeNow(secret) } });
    passSteps(1);
    expect((await confirm(codeNow(secret))).status).toBe(409);
    // While it is on, there is no other enrolment.
    expect((await cleo.refused('enrollTwoFactor')).status).toBe(409);
    expect(await accept({ account: cleo }, codeNow(secret))).toBe('totp');
  });

  test('is confirmed once under ten concurrent requests', async () => {
    const dora = await library.join('dora');
    const { secret_base32: secret } = await dora.ok('enrollTwoFactor');
    const body = { code: codeNow(secret) };
    const answers = await tenTimes(() => dora.send('/account/2fa/confirm', { method: 'POST', body }));
    const right = answers.filter(({ status }) => status === 200);
    expect(right.length).toBe(1);
    for (const { status } of answers) expect([200, 400, 409]).toContain(status);
    expect((await dora.ok('getTwoFactor')).recovery_codes_remaining).toBe(10);
    const shown: { recovery_codes: string[] } = JSON.parse(right[0]?.text ?? '');
    expect(await accept({ account: dora }, shown.recovery_codes[0])).toBe('recovery');
  });

  // TWOFACTOR-6
  test('stores neither the secret nor recovery codes in plain text', async () => {
    const { secret, codes } = await turnOn('fina');
    const all = (await databaseText(library)).toLowerCase();
    expect(all).toContain('fina');
    const hex = (value: string | Buffer) => Buffer.from(value).toString('hex');
    const bytes = Buffer.from(Secret.fromBase32(secret).bytes);
    for (const text of [secret, hex(secret), hex(bytes), bytes.toString('base64')])
      expect(all).not.toContain(text.toLowerCase());
    for (const text of codes.flatMap((code) => [code, code.replace('-', '')])) {
      expect(all).not.toContain(text.toLowerCase());
      expect(all).not.toContain(hex(text));
      // With only 50 random bits, an unkeyed hash could be reversed.
      for (const one of [text, text.toLowerCase()])
        expect(all).not.toContain(createHash('sha256').update(one).digest('hex'));
    }
  });
});

const gesa = await turnOn('gesa');

// TWOFACTOR-4
describe('signing in with two-factor on', () => {
  // TWOFACTOR-4
  test('returns 401 2fa_required without a code, and invalid_2fa_code for a wrong one, which counts', async () => {
    for (const [code, error, failures] of [
      [undefined, '2fa_required', 0],
      ['   ', '2fa_required', 0],
      [wrongCode(gesa.secret), 'invalid_2fa_code', 1],
      ['no-code', 'invalid_2fa_code', 2],
      [undefined, '2fa_required', 2],
    ] as const) {
      const answer = await signIn(library, 'gesa', password, code);
      expect([code, answer.status, answer.text]).toEqual([code, 401, JSON.stringify({ error })]);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(await failuresOf('gesa')).toBe(failures);
    }
  });

  // TWOFACTOR-5
  test('returns the usual 401 for a wrong password and does not use up the code', async () => {
    const recovery = gesa.codes[0];
    for (const code of [undefined, codeNow(gesa.secret), recovery])
      expect(await outcome('gesa', code, 'wrong')).toEqual(badCredentials);
    expect(await accept(gesa, codeNow(gesa.secret))).toBe('totp');
    expect(await accept(gesa, recovery)).toBe('recovery');
    passSteps(3);
    await forgetFailures(library);
  });

  test('succeeds once with a correct code or a recovery code, in any spelling, and forgets failures', async () => {
    await addFailures(library, 'gesa', 2);
    const spaced = ` ${codeNow(gesa.secret).replace(/^.../, '$& ')} `;
    const recovery = gesa.codes[1] ?? '';
    expect(await outcome('gesa', spaced)).toBe(200);
    expect(await failuresOf('gesa')).toBe(0);
    expect(await outcome('gesa', codeNow(gesa.secret))).toEqual(invalidCode);
    expect(await outcome('gesa', ` ${recovery.replace('-', '').toLowerCase()} `)).toBe(200);
    expect(await outcome('gesa', recovery)).toEqual(invalidCode);
    passSteps(3);
    await forgetFailures(library);
  });

  // TWOFACTOR-4
  test('locks the name at the fifth wrong code', async () => {
    for (let i = 0; i < 5; i += 1) expect(await outcome('gesa', wrongCode(gesa.secret))).toEqual(invalidCode);
    for (const code of [undefined, codeNow(gesa.secret), gesa.codes[2]])
      expect(await outcome('gesa', code)).toEqual(badCredentials);
    await forgetFailures(library);
    expect(await outcome('gesa', gesa.codes[2])).toBe(200);
  });
});

describe('the code of the app is accepted', () => {
  // TWOFACTOR-1
  test('with one step of drift to either side, and not with two', async () => {
    const kaja = await turnOn('kaja');
    expect(await accept(kaja, codeNow(kaja.secret, -2))).toBeNull();
    expect(await accept(kaja, codeNow(kaja.secret, 2))).toBeNull();
    expect(await accept(kaja, codeNow(kaja.secret, -1))).toBe('totp');
    expect(await accept(kaja, codeNow(kaja.secret, 1))).toBe('totp');
  });

  // TWOFACTOR-2
  test('once, and not when it is older than the last accepted one', async () => {
    const lotte = await turnOn('lotte');
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

  test('only after the enrolment is confirmed, and not if the same code confirmed it', async () => {
    const account = await library.join('mina');
    const { secret_base32: secret } = await account.ok('enrollTwoFactor');
    const mina = { account };
    expect(await accept(mina, codeNow(secret))).toBeNull();
    await account.ok('confirmTwoFactor', { body: { code: codeNow(secret) } });
    expect(await accept(mina, codeNow(secret))).toBeNull();
    expect(await accept(mina, codeNow(secret, -1))).toBeNull();
    expect(await accept(mina, codeNow(secret, 1))).toBe('totp');
  });

  // TWOFACTOR-2
  test('once under ten concurrent requests', async () => {
    const nele = await turnOn('nele');
    for (let round = 0; round < 2; round += 1) {
      const code = codeNow(nele.secret);
      const found = await tenTimes(() => accept(nele, code));
      expect(found.filter((way) => way !== null)).toEqual(['totp']);
      passSteps(1);
    }
  });

  test('only at its own account', async () => {
    const [orla, pia] = [await turnOn('orla'), await turnOn('pia')];
    expect(await accept(orla, codeNow(pia.secret))).toBeNull();
    expect(await accept(orla, pia.codes[0])).toBeNull();
    expect(await accept(pia, pia.codes[0])).toBe('recovery');
    expect(await accept(orla, codeNow(orla.secret))).toBe('totp');
  });
});

describe('recovery codes', () => {
  // TWOFACTOR-6
  test('are ten, each accepted once, without hyphen, in lower case and with spaces', async () => {
    const tilda = await turnOn('tilda');
    expect(tilda.codes).toEqual(Array(10).fill(expect.stringMatching(/^[A-Z0-9]{5}-[A-Z0-9]{5}$/)));
    expect(new Set(tilda.codes).size).toBe(10);
    const remaining = async () => (await tilda.account.ok('getTwoFactor')).recovery_codes_remaining;
    const [first = '', second = '', third = '', fourth = '', ...rest] = tilda.codes;
    const spellings = [first, second.replace('-', ''), third.toLowerCase(), fourth.replace('-', ' ')];
    for (const [spent, code] of spellings.entries()) {
      expect([code, await accept(tilda, code)]).toEqual([code, 'recovery']);
      expect(await remaining()).toBe(9 - spent);
    }
    const spent = [first, second, third.replace('-', ''), fourth.toLowerCase()];
    for (const code of [...spent, '', '-', rest[0]?.slice(0, 5), `${rest[0]}A`])
      expect([code, await accept(tilda, code)]).toEqual([code, null]);
    for (const code of rest) expect(await accept(tilda, code)).toBe('recovery');
    expect(await remaining()).toBe(0);
    expect(await accept(tilda, codeNow(tilda.secret))).toBe('totp');
  });

  test('are accepted once under ten concurrent requests', async () => {
    const ulla = await turnOn('ulla');
    for (const code of ulla.codes.slice(0, 2)) {
      const found = await tenTimes(() => accept(ulla, code));
      expect(found.filter((way) => way !== null)).toEqual(['recovery']);
    }
    expect((await ulla.account.ok('getTwoFactor')).recovery_codes_remaining).toBe(8);
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
    const xenia = { account };
    const wrong = { current_password: 'wrong' };
    expect(await account.refused('renewRecoveryCodes', { body: wrong })).toEqual(wrongPassword);
    expect(await accept(xenia, first[0])).toBe('recovery');
    const { recovery_codes: second } = await account.ok('renewRecoveryCodes', { body });
    expect(new Set([...first, ...second]).size).toBe(20);
    expect((await account.ok('getTwoFactor')).recovery_codes_remaining).toBe(10);
    for (const code of first) expect(await accept(xenia, code)).toBeNull();
    for (const code of second) expect(await accept(xenia, code)).toBe('recovery');
  });
});

describe('disabling', () => {
  // TWOFACTOR-7
  test('needs the password, and then signing in needs no code', async () => {
    const yara = await turnOn('yara');
    const { account, secret, codes } = yara;
    for (const current_password of ['wrong', '', codeNow(secret)])
      expect(await account.refused('disableTwoFactor', { body: { current_password } })).toEqual(
        wrongPassword,
      );
    expect(await outcome('yara')).toEqual([401, '2fa_required']);
    const body = { current_password: password };
    await account.ok('disableTwoFactor', { body });
    expect(await account.ok('getTwoFactor')).toMatchObject({ enrolled: false, recovery_codes_remaining: 0 });
    expect(await outcome('yara')).toBe(200);
    expect((await account.refused('disableTwoFactor', { body })).status).toBe(409);
    // Turning it on again creates a new secret; the old codes do not work.
    const again = (await account.ok('enrollTwoFactor')).secret_base32;
    expect(again).not.toBe(secret);
    await account.ok('confirmTwoFactor', { body: { code: codeNow(again) } });
    for (const code of [codeNow(secret, 1), codes[0]]) expect(await accept(yara, code)).toBeNull();
  });

  test('counts wrong passwords and locks the name, as renewing recovery codes does', async () => {
    const { account, codes } = await turnOn('zita');
    const refusals = async (current_password: string) => {
      for (const operation of ['disableTwoFactor', 'renewRecoveryCodes'] as const)
        expect(await account.refused(operation, { body: { current_password } })).toEqual(wrongPassword);
    };
    await refusals('wrong');
    expect(await failuresOf('zita')).toBe(2);
    await forgetFailures(library);
    await addFailures(library, 'zita', 4);
    await refusals('wrong');
    await refusals(password);
    expect(await outcome('zita', codes[0])).toEqual(badCredentials);
    await forgetFailures(library);
    await account.ok('disableTwoFactor', { body: { current_password: password } });
  });
});

// TWOFACTOR-8
test('an operator removes the second factor of an account that may not do more, and of no other', async () => {
  const { account: root } = await turnOn('root', 'admin');
  const [clerk, plain] = await library.joinAll('clerk', 'plain');
  await grant(library, clerk, 'users.write');
  const { account } = await turnOn('target');
  const remove = (caller: Visitor, ref: number) => caller.refused('removeUserTwoFactor', { params: { ref } });
  expect(await remove(clerk, root.ref)).toEqual({
    status: 403,
    error: 'that account has capabilities that you lack',
  });
  expect((await root.ok('getTwoFactor')).confirmed).toBe(true);
  for (const ref of [plain.ref, 999_999_999]) expect((await remove(clerk, ref)).status).toBe(404);
  expect(await outcome('target')).toEqual([401, '2fa_required']);
  await clerk.ok('removeUserTwoFactor', { params: { ref: account.ref } });
  expect(await account.ok('getTwoFactor')).toMatchObject({ enrolled: false, recovery_codes_remaining: 0 });
  expect(await outcome('target')).toBe(200);
  expect((await remove(clerk, account.ref)).status).toBe(404);
});

// TOKEN-10
test('a bearer token with `admin` may change the second factor', async () => {
  const script = await bearer(library, await library.join('scripted'), ['admin']);
  const { secret_base32: secret } = await script.ok('enrollTwoFactor');
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  await script.ok('confirmTwoFactor', { body: { code: codeNow(secret) } });
  await script.ok('disableTwoFactor', { body: { current_password: password } });
});
