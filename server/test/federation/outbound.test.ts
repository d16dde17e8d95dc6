import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { Install } from '../../src/federation/identity.ts';
import {
  getBytes,
  getJson,
  isAllowedAddress,
  type OutboundDeps,
  OutboundError,
  postSigned,
} from '../../src/federation/outbound.ts';
import { checkHttpSignature, readSignature } from '../../src/federation/protocol/http-signature.ts';
import { rawPublicKey } from '../../src/federation/protocol/signature.ts';
import { privateKeyOf } from './protocol/keys.ts';

const privateKey = privateKeyOf(Buffer.alloc(32, 1));
const install: Install = {
  url: 'https://studio-a.example',
  name: 'Studio A',
  key: { privateKey, publicKey: rawPublicKey(privateKey) },
};
const deps: OutboundDeps = { config: { federation: { privateAddresses: true, cacheBytes: 0 } } };
/** Short limits, so that tests of slow peers are fast. */
const hasty: OutboundDeps = {
  ...deps,
  patience: { headersMs: 500, idleMs: 1000, totalMs: 3000, bytesTotalMs: 3000 },
};

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a peer on a free port and returns its address. */
async function startPeer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
  test('are signed with the key of this install', async () => {
    const seen: string[] = [];
    const peer = await startPeer(async (request, response) => {
      const body = Buffer.from(await text(request));
      const parts = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        now: Date.now(),
        host: new URL(peer).host,
      };
      const signature = readSignature(parts);
      checkHttpSignature(parts, signature, [install.key.publicKey]);
      seen.push(
        `${request.method} ${request.url} ${signature.keyId} ${request.headers['accept-encoding']} ${body}`,
      );
      sendJson(response, 200, { state: 'accepted' });
    });
    const key = 'https://studio-a.example/federation/instance#main-key';
    expect(await postSigned(deps, install, `${peer}/federation/inbox`, '{"a":"ä"}')).toEqual({
      state: 'accepted',
    });
    expect(await postSigned(deps, install, `${peer}/federation/inbox`, { b: 1 })).toEqual({
      state: 'accepted',
    });
    expect(await getJson(deps, `${peer}/users/bob?x=1`, install)).toEqual({ state: 'accepted' });
    expect(await text(await getBytes(deps, install, `${peer}/assets/x/bytes`))).toBe('{"state":"accepted"}');
    expect(seen).toEqual([
      `POST /federation/inbox ${key} identity {"a":"ä"}`,
      `POST /federation/inbox ${key} identity {"b":1}`,
      `GET /users/bob?x=1 ${key} identity `,
      `GET /assets/x/bytes ${key} identity `,
    ]);
  });

  test('may be unsigned for documents that everyone may read', async () => {
    const peer = await startPeer((request, response) =>
      sendJson(response, 200, { signed: 'signature' in request.headers }),
    );
    expect(await getJson(deps, `${peer}/federation/instance`)).toEqual({ signed: false });
  });

  test('accept a response without content', async () => {
    const peer = await startPeer((_, response) => response.writeHead(202, { 'content-length': 0 }).end());
    expect(await postSigned(deps, install, peer, {})).toBeNull();
  });

  test('report status and reason of a refusal', async () => {
    const peer = await startPeer((request, response) =>
      request.url === '/'
        ? sendJson(response, 403, { error: 'unshared_object', detail: 'x' })
        : response.writeHead(503).end('<html>'),
    );
    expect(await failureOf(postSigned(deps, install, `${peer}/`, {}))).toMatchObject({
      fault: 'status',
      status: 403,
      reason: 'unshared_object',
    });
    expect(await failureOf(getJson(deps, `${peer}/other`))).toMatchObject({
      fault: 'status',
      status: 503,
      reason: null,
    });
    expect(await failureOf(getBytes(deps, install, `${peer}/`))).toMatchObject({
      fault: 'status',
      status: 403,
    });
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
    expect(await text(await getBytes(deps, install, peer, { start: 2 }))).toBe('cde');
    expect((await failureOf(getBytes(deps, install, peer, { start: 1, end: 2 }))).fault).toBe('unexpected');
    expect(await failureOf(getBytes(deps, install, peer, { start: 0, end: 0 }))).toMatchObject({
      status: 200,
    });
  });
});

// FED-8
describe('peers that misbehave', () => {
  test('cannot send more JSON than a megabyte, announced or not', async () => {
    const big = Buffer.alloc(1024 ** 2 + 1, ' ');
    const peer = await startPeer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/announced') response.setHeader('content-length', big.length);
      else response.write(big.subarray(0, 1000));
      response.end(big);
    });
    expect((await failureOf(getJson(deps, `${peer}/announced`))).fault).toBe('too_large');
    expect((await failureOf(getJson(deps, `${peer}/streamed`))).fault).toBe('too_large');
  });

  test('cannot send compressed responses', async () => {
    const peer = await startPeer((_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(10_000_000))),
    );
    expect((await failureOf(getJson(deps, peer))).message).toContain('compressed');
    expect((await failureOf(getBytes(deps, install, peer))).message).toContain('compressed');
  });

  test('cannot send anything but strict JSON', async () => {
    const bodies: Record<string, [string, string]> = {
      '/html': ['text/html', '{}'],
      '/none': ['', '{}'],
      '/text': ['application/json', 'hello'],
      '/twice': ['application/json', '{"a":1,"a":2}'],
      '/deep': ['application/json', '['.repeat(100_000)],
      '/good': ['application/activity+json; charset=utf-8', '{"a":1}'],
    };
    const peer = await startPeer((request, response) => {
      const [type, body] = bodies[request.url ?? ''] ?? ['', ''];
      if (type !== '') response.setHeader('content-type', type);
      response.end(body);
    });
    for (const path of ['/html', '/none', '/text', '/twice', '/deep']) {
      expect((await failureOf(getJson(deps, peer + path))).fault, path).toBe('unexpected');
    }
    expect(await getJson(deps, `${peer}/good`)).toEqual({ a: 1 });
  });

  test('cannot keep a request waiting', async () => {
    const peer = await startPeer((request, response) => {
      if (request.url === '/silent') return;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
      if (request.url === '/stops') return;
      // Always sends, and never ends.
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    });
    const slow = { '/silent': 'does not respond', '/stops': 'has stopped', '/drips': 'takes too long' };
    for (const [path, detail] of Object.entries(slow)) {
      const error = await failureOf(getJson(hasty, peer + path));
      expect(error.fault, path).toBe('too_slow');
      expect(error.message, path).toContain(detail);
    }
    for (const path of ['/stops', '/drips']) {
      const stream = await getBytes(hasty, install, peer + path);
      expect((await failureOf(text(stream))).fault, path).toBe('too_slow');
    }
  });

  test('cannot break off a response unnoticed', async () => {
    const peer = await startPeer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{}', () => response.socket?.destroy());
    });
    expect((await failureOf(getJson(deps, peer))).fault).toBe('unreachable');
    await expect(getBytes(deps, install, peer).then(text)).rejects.toThrow();
  });

  test('that do not exist or are not HTTP servers are unreachable', async () => {
    const server = createSocketServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    closing.push(() => server.close());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    expect((await failureOf(getJson(deps, `http://127.0.0.1:${port}`))).fault).toBe('unreachable');
    const gone = await startPeer(() => undefined);
    for (const close of closing.splice(0)) close();
    expect((await failureOf(getJson(deps, gone))).fault).toBe('unreachable');
    expect((await failureOf(getJson(deps, 'https://peer.invalid'))).fault).toBe('unreachable');
  });
});

// FED-7
describe('addresses', () => {
  const strict: OutboundDeps = { config: { federation: { privateAddresses: false, cacheBytes: 0 } } };

  test.each([
    '127.0.0.1',
    '127.8.8.8',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    'localhost',
    '',
  ])('do not include %j', (address) => {
    expect(isAllowedAddress(address, false)).toBe(false);
  });

  test('include public ones, and private ones if configured', () => {
    for (const address of ['93.184.216.34', '2606:2800:220:1::1', '::ffff:93.184.216.34']) {
      expect(isAllowedAddress(address, false), address).toBe(true);
    }
    for (const address of ['127.0.0.1', '10.1.2.3', '192.168.1.1', '100.64.0.1', '::1', 'fd12::1']) {
      expect(isAllowedAddress(address, true), address).toBe(true);
    }
    for (const address of [
      '169.254.169.254',
      'fe80::1',
      '0.0.0.0',
      '::',
      '224.0.0.1',
      '255.255.255.255',
      '::ffff:169.254.169.254',
    ]) {
      expect(isAllowedAddress(address, true), address).toBe(false);
    }
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
