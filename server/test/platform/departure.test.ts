import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenService, openService } from '../../src/boot/service.ts';
import { listen } from '../notifications/streams.ts';
import { openLibrary } from '../support/library.ts';

let service: OpenService;
let port: number;
let agent: Agent;
let closing: Promise<unknown> | null;

const library = await openLibrary();
const ada = await library.join('ada');

/** A second service, which each test stops in its own way. */
async function serve(stopSeconds: number): Promise<void> {
  const { config, database, deps } = library;
  service = await openService({
    db: database.db,
    listener: database.listener,
    storage: deps.storage,
    config: { ...config, stopSeconds },
  });
  port = Number(new URL(await service.server.listen({ host: '127.0.0.1', port: 0 })).port);
}

beforeEach(() => {
  closing = null;
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});

afterEach(async () => {
  agent.destroy();
  await (closing ?? service.server.close());
  await service.deps.metadata.close();
});

const close = () => {
  closing = service.server.close();
  return closing;
};

async function answerTo(sent: ClientRequest) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  const { statusCode: status, headers } = response;
  return { status, connection: headers.connection, body: Buffer.concat(parts).toString() };
}

const get = (path: string) => answerTo(request({ port, path, agent }).end());

/** An upload whose first bytes have arrived. */
async function beginUpload(): Promise<{ sent: ClientRequest; rest: string }> {
  const head =
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nthe first ';
  const headers = { 'content-type': 'multipart/form-data; boundary=x', cookie: `user=${ada.cookie()}` };
  const sent = request({ port, path: '/api/v1/assets', method: 'POST', headers, agent });
  const begun = new Promise<void>((resolve) => {
    service.server.server.once('request', () => resolve());
  });
  sent.write(head);
  await begun;
  return { sent, rest: `and the rest ${Math.random()}\r\n--x--\r\n` };
}

// HTTP-33, RUN-5
test('once the stop is announced, /readyz is 503 and other responses close their connections', async () => {
  await serve(5);
  expect(await get('/readyz')).toMatchObject({ status: 200, connection: 'keep-alive' });
  service.announceStop();
  expect(await get('/readyz')).toEqual({
    status: 503,
    connection: 'close',
    body: '{"error":"shutting down"}',
  });
  expect(await get('/healthz')).toMatchObject({ status: 200, connection: 'close' });
  expect(await get('/api/v1/openapi.json')).toMatchObject({ status: 200, connection: 'close' });
  expect(await get('/api/v1/nowhere')).toMatchObject({ status: 404, connection: 'close' });
});

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

// RUN-5
describe('a server that closes', () => {
  test('finishes uploads and heads that have begun, and tells event streams to reconnect at different times', async () => {
    await serve(30);
    const { sent, rest } = await beginUpload();
    const socket = await open();
    socket.write('GET /healthz HTTP/1.1\r\nhost: here\r\n\r\nGET /healthz HT');
    const chunks = socket[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toContain('keep-alive');
    const streams = await Promise.all(
      Array.from({ length: 6 }, () => listen(`http://127.0.0.1:${port}`, { cookie: ada })),
    );
    await Promise.all(streams.map((stream) => stream.next()));

    const closed = close();
    await Promise.all(streams.map((stream) => stream.ended));
    await sleep(600);
    sent.end(rest);
    expect(await answerTo(sent)).toMatchObject({ status: 201, connection: 'close' });
    socket.write('TP/1.1\r\nhost: here\r\n\r\n');
    const answer = String((await chunks.next()).value);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/^connection: close\r$/im);
    await closed;
    const after = streams.map((stream) => {
      const last = stream.text().split('\n\n').at(-2) ?? '';
      const found = /^retry: (\d+)\nevent: closing\ndata: \{"reconnect_after_ms":(\d+)\}$/.exec(last);
      expect(found?.[1]).toBe(found?.[2]);
      return Number(found?.[1]);
    });
    for (const ms of after) expect(ms).toSatisfy((n: number) => n >= 1000 && n <= 5000);
    expect(new Set(after).size).toBeGreaterThan(1);
  });

  test('aborts requests that exceed its time limit', async () => {
    await serve(1);
    const { sent } = await beginUpload();
    const failed = answerTo(sent);
    const closed = close();
    await expect(failed).rejects.toThrow();
    await closed;
  });

  test('does not wait for idle connections', async () => {
    await serve(3600);
    await get('/healthz');
    const silent = await open();
    const ended = new Promise((resolve) => silent.once('close', resolve));
    await close();
    await ended;
  });
});
