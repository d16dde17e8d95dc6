import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { basePath } from '@vitrine/contract/operations';
import { describe, expect, test } from 'vitest';
import type { Timeouts } from '../../src/platform/http/slow-requests.ts';
import type { Answered } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import {
  asForm,
  asJson,
  boundary,
  errorOf,
  formEnd,
  headOf,
  openWire,
  partHead,
  sessionOf,
  type Wire,
} from './wire.ts';

/** Long enough for a busy machine to send a request, short enough to wait for. */
// A busy machine stops for half a second now and then; between two pieces of an upload, that must not be the limit.
const timeouts: Timeouts = { headMs: 800, bodyMs: 500, uploadIdleMs: 1500, lingerMs: 300 };

const library = await openLibrary({}, { timeouts });
const root = await library.join('root', 'admin');

function headOfUpload(account: Account, length: number): string {
  return headOf('POST', `${basePath}/assets`, length, { ...asForm, ...sessionOf(account) });
}

function expectRefusal(answer: Answered, status: number, error: RegExp): void {
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(error)]);
  expect(errorOf(answer)).toMatch(error);
  expect(answer.headers.get('connection')?.trim()).toBe('close');
}

/** Sends single bytes until the server has closed the connection. */
async function drip(wire: Wire): Promise<Answered> {
  while (!wire.isOver()) {
    await wire.send(' ');
    await Promise.race([wire.ended, pause(timeouts.bodyMs / 10)]);
  }
  return wire.ended;
}

const incoming = () => readdir(library.deps.storage.incomingDir);

// HTTP-26
test.each([
  ['not a byte of it', ''],
  ['half a line', 'GET /api/v1/au'],
  ['no end', 'GET /api/v1/auth/me HTTP/1.1\r\nhost: localhost\r\n'],
])('a head that does not arrive is 408 and the connection is closed: %s', async (_, sent) => {
  const wire = await openWire(library);
  await wire.send(sent);
  expectRefusal(await wire.ended, 408, /did not arrive in time/);
});

// HTTP-26
describe('a body that is not a form', () => {
  const send = async (path: string, headers: Record<string, string>) => {
    const wire = await openWire(library);
    await wire.send(`${headOf('POST', basePath + path, 5000, { ...headers, ...sessionOf(root) })}{`);
    return wire;
  };

  test.each([
    ['JSON', '/collections', asJson],
    ['raw bytes', '/admin/system/appearance/logo', { 'content-type': 'image/png' }],
    ['JSON of a sign-in', '/auth/login', asJson],
    ['JSON for an unknown path', '/nothing', asJson],
  ])('is 408 when it stops: %s', async (_, path, headers) => {
    const wire = await send(path, headers);
    expectRefusal(await wire.ended, 408, /body did not arrive in time/);
  });

  test('is 408 when it is incomplete at its deadline', async () => {
    const wire = await send('/collections', asJson);
    expectRefusal(await drip(wire), 408, /body did not arrive in time/);
  });

  test('may pause longer than a head may take', async () => {
    const patient = await openLibrary({}, { timeouts: { ...timeouts, bodyMs: 30_000 } });
    const body = JSON.stringify({ name: 'In two pieces' });
    const wire = await openWire(patient);
    const headers = { ...asJson, ...sessionOf(await patient.join('mara')), connection: 'close' };
    await wire.send(headOf('POST', `${basePath}/collections`, body.length, headers) + body.slice(0, 5));
    await pause(timeouts.headMs * 1.5);
    await wire.send(body.slice(5));
    expect((await wire.ended).status).toBe(201);
  });
});

// HTTP-26
describe('a form', () => {
  test.each([
    ['before its first part', ''],
    ['within the head of a part', partHead.slice(0, 40)],
    ['within a field', `--${boundary}\r\ncontent-disposition: form-data; name="title"\r\n\r\nA ti`],
    ['within the file', `${partHead}some of its bytes`],
    ['after the file', `${partHead}all of its bytes\r\n--${boundary}`],
  ])('is 408 when it stops %s, and leaves nothing behind', async (_, sent) => {
    const wire = await openWire(library);
    await wire.send(headOfUpload(root, 100_000) + sent);
    expectRefusal(await wire.ended, 408, /body did not arrive in time/);
    expect(await incoming()).toEqual([]);
  });

  test('may take longer than the limit while bytes arrive', async () => {
    const wire = await openWire(library);
    const pieces = 12;
    const length = partHead.length + pieces + formEnd.length;
    const headers = { ...asForm, ...sessionOf(root), connection: 'close' };
    await wire.send(headOf('POST', `${basePath}/assets`, length, headers) + partHead);
    for (let piece = 0; piece < pieces; piece += 1) {
      await wire.send('x');
      await pause(timeouts.uploadIdleMs / 8);
    }
    await wire.send(formEnd);
    expect((await wire.ended).status).toBe(201);
  });
});

// HTTP-27
describe('a refused request whose body has not been read', () => {
  test.each([
    [401, /sign in/, 'POST', '/collections', asJson, false],
    [401, /sign in/, 'POST', '/assets', asForm, false],
    [405, /method/, 'PUT', '/collections', asJson, false],
    [413, /too large/, 'POST', '/collections', asJson, true],
    [415, /content type/, 'POST', '/collections', asForm, true],
  ])(
    '%i (%s) for %s %s reaches a client that is still sending, then the connection ends',
    async (status, error, method, path, type, isSignedIn) => {
      const headers = { ...type, ...(isSignedIn ? sessionOf(root) : {}) };
      const wire = await openWire(library);
      await wire.send(headOf(method, basePath + path, 500_000_000, headers));
      const block = Buffer.alloc(65_536, ' ');
      while (!wire.isOver()) {
        await Promise.race([wire.send(block), wire.ended]);
        // Writes that fail immediately would prevent the event loop from noticing the end of the connection.
        await nextTurn();
      }
      expectRefusal(await wire.ended, status, error);
    },
  );

  test('closes the connection', async () => {
    const account = await library.join('pipeliner');
    const body = JSON.stringify({ name: 'Behind a refusal' });
    const wire = await openWire(library, true);
    await wire.send(`${headOf('POST', `${basePath}/collections`, 2, asJson)}{`);
    expect((await wire.ended).status).toBe(401);
    const headers = { ...asJson, ...sessionOf(account) };
    await wire.send(`}${headOf('POST', `${basePath}/collections`, body.length, headers)}${body}`);
    await pause(timeouts.lingerMs);
    const names = (await account.ok('listCollections')).items.map(({ name }) => name);
    expect(names).not.toContain('Behind a refusal');
    wire.close();
  });

  test('releases its descriptor although the client never closes', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const before = sockets();
    const wires = await Promise.all(Array.from({ length: 50 }, () => openWire(library, true)));
    for (const wire of wires) void wire.send(`${headOf('POST', `${basePath}/collections`, 100, asJson)}{`);
    const statuses = (await Promise.all(wires.map(({ ended }) => ended))).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401]));
    // Only the clients' ends remain.
    await expect.poll(sockets).toBeLessThanOrEqual(before + 50);
    for (const wire of wires) wire.close();
  });
});

// HTTP-28
describe('concurrency limits', () => {
  const ask = async (address: Pick<Library, 'address'>) => {
    const wire = await openWire(address);
    await wire.send(headOf('GET', '/healthz', 0, { connection: 'close' }));
    return wire.ended;
  };

  test('answer 429 to connections of an address beyond its limit', async () => {
    const small = await openLibrary({ VITRINE_CONNECTIONS_PER_ADDRESS: '3' });
    const held = await Promise.all([openWire(small), openWire(small), openWire(small)]);
    const refused = await ask(small);
    expectRefusal(refused, 429, /too many connections from this address/);
    expect(refused.headers.get('retry-after')?.trim()).toBe('5');
    held[0]?.close();
    await expect.poll(async () => (await ask(small)).status).toBe(200);
    for (const wire of held) wire.close();
  });

  test('do not limit connections of a trusted proxy', async () => {
    const env = { VITRINE_CONNECTIONS_PER_ADDRESS: '1', VITRINE_TRUSTED_PROXIES: 'loopback' };
    const proxied = await openLibrary(env);
    const held = await Promise.all([openWire(proxied), openWire(proxied)]);
    expect((await ask(proxied)).status).toBe(200);
    for (const wire of held) wire.close();
  });

  test('limit uploads by account and address', async () => {
    const small = await openLibrary({ VITRINE_UPLOADS_PER_ACCOUNT: '1', VITRINE_UPLOADS_PER_ADDRESS: '2' });
    const [mara, otto, nina] = await small.joinAll('mara', 'otto', 'nina');
    const begin = async (account: Account) => {
      const wire = await openWire(small);
      await wire.send(`${headOfUpload(account, 100_000)}${partHead}bytes`);
      return wire;
    };
    const receiving = () => readdir(small.deps.storage.incomingDir);
    const first = await begin(mara);
    await expect.poll(receiving).toHaveLength(1);
    expectRefusal(await (await begin(mara)).ended, 429, /too many uploads of this account/);
    const second = await begin(otto);
    await expect.poll(receiving).toHaveLength(2);
    expectRefusal(await (await begin(nina)).ended, 429, /too many uploads from this address/);
    first.close();
    second.close();
    await expect.poll(receiving).toHaveLength(0);
    await upload(nina, plainFile());
  });
});
