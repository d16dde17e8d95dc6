import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, anotherSession, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { openSecond } from '../support/second.ts';
import { type Listening, listen } from './streams.ts';
import { comment, publisher, settle } from './telling.ts';

/** The id of the built-in role `member`. */
const member = '00000000-0000-4000-8000-000000000102';

const open: Listening[] = [];
let numbered = 0;

const library = await openLibrary();
const second = await openSecond(library);
/** Another process on the same database. */
const elsewhere = second.address;
const root = await library.join('root', 'admin');
const [other, author] = await library.joinAll('other', 'author');
const post = await publisher(author)({ title: 'T' });
afterAll(second.close);

afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});

async function listening(at: string, who: Parameters<typeof listen>[1], about?: string): Promise<Listening> {
  const stream = await listen(at, who, about);
  open.push(stream);
  return stream;
}

async function happen(): Promise<void> {
  await comment(other, post);
  await settle(library);
}

// NOTICE-8
describe('GET /events', () => {
  // NOTICE-8
  test('sends the current count, then changes, on every process', async () => {
    const here = await listening(library.address, { cookie: author });
    const there = await listening(elsewhere, { cookie: author });
    const before = await here.next();
    expect(await there.next()).toBe(before);
    await happen();
    expect([await here.next(), await there.next()]).toEqual([before + 1, before + 1]);
    // Reading it in one window marks it as read in the others.
    await author.ok('readAllNotifications');
    expect([await here.next(), await there.next()]).toEqual([0, 0]);
    expect(here.text().startsWith('retry: ')).toBe(true);
  });

  // NOTICE-8
  test('misses nothing after a reconnect', async () => {
    await author.ok('readAllNotifications');
    const first = await listening(elsewhere, { cookie: author });
    expect(await first.next()).toBe(0);
    first.close();
    await first.ended;
    await happen();
    await happen();
    const again = await listening(elsewhere, { cookie: author });
    expect(await again.next()).toBe(2);
  });

  test('sends nothing about other accounts or unreadable content', async () => {
    const stranger = await library.join('stranger');
    const stream = await listening(library.address, { cookie: stranger });
    expect(await stream.next()).toBe(0);
    await stranger.ok('watchPost', { params: { id: post.id } });
    await author.ok('updatePost', { params: { id: post.id }, body: { visibility: 'private' } });
    await comment(author, post);
    await comment(root, post);
    await settle(library);
    await sleep(300);
    expect(stream.counts).toEqual([0]);
    await author.ok('updatePost', { params: { id: post.id }, body: { visibility: 'org-only' } });
  });

  test('continues after the listening connection is lost', async () => {
    await author.ok('readAllNotifications');
    const stream = await listening(elsewhere, { cookie: author });
    expect(await stream.next()).toBe(0);
    const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen%'`.execute(library.deps.db);
    expect(rows.length).toBeGreaterThan(0);
    await happen();
    expect(await stream.next()).toBe(1);
    await happen();
    expect(await stream.next()).toBe(2);
  });

  test('uses one database connection per process for all streams', { tags: ['one-process'] }, async () => {
    for (let n = 0; n < 5; n += 1) await (await listening(elsewhere, { cookie: author })).next();
    const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
      where datname = current_database() and query ilike 'listen "account"%'`.execute(library.deps.db);
    expect(rows[0]?.n).toBeLessThanOrEqual(2);
  });
});

// NOTICE-8
describe('a stream ends', () => {
  const ends = (stream: Listening) =>
    Promise.race([stream.ended.then(() => true), sleep(30_000, false, { ref: false })]);

  // NOTICE-8
  test('when its session ends, on any process', async () => {
    const person = await library.join('leaving');
    const here = await listening(library.address, { cookie: person });
    const there = await listening(elsewhere, { cookie: person });
    await Promise.all([here.next(), there.next()]);
    await person.ok('logout');
    expect([await ends(here), await ends(there)]).toEqual([true, true]);
  });

  // PUBLIC-1, ANNOTATION-22
  test('when its account signs out in public mode, and that of a visitor when public mode ends', async () => {
    const mode = (enabled: boolean) => root.ok('setPublicMode', { body: { enabled } });
    await mode(true);
    const file = await upload(author, plainFile('open'));
    const { id } = await publish(author, [file], { visibility: 'public' });
    const person = await library.join('at-the-door');
    const own = await listening(library.address, { cookie: person }, id);
    const visitor = await listening(library.address, {}, id);
    await own.next();
    await person.ok('logout');
    expect(await ends(own)).toBe(true);
    const said = await author.ok('createComment', { params: { id }, body: { body: 'Open' } });
    await visitor.heard<{ id: string }>('comment', (one) => one.id === said.id);
    await mode(false);
    expect(await ends(visitor)).toBe(true);
  });

  test('when the account is disabled', async () => {
    const person = await library.join('disabled');
    const stream = await listening(elsewhere, { cookie: person });
    await stream.next();
    await root.ok('setUserStatus', { params: { ref: person.ref }, body: { status: 'disabled' } });
    expect(await ends(stream)).toBe(true);
  });

  test('when its token is deleted, which needs the scope read', async () => {
    const [reading, writing] = await Promise.all(
      (['read', 'posts.write'] as const).map((scope) =>
        author.ok('createToken', { body: { name: scope, scopes: [scope] } }),
      ),
    );
    expect((await listening(library.address, { bearer: writing?.token ?? '' })).status).toBe(403);
    const stream = await listening(library.address, { bearer: reading?.token ?? '' });
    await stream.next();
    await author.ok('deleteToken', { params: { id: reading?.id ?? '' } });
    expect(await ends(stream)).toBe(true);
  });

  test('when its impersonation ends, unlike the account’s own', async () => {
    const mask = await actAs(library, root, other);
    const masked = await listening(library.address, { cookie: mask });
    const own = await listening(library.address, { cookie: other });
    await Promise.all([masked.next(), own.next()]);
    // With the previous cookie, which the other window still has.
    await mask.ok('endImpersonation');
    expect(await ends(masked)).toBe(true);
    expect(await Promise.race([own.ended.then(() => true), sleep(200, false)])).toBe(false);
  });

  // IMPERSONATION-7
  test.each<[string, (admin: Account, target: Account) => Promise<unknown>]>([
    [
      'the administrator is disabled',
      ({ ref }) => root.ok('setUserStatus', { params: { ref }, body: { status: 'disabled' } }),
    ],
    [
      'the administrator loses the right to it',
      ({ ref }) => root.ok('setUserRole', { params: { ref }, body: { role_id: member } }),
    ],
    ['the target becomes an administrator', (_, target) => grant(library, target, 'system.admin')],
  ])('when %s during an impersonation', async (_, change) => {
    numbered += 1;
    const admin = await library.join(`chief-${numbered}`, 'admin');
    const target = await library.join(`target-${numbered}`);
    const mask = await actAs(library, admin, target);
    const masked = await listening(elsewhere, { cookie: mask });
    await masked.next();
    await change(admin, target);
    expect(await ends(masked)).toBe(true);
  });

  test('when the server stops, without a delay', async () => {
    const second = await openSecond(library);
    const stream = await listening(second.address, { cookie: author });
    await stream.next();
    const began = performance.now();
    await second.close();
    // Half of the time after which requests are aborted.
    expect(performance.now() - began).toBeLessThan(library.config.stopSeconds * 500);
    expect(await ends(stream)).toBe(true);
  });
});

// NOTICE-9
test('allows ten open streams per account', async () => {
  const person = await library.join('collector');
  const streams: Listening[] = [];
  for (let n = 0; n < 10; n += 1) streams.push(await listening(elsewhere, { cookie: person }));
  expect(streams.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect((await listening(elsewhere, { cookie: person })).status).toBe(429);
  // Other accounts are not affected.
  expect((await listening(elsewhere, { cookie: author })).status).toBe(200);
  streams[0]?.close();
  await expect.poll(async () => (await listening(elsewhere, { cookie: person })).status).toBe(200);
});

test('HEAD opens no stream', async () => {
  const person = await library.join('heady');
  for (let n = 0; n < 12; n += 1) expect(await person.status('HEAD', '/events')).toBe(200);
  const stream = await listening(library.address, { cookie: await anotherSession(library, person) });
  expect(stream.status).toBe(200);
});
