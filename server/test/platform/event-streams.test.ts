import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Listener } from '../../src/platform/database/listen.ts';
import {
  type EventStreams,
  openEventStreams,
  type ReadStreamState,
  type Topic,
} from '../../src/platform/http/event-streams.ts';

const opened: { server: Server; streams: EventStreams }[] = [];

afterEach(async () => {
  for (const { server, streams } of opened.splice(0)) {
    streams.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Starts a server of one stream; `say` notifies its account. */
async function serve(readState: ReadStreamState, heartbeatMs: number) {
  let receive: ((payload: string | null) => void) | null = null;
  const listener: Listener = {
    subscribe(_, receiver) {
      receive = receiver;
      return () => {
        receive = null;
      };
    },
    reconnect: () => {},
    close: async () => {},
  };
  const streams = openEventStreams(listener, heartbeatMs);
  const server = createServer((_, response) => {
    streams.open(7, readState, response).pipe(response);
  });
  opened.push({ server, streams });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, say: (payload: string | null) => receive?.(payload) };
}

const silent: Listener = { subscribe: () => () => {}, reconnect: () => {}, close: async () => {} };

const emptyTopic: Topic = {
  key: 'link',
  most: null,
  first: null,
  concerns: () => true,
  read: async () => [],
  beat: async () => {},
  end: async () => {},
};

const newResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

const state = (version: string) => ({ event: 'e', data: { version }, version });

test('sends heartbeats that are no events', async () => {
  const { url } = await serve(async () => state('same'), 50);
  const response = await fetch(url);
  const reader = response.body?.getReader();
  let text = '';
  while (true) {
    text += new TextDecoder().decode((await reader?.read())?.value);
    if (text.split(': still here').length > 4) break;
  }
  expect(text.split(': still here\n\n').length).toBeGreaterThan(3);
  expect(text.match(/^event: /gm)).toHaveLength(1);
  await reader?.cancel();
});

test('checks at each heartbeat whether the stream may continue', async () => {
  let may = true;
  const { url } = await serve(async () => (may ? state('x') : null), 50);
  const response = await fetch(url);
  const text = response.text();
  await sleep(120);
  may = false;
  expect(await text).toContain('event: e');
});

test('ends the stream on a failed check, so that the browser reconnects', async () => {
  const { url, say } = await serve(async () => {
    if (Math.random() >= 0) throw new Error('no database');
    return null;
  }, 10_000);
  expect(await (await fetch(url)).text()).toBe('retry: 3000\n\n');
  say('7');
});

test('coalesces a hundred notifications without missing the last', async () => {
  let looks = 0;
  let version = 0;
  const { url, say } = await serve(async () => {
    looks += 1;
    const seen = version;
    await sleep(20);
    return state(String(seen));
  }, 10_000);
  const response = await fetch(url);
  const reader = response.body?.getReader();
  let text = '';
  const read = async (until: string) => {
    while (!text.includes(until)) text += new TextDecoder().decode((await reader?.read())?.value);
  };
  await read('"0"');
  const before = looks;
  for (let n = 0; n < 100; n += 1) {
    version += 1;
    say('1,7,9');
  }
  say('8');
  await read('"100"');
  await sleep(100);
  expect(looks - before).toBe(2);
  await reader?.cancel();
});

test('a client that leaves before its stream is open holds none', async () => {
  const streams = openEventStreams(silent);
  const { promise: counted, resolve } = Promise.withResolvers<number>();
  const arrived = Promise.withResolvers<void>();
  const server = createServer(async (_, response) => {
    arrived.resolve();
    await once(response, 'close');
    streams.open('192.0.2.1', async () => 'nothing', response);
    resolve(streams.count());
  });
  opened.push({ server, streams });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const address = server.address();
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: library\r\n\r\n');
  await arrived.promise;
  client.destroy();
  expect(await counted).toBe(0);
});

// GUEST-13
test('bounds the streams of a topic, whatever the addresses of their visitors', async () => {
  const streams = openEventStreams(silent);
  const open = (address: string, key: string) => {
    const response = newResponse();
    streams.open(address, async () => 'nothing', response, { ...emptyTopic, key, most: 2 });
    return response;
  };
  const first = open('192.0.2.1', 'link');
  open('192.0.2.2', 'link');
  expect(() => open('192.0.2.3', 'link')).toThrow('too many event streams');
  open('192.0.2.3', 'other');
  first.emit('close');
  open('192.0.2.3', 'link');
  expect(streams.count()).toBe(3);
  streams.close();
});

/** Returns streams, and the receivers of messages by channel. */
function openByChannel() {
  const channels = new Map<string, (payload: string | null) => void>();
  const streams = openEventStreams({
    ...silent,
    subscribe(channel, receive) {
      channels.set(channel, receive);
      return () => {};
    },
  });
  return { channels, streams };
}

// ANNOTATION-10
test('a stream about a topic begins when messages about it arrive, and ends when some may be lost', async () => {
  const { channels, streams } = openByChannel();
  const open = () =>
    streams.open('192.0.2.1', async () => 'nothing', newResponse(), {
      ...emptyTopic,
      read: async (message) => [{ event: 'said', data: message }],
    });
  const early = open();
  await sleep(10);
  expect(early.read()).toBeNull();
  channels.get('post')?.(null);
  channels.get('post')?.('link hello');
  await expect.poll(() => String(early.read() ?? '')).toContain('retry: 3000\n\n');
  const late = open();
  expect(String(late.read())).toBe('retry: 3000\n\n');
  channels.get('post')?.(null);
  expect(streams.count()).toBe(0);
  streams.close();
});

test('announces to the reader of the state that messages about a topic are read next', async () => {
  const { channels, streams } = openByChannel();
  const [looked, read] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const looks: boolean[] = [];
  const look: ReadStreamState = async (hasMessages) => {
    looks.push(hasMessages);
    looked.resolve();
    return 'nothing';
  };
  const topic: Topic = {
    ...emptyTopic,
    async read(message) {
      read.resolve(message);
      return [];
    },
  };
  streams.open('192.0.2.1', look, newResponse(), topic);
  channels.get('post')?.(null);
  await looked.promise;
  // The stream is idle again.
  await sleep(0);
  channels.get('post')?.('link comment 1');
  expect(await read.promise).toBe('comment 1');
  expect(looks).toEqual([false, true]);
  streams.close();
});

test('ends a topic after the last heartbeat, which could register the stream again', async () => {
  const streams = openEventStreams(silent, 10);
  const [began, wrote, ended] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const calls: string[] = [];
  const response = newResponse();
  streams.open('192.0.2.1', async () => 'nothing', response, {
    ...emptyTopic,
    async beat() {
      began.resolve();
      await wrote.promise;
      calls.push('beat');
    },
    async end() {
      calls.push('end');
      ended.resolve();
    },
  });
  await began.promise;
  response.emit('close');
  await sleep(0);
  wrote.resolve();
  await ended.promise;
  expect(calls.at(-1)).toBe('end');
  expect(calls).toContain('beat');
});
