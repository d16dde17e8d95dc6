import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { Install } from '../../src/exchange/federation/identity.ts';
import {
  getBytes,
  getJson,
  type OutboundDeps,
  OutboundError,
  postSigned,
} from '../../src/exchange/federation/outbound.ts';
import { checkHttpSignature, readSignature } from '../../src/exchange/federation/protocol/http-signature.ts';
import { rawPublicKey } from '../../src/exchange/federation/protocol/signature.ts';
import { isAllowedAddress } from '../../src/platform/http/outbound-addresses.ts';
import { privateKeyOf } from './protocol/keys.ts';

const privateKey = privateKeyOf(Buffer.alloc(32, 1));
const install: Install = {
  url: 'https://studio-a.example',
  name: 'Studio A',
  key: { privateKey, publicKey: rawPublicKey(privateKey) },
};
const deps: OutboundDeps = { config: { federation: { privateAddresses: true } } };
/** Short limits, so that tests of slow peers are fast. */
const hasty: OutboundDeps = {
  ...deps,
  patience: { headersMs: 500, idleMs: 1000, totalMs: 2000, bytesTotalMs: 2000 },
};

const MOST = 1024 ** 2;
const blanks = Buffer.alloc(MOST + 1, ' ');

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Returns the address of a server that now listens on a free port. */
async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a peer on a free port and returns its address. */
async function startPeer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return addressOf(server);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function failureOf(run: Promise<unknown>): Promise<OutboundError> {
  const error = await run.then(
    () => new Error('it succeeded'),
    (failure: unknown) => failure,
  );
  if (!(error instanceof OutboundError)) throw error;
  return error;
}

describe('requests to peers', () => {
  test('are signed with the key of this install, except those for documents that everyone may read', async () => {
    const seen: string[] = [];
    const peer = await startPeer(async (request, response) => {
      const body = Buffer.from(await text(request));
      const { method = '', url: path = '', headers } = request;
      const parts = { method, path, headers, body, now: Date.now(), host: new URL(peer).host };
      const signed = 'signature' in headers ? readSignature(parts) : null;
      if (signed !== null) checkHttpSignature(parts, signed, [install.key.publicKey]);
      seen.push(`${method} ${path} ${signed?.keyId} ${headers['accept-encoding']} ${body}`);
      sendJson(response, 200, { state: 'accepted' });
    });
    const accepted = { state: 'accepted' };
    const inbox = `${peer}/federation/inbox`;
    expect(await postSigned(deps, install, inbox, '{"a":"ä"}')).toEqual(accepted);
    expect(await postSigned(deps, install, inbox, { b: 1 })).toEqual(accepted);
    expect(await getJson(deps, `${peer}/users/bob?x=1`, install)).toEqual(accepted);
    expect(await text(await getBytes(deps, install, `${peer}/assets/x/bytes`))).toBe('{"state":"accepted"}');
    expect(await getJson(deps, `${peer}/federation/instance`)).toEqual(accepted);
    const key = 'https://studio-a.example/federation/instance#main-key';
    expect(seen).toEqual([
      `POST /federation/inbox ${key} identity {"a":"ä"}`,
      `POST /federation/inbox ${key} identity {"b":1}`,
      `GET /users/bob?x=1 ${key} identity `,
      `GET /assets/x/bytes ${key} identity `,
      'GET /federation/instance undefined identity ',
    ]);
  });

  test('accept a response without content, and report status and reason of a refusal', async () => {
    const peer = await startPeer(({ url }, response) => {
      if (url === '/empty') response.writeHead(202, { 'content-length': 0 }).end();
      else if (url === '/') sendJson(response, 403, { error: 'unshared_object', detail: 'x' });
      else response.writeHead(503).end('<html>');
    });
    expect(await postSigned(deps, install, `${peer}/empty`, {})).toBeNull();
    const unshared = { fault: 'status', status: 403, reason: 'unshared_object' };
    expect(await failureOf(postSigned(deps, install, `${peer}/`, {}))).toMatchObject(unshared);
    expect(await failureOf(getBytes(deps, install, `${peer}/`))).toMatchObject(unshared);
    const other = { fault: 'status', status: 503, reason: null };
    expect(await failureOf(getJson(deps, `${peer}/other`))).toMatchObject(other);
  });

  test('do not follow redirects', async () => {
    let followed = false;
    const peer = await startPeer((request, response) => {
      followed ||= request.url === '/there';
      response.writeHead(302, { location: '/there' }).end();
    });
    expect(await failureOf(getJson(deps, `${peer}/here`))).toMatchObject({ fault: 'status', status: 302 });
    expect(await failureOf(getBytes(deps, install, `${peer}/here`))).toMatchObject({ status: 302 });
    expect(followed).toBe(false);
  });

  test('take a part of the bytes, and only that part', async () => {
    const peer = await startPeer((request, response) => {
      const { range } = request.headers;
      if (range === 'bytes=2-') response.writeHead(206, { 'content-range': 'bytes 2-4/5' }).end('cde');
      else if (range === 'bytes=1-2') response.writeHead(206, { 'content-range': 'bytes 0-1/5' }).end('ab');
      else response.writeHead(200).end('abcde');
    });
    const failure = (range: { start: number; end: number }) =>
      failureOf(getBytes(deps, install, peer, range));
    expect(await text(await getBytes(deps, install, peer, { start: 2 }))).toBe('cde');
    expect((await failure({ start: 1, end: 2 })).fault).toBe('unexpected');
    expect((await failure({ start: 0, end: 0 })).status).toBe(200);
  });
});

// FED-8
describe('peers that misbehave', () => {
  const json = { 'content-type': 'application/json' };

  test.each<[string, OutboundError['fault'], RequestListener]>([
    [
      'announce more JSON than a megabyte',
      'too_large',
      (_, response) => response.writeHead(200, { ...json, 'content-length': MOST + 1 }).end(blanks),
    ],
    [
      'send more JSON than a megabyte',
      'too_large',
      (_, response) => {
        response.writeHead(200, json).write(blanks.subarray(0, 1000));
        response.end(blanks);
      },
    ],
    [
      'send another type',
      'unexpected',
      (_, response) => response.setHeader('content-type', 'text/html').end('{}'),
    ],
    ['send no type', 'unexpected', (_, response) => response.end('{}')],
    ['send text', 'unexpected', (_, response) => response.writeHead(200, json).end('hello')],
    ['repeat a name', 'unexpected', (_, response) => response.writeHead(200, json).end('{"a":1,"a":2}')],
    ['nest deeply', 'unexpected', (_, response) => response.writeHead(200, json).end('['.repeat(100_000))],
    [
      'break off a response',
      'unreachable',
      (_, response) => {
        response.writeHead(200, { ...json, 'content-length': 100 });
        response.write('{}', () => response.socket?.destroy());
      },
    ],
  ])('are refused when they %s', async (_, fault, listener) => {
    expect((await failureOf(getJson(deps, await startPeer(listener)))).fault).toBe(fault);
  });

  test('may send any type of JSON', async () => {
    const type = 'application/activity+json; charset=utf-8';
    const peer = await startPeer((_, response) => response.setHeader('content-type', type).end('{"a":1}'));
    expect(await getJson(deps, peer)).toEqual({ a: 1 });
  });

  test('cannot send compressed responses', async () => {
    const packed = gzipSync(Buffer.alloc(10_000_000));
    const peer = await startPeer((_, response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(packed),
    );
    expect((await failureOf(getJson(deps, peer))).message).toContain('compressed');
    expect((await failureOf(getBytes(deps, install, peer))).message).toContain('compressed');
  });

  test.each([
    ['/silent', 'does not respond'],
    ['/stops', 'has stopped'],
    ['/drips', 'takes too long'],
  ])('cannot keep a request waiting: %s', async (path, detail) => {
    const peer = await startPeer((_, response) => {
      if (path === '/silent') return;
      response.writeHead(200, json).write('{');
      if (path === '/stops') return;
      // Always sends, and never ends.
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    });
    const { fault, message } = await failureOf(getJson(hasty, peer));
    expect([fault, message]).toEqual(['too_slow', expect.stringContaining(detail)]);
    if (path === '/silent') return;
    expect((await failureOf(text(await getBytes(hasty, install, peer)))).fault).toBe('too_slow');
  });

  test('cannot break off a file unnoticed', async () => {
    const peer = await startPeer((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{}', () => response.socket?.destroy());
    });
    await expect(getBytes(deps, install, peer).then(text)).rejects.toThrow();
  });

  test('that do not exist or are not HTTP servers are unreachable', async () => {
    const server = createSocketServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    closing.push(() => server.close());
    const other = await addressOf(server);
    const gone = await startPeer(() => undefined);
    closing.pop()?.();
    for (const url of [other, gone, 'https://peer.invalid'])
      expect([url, (await failureOf(getJson(deps, url))).fault]).toEqual([url, 'unreachable']);
  });
});

// FED-7
describe('addresses', () => {
  const strict: OutboundDeps = { config: { federation: { privateAddresses: false } } };
  const open = ['93.184.216.34', '2606:2800:220:1::1', '::ffff:93.184.216.34'];
  const local = '127.0.0.1 10.1.2.3 192.168.1.1 100.64.0.1 ::1 fd12:3456::1'.split(' ');
  const never = `169.254.169.254 ::ffff:169.254.169.254 fe80::1 0.0.0.0 :: 224.0.0.1
    255.255.255.255`.split(/\s+/);
  const special = `127.8.8.8 172.16.0.1 240.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1
    2002:7f00:1:: fc00::1 fec0::1 ff02::1 2001:db8::1`.split(/\s+/);

  test('of peers are public, and private ones if configured', () => {
    const allowed = (addresses: string[], isPrivateAllowed: boolean) =>
      addresses.filter((address) => isAllowedAddress(address, isPrivateAllowed));
    const all = [...open, ...local, ...never, ...special, 'localhost', ''];
    expect(allowed(all, false)).toEqual(open);
    expect(allowed([...open, ...local, ...never], true)).toEqual([...open, ...local]);
  });

  test('that are private get no request, by number or by name', async () => {
    let asked = 0;
    const peer = await startPeer((_, response) => {
      asked++;
      sendJson(response, 200, {});
    });
    const { port } = new URL(peer);
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '127.1']) {
      const error = await failureOf(getJson(strict, `http://${host}:${port}/`));
      expect(error.fault, host).toBe('refused_address');
    }
    expect(asked).toBe(0);
    expect(await getJson(deps, `http://localhost:${port}/`)).toEqual({});
  });

  test.each([
    'ftp://media.example.org/',
    'file:///etc/passwd',
    'http://media.example.org/',
    'https://user:password@media.example.org/',
    'https://media.example.org:0/',
    'https://[fe80::1]/',
    'https://169.254.169.254/latest/meta-data',
    'nonsense',
  ])('of the form %j are refused', async (url) => {
    expect((await failureOf(getJson(deps, url))).fault).toBe('refused_address');
  });
});
