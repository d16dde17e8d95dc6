import { createPublicKey } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { readSetting } from '../../src/core/settings.ts';
import { sendPushJob } from '../../src/people/push/send.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { actAs, anotherSession, bearer, nowhere, sessionIdOf, setStatus } from '../support/people.ts';
import { openPushService, type PushBrowser } from '../support/push-service.ts';
import { comment, publisher, settle, told } from './telling.ts';

let author: Account;
let anna: Account;
let write: ReturnType<typeof publisher>;
let round = 0;

const service = await openPushService();
const library = await openLibrary({ VITRINE_PUSH_PRIVATE_ADDRESSES: 'on' });
const strict = await openLibrary();
const root = await library.join('root', 'admin');

afterAll(() => service.close());

beforeEach(async () => {
  round += 1;
  [author, anna] = await library.joinAll(`author${round}`, `anna${round}`);
  write = publisher(author);
});

const subscribe = (account: Visitor, { subscription }: PushBrowser) =>
  account.ok('createPushSubscription', { body: subscription });
const listed = async (account: Visitor) =>
  (await account.ok('listPushSubscriptions')).items.map(({ endpoint }) => endpoint);

/** Returns a function that sends the newest notification of an account to its browser again. */
async function resending(account: Account): Promise<() => Promise<void>> {
  const [notification] = await told(library, account);
  const [target] = (await account.ok('listPushSubscriptions')).items;
  const payload = { notification: notification?.id ?? '', subscription: target?.id ?? '' };
  const context = { jobId: '1', lastAttempt: false, log: library.deps.log };
  return async () => sendPushJob(library.deps)(payload, context);
}

/** Subscribes a new browser of the account. */
async function browserOf(account: Visitor): Promise<PushBrowser> {
  const browser = service.browser();
  await subscribe(account, browser);
  return browser;
}

// PUSH-2, PUSH-3
test('a browser gets a new notification, encrypted for it and signed by the library', async () => {
  const browser = await browserOf(author);
  const post = await write({ title: 'A tower' });
  const { id } = await comment(anna, post, 'How tall!');
  const [notification] = await told(library, author);
  expect(browser.messages()).toEqual([
    {
      headers: expect.objectContaining({ ttl: '86400', urgency: 'normal', 'content-encoding': 'aes128gcm' }),
      data: {
        kind: 'comment',
        text: `${anna.username} commented on your post “A tower”`,
        path: `/posts/${post.id}#comment-${id}`,
        tag: notification?.id,
        user: author.ref,
      },
    },
  ]);
  const { key } = await author.ok('getPushKey');
  expect(await anna.ok('getPushKey')).toEqual({ key });
  const given = browser.messages()[0]?.headers.authorization ?? '';
  const [, token = '', sender] = given.match(/^vapid t=([^,]+), k=(.+)$/) ?? [];
  expect(sender).toBe(key);
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const publicKey = createPublicKey({
    format: 'jwk',
    key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' },
  });
  const { payload } = await jwtVerify(token, publicKey, {
    audience: service.address.replace('http', 'https'),
  });
  expect(payload.sub).toMatch(/^(mailto|https):/);
  expect(String(await readSetting(library.deps.db, 'push_key'))).not.toContain('PRIVATE');
});

describe('nothing is sent', () => {
  // PUSH-3
  test('about a post that the recipient may no longer read when it is sent', async () => {
    const browser = await browserOf(anna);
    const post = await write({ title: 'A secret', visibility: 'org-only' });
    await comment(author, post, `@${anna.username}, look`);
    const send = await resending(anna);
    expect(browser.messages()).toHaveLength(1);
    await author.ok('updatePost', { params: { id: post.id }, body: { visibility: 'private' } });
    await send();
    expect(browser.messages()).toHaveLength(1);
  });

  // PUSH-3
  test('about a notification that was read, to an account that is not active, or for a kind that is turned off', async () => {
    const browser = await browserOf(author);
    const post = await write({ title: 'T' });
    await author.ok('updateNotificationPreferences', {
      body: { kinds: { like: { in_app: false, mail: 'off' } } },
    });
    await anna.ok('likePost', { params: { id: post.id } });
    await settle(library);
    expect(browser.messages()).toEqual([]);
    await comment(anna, post);
    const send = await resending(author);
    expect(browser.messages()).toHaveLength(1);
    await setStatus(library, author, 'disabled');
    await send();
    await setStatus(library, author, 'active');
    await author.ok('readAllNotifications');
    await send();
    expect(browser.messages()).toHaveLength(1);
  });

  // PUSH-1
  test('to a browser that signed out, or whose session was ended elsewhere', async () => {
    const [second, third] = [await anotherSession(library, author), await anotherSession(library, author)];
    const browsers = [await browserOf(second), await browserOf(third), await browserOf(author)];
    expect(await listed(author)).toHaveLength(3);
    await author.ok('endSession', { params: { id: await sessionIdOf(third) } });
    await second.ok('logout');
    await comment(anna, await write({ title: 'T' }));
    await settle(library);
    expect(browsers.map((browser) => browser.messages().length)).toEqual([0, 0, 1]);
  });
});

describe('a subscription', () => {
  // PUSH-1
  test('is made once, listed for its account only, and ended by it', async () => {
    const browser = service.browser();
    const made = await author.send('/account/push', { method: 'POST', body: browser.subscription });
    const again = await author.send('/account/push', { method: 'POST', body: browser.subscription });
    expect([made.status, again.status]).toEqual([201, 200]);
    expect(again.text).toBe(made.text);
    expect(made.text).not.toContain(browser.subscription.keys.auth);
    expect(await listed(anna)).toEqual([]);
    const { id } = JSON.parse(made.text);
    expect((await anna.refused('deletePushSubscription', { params: { id } })).status).toBe(404);
    await author.ok('deletePushSubscription', { params: { id } });
    for (const gone of [id, nowhere])
      expect((await author.refused('deletePushSubscription', { params: { id: gone } })).status).toBe(404);
    expect(await listed(author)).toEqual([]);
  });

  // PUSH-1
  test('passes to the account that signs in next in the same browser', async () => {
    const browser = await browserOf(author);
    await subscribe(anna, browser);
    expect([await listed(author), await listed(anna)]).toEqual([[], [browser.subscription.endpoint]]);
  });

  // PUSH-1
  test('needs a session of the account, and replaces the oldest of twenty', async () => {
    const body = service.browser().subscription;
    for (const other of [await bearer(library, author, ['admin']), await actAs(library, root, author)])
      expect((await other.refused('createPushSubscription', { body })).status).toBe(403);
    const browsers = [];
    for (let n = 0; n < 21; n += 1) browsers.push(await browserOf(author));
    const endpoints = browsers.map(({ subscription }) => subscription.endpoint);
    expect((await listed(author)).sort()).toEqual(endpoints.slice(1).sort());
  });

  // PUSH-4
  test('is refused for an internal address and for keys that no browser makes', async () => {
    const mara = await strict.join(`mara${round}`);
    const { keys } = service.browser().subscription;
    const internal = [
      'https://127.0.0.1/send',
      'https://[::1]/send',
      'https://10.1.2.3/send',
      'https://169.254.169.254/latest',
      'https://localhost/send',
      'https://name:word@push.example.org/send',
      'http://203.0.113.7/send',
    ];
    for (const endpoint of internal) {
      const { status, error } = await mara.refused('createPushSubscription', { body: { endpoint, keys } });
      expect([endpoint, status, error]).toEqual([
        endpoint,
        400,
        'endpoint is not an https address of a public network',
      ]);
    }
    const endpoint = 'https://203.0.113.7/send';
    const off = Buffer.alloc(65, 7);
    off[0] = 4;
    for (const p256dh of [off.toString('base64url'), 'A'.repeat(87), 'short'])
      expect(await mara.status('POST', '/account/push', { endpoint, keys: { ...keys, p256dh } })).toBe(400);
    expect(await listed(mara)).toEqual([]);
    // Private addresses are allowed here.
    const local = 'http://169.254.169.254/latest';
    const { status } = await author.refused('createPushSubscription', { body: { endpoint: local, keys } });
    expect(status).toBe(400);
  });

  // PUSH-5
  test('ends when its push service no longer knows it, and a message is sent again after another failure', async () => {
    const browsers = [await browserOf(author), await browserOf(author), await browserOf(author)];
    const [known, gone, failing] = browsers;
    gone?.answer(410);
    failing?.answer(503);
    await comment(anna, await write({ title: 'T' }));
    await settle(library);
    expect(await listed(author)).not.toContain(gone?.subscription.endpoint);
    expect(known?.messages()).toHaveLength(1);
    failing?.answer(201);
    const { items } = await root.ok('listJobs', { query: { name: 'send-push' } });
    // Seven attempts take about ten minutes.
    expect(items).toMatchObject([{ attempts: 1, max_attempts: 7, reason: expect.any(String) }]);
    await root.ok('retryJob', { params: { id: items[0]?.id ?? 0 } });
    await settle(library);
    expect(failing?.messages()).toHaveLength(1);
  });
});
