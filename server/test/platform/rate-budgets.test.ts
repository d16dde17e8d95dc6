import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { type Budget, openRateBudgets } from '../../src/platform/http/rate-limit.ts';
import { visit } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { openSecond, settingsOf } from '../support/second.ts';

const log = { warn: vi.fn() };
const general: Budget = { name: 'general', limit: 600, windowSeconds: 60, exact: false };
const exact: Budget = { name: 'exact', limit: 10, windowSeconds: 60, exact: true };

const library = await openLibrary();
const { db } = library.deps;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  log.warn.mockClear();
});

/** Opens the budgets of another process. */
const another = (its = db) => openRateBudgets(its, log);

async function storedUses(key: string): Promise<number | undefined> {
  const row = db.selectFrom('rate_budgets').select('used').where('key', '=', key);
  return (await row.executeTakeFirst())?.used;
}

const endWindow = (key: string) =>
  sql`update rate_budgets set ends_at = now() - interval '1 second' where key = ${key}`.execute(db);

/** Returns how many of these uses were admitted. */
async function admitted(uses: Promise<void>[]): Promise<number> {
  const outcomes = await Promise.allSettled(uses);
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on', VITRINE_ANONYMOUS_LIMIT: '2' });
const second = await openSecond(limited);
afterAll(second.close);

describe('sign-in over two processes', () => {
  const processes = [limited.address, second.address];

  const signIn = (i: number, username: string, cookie?: string) =>
    visit(processes[i % 2] ?? '', {}, cookie).send('/auth/login', {
      method: 'POST',
      body: { username, password: 'wrong' },
    });

  // RATE-2
  test('counts the attempts of both towards the limit of 10', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 14; i += 1) statuses.push((await signIn(i, 'mara')).status);
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
  });

  // RATE-2
  test('limits the attempts of one address with all names together', async () => {
    const few = await openLibrary({ VITRINE_RATE_LIMITS: 'on', VITRINE_SIGN_IN_ADDRESS_LIMIT: '6' });
    const other = await openSecond(few);
    onTestFinished(other.close);
    const ask = (path: string, body: object) => (at: number) =>
      visit([few.address, other.address][at % 2] ?? '').status('POST', path, body);
    const asks = Array.from({ length: 5 }, (_, at) => at).flatMap((at) => [
      ask('/auth/login', { username: `name-${at}`, password: 'wrong' })(at),
      ask('/auth/password-reset', { login: `name-${at}` })(at),
    ]);
    const statuses = await Promise.all(asks);
    expect(statuses.filter((status) => status === 429).length).toBe(4);
  });

  // RATE-2
  test('does not count towards other limits, with a stale cookie either', async () => {
    const stale = 'x'.repeat(43);
    for (let i = 0; i < 4; i += 1) expect((await signIn(i, 'nora', stale)).status).toBe(401);
    const ask = (i: number) => visit(processes[i % 2] ?? '').send('/appearance');
    expect([(await ask(0)).status, (await ask(1)).status, (await ask(2)).status]).toEqual([200, 200, 429]);
    expect((await signIn(0, 'nora', stale)).status).toBe(401);
  });

  test('stores no names', async () => {
    await signIn(0, 'hunter2 hunter2');
    const { rows } = await sql<{ key: string }>`select key from rate_budgets`.execute(limited.deps.db);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ key }) => key).join()).not.toMatch(/hunter2|mara/);
  });
});

describe('a budget', () => {
  // RATE-7
  test('admits exactly its limit under concurrent use by two processes', async () => {
    const [one, two] = [another(), another()];
    const uses = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? one : two).spend(exact, 'at once'));
    expect(await admitted(uses)).toBe(10);
    await expect(one.spend(exact, 'at once')).rejects.toMatchObject({ status: 429 });
    expect(await admitted([one.spend(exact, 'another key')])).toBe(1);
  });

  test('does not write on every request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const rates = another();
    for (let i = 0; i < 29; i += 1) await rates.spend(general, 'quiet');
    expect(await storedUses('general quiet')).toBeUndefined();
    vi.advanceTimersByTime(1000);
    await rates.close();
    expect(await storedUses('general quiet')).toBe(29);
  });

  test('needs no statement once exhausted', async () => {
    const rates = another();
    for (let i = 0; i < 10; i += 1) await rates.spend(exact, 'spent');
    for (let i = 0; i < 5; i += 1)
      await expect(rates.spend(exact, 'spent')).rejects.toMatchObject({ status: 429 });
    await rates.close();
    expect(await storedUses('exact spent')).toBe(10);
  });

  // RATE-7
  test('exceeds its limit by less than a tenth for each process', async () => {
    // Without the periodic exchange, the number of uses alone keeps the limit.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const processes = [another(), another(), another()];
    let passed = 0;
    for (let i = 0; i < 300; i += 1)
      passed += await admitted(processes.map((rates) => rates.spend(general, 'busy')));
    expect(passed).toBeGreaterThanOrEqual(general.limit);
    expect(passed).toBeLessThan(general.limit * (1 + processes.length / 10));
  });

  // RATE-7
  test('resets when its window ends by the database’s clock', async () => {
    const [one, two] = [another(), another()];
    for (let i = 0; i < 10; i += 1) await one.spend(exact, 'window');
    await expect(two.spend(exact, 'window')).rejects.toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^([1-5]?\d|60)$/) },
    });
    await endWindow('exact window');
    expect(await admitted([another().spend(exact, 'window')])).toBe(1);
    // A process learns of the next window when its own clock reaches the end of the present one.
    const later = performance.now() + 61_000;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    expect(await admitted(Array.from({ length: 15 }, () => one.spend(exact, 'window')))).toBe(9);
  });

  // RATE-7
  test('is enforced per process while the database is unavailable', async () => {
    const pool = openPool(settingsOf(library), 1);
    await pool.close();
    const rates = another(pool.db);
    expect(await admitted(Array.from({ length: 15 }, () => rates.spend(exact, 'down')))).toBe(10);
    expect(log.warn).toHaveBeenCalledTimes(1);
    await rates.close();
  });

  test('is deleted by the expiry job only after its window ended', async () => {
    const rates = another();
    await rates.spend(exact, 'ended');
    await rates.spend(exact, 'running');
    await endWindow('exact ended');
    await expire(db);
    expect([await storedUses('exact ended'), await storedUses('exact running')]).toEqual([undefined, 1]);
  });
});

// RATE-4
test('bytes of files have a budget ten times as high, and the web app’s own files another one', async () => {
  const limited = await openLibrary({
    VITRINE_RATE_LIMITS: 'on',
    VITRINE_CALLER_LIMIT: '2',
    VITRINE_ANONYMOUS_LIMIT: '2',
  });
  const mara = await limited.join('mara');
  const missing = `/assets/${crypto.randomUUID()}/variants/col`;
  const statuses: number[] = [];
  for (let i = 0; i < 21; i += 1) statuses.push((await mara.send(missing)).status);
  expect(statuses).toEqual([...Array(20).fill(404), 429]);
  expect((await mara.send('/auth/me')).status).toBe(200);
  const own: number[] = [];
  for (let i = 0; i < 21; i += 1) own.push((await limited.anonymous().send('/docs/js/scalar.js')).status);
  expect(own).toEqual([...Array(20).fill(200), 429]);
  expect((await limited.anonymous().send('/docs/')).status).toBe(429);
  expect((await fetch(`${limited.address}/sign-in`)).status).toBe(429);
  expect((await limited.anonymous().send('/appearance')).status).toBe(200);
  expect((await limited.anonymous().send('/openapi.json')).status).toBe(200);
  expect((await limited.anonymous().send('/openapi.json')).status).toBe(429);
});
