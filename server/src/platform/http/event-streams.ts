import type { ServerResponse } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { Listener } from '../database/listen.ts';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import { refuse } from './refuse.ts';

/** An event as the contract declares it. */
export interface StreamEvent {
  event: string;
  data: unknown;
}

/** State sent to the reader of a stream whenever `version` differs from the previous one. */
interface StreamState extends StreamEvent {
  version: string;
}

/**
 * Reads the current state; null when the stream must end, and `nothing` while there is nothing to send. With `hasMessages`,
 * messages about the topic are read next.
 */
export type ReadStreamState = (hasMessages: boolean) => Promise<StreamState | 'nothing' | null>;

/** Whose stream it is: the ref of an account, or the address of a visitor without one. */
type StreamOwner = number | string;

/** Something that a stream follows besides the state of its account. */
export interface Topic {
  /** The first word of the messages about it. */
  key: string;
  /** Maximum number of streams of the topic in a process; null if there is no limit. */
  most: number | null;
  /** The message that a new stream reads first, after it has subscribed to all others; null if there is none. */
  first: string | null;
  /** Returns whether a message may concern the reader. The stream ignores other messages. */
  concerns(message: string): boolean;
  /** Returns the events that a message, without its key, causes for the reader, if they may receive them. */
  read(message: string): Promise<StreamEvent[]>;
  /** Called with each heartbeat. */
  beat(): Promise<void>;
  /** Called when the stream and its last heartbeat have ended. */
  end(): Promise<void>;
}

/** The open event streams of this process. Their state is in the database, so any process may serve them. */
export interface EventStreams {
  /** Opens a stream, which ends with its response. Throws 429 if its owner, its topic or all visitors have too many. */
  open(owner: StreamOwner, readState: ReadStreamState, response: ServerResponse, topic?: Topic): Readable;
  /** Returns the number of open streams. */
  count(): number;
  /** Ends every stream and announces when to reconnect, so that the server can stop. */
  close(): void;
}

/** Channel for the refs of accounts whose streams must read their state again, separated by commas. */
const CHANNEL = 'account';
/** Channel for messages about topics: the key, a space, and the message. */
const TOPICS = 'post';
/** A reader that has fallen this far behind reconnects instead. */
const MOST_UNREAD = 1000;
const MOST_OF_AN_ACCOUNT = 10;
/** Visitors of one address may be many people. */
const MOST_OF_AN_ADDRESS = 20;
/** Bounds what visitors cost, whatever their addresses are. */
const MOST_OF_VISITORS = 1000;
const HEARTBEAT_MS = 25_000;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 3000;
/** When readers of a stopping server reconnect; randomised, so that they do not all reconnect at once. */
const RECONNECT_AFTER_MS = { least: 1000, most: 5000 };
/** Delay before a stream retries while the database is not available. */
const CHECK_AGAIN_MS = 1000;

const isVisitor = (owner: StreamOwner) => typeof owner === 'string';
const mostOf = (owner: StreamOwner) => (isVisitor(owner) ? MOST_OF_AN_ADDRESS : MOST_OF_AN_ACCOUNT);

interface Open {
  /** Sends the first bytes and reads the state. */
  begin(): void;
  refresh(): void;
  /** Queues a message about the topic of the stream. */
  receive(message: string): void;
  /** Begins the stream now that it receives messages, or ends one that has begun, which may have missed some. */
  connect(): void;
  /** Ends the stream, after writing these last lines if given. */
  end(lastWords?: string): void;
}

/** The event `closing` of the contract; `retry` is for clients that know only the standard. */
function farewell(): string {
  const { least, most } = RECONNECT_AFTER_MS;
  const after = Math.round(least + Math.random() * (most - least));
  return `retry: ${after}\nevent: closing\ndata: ${JSON.stringify({ reconnect_after_ms: after })}\n\n`;
}

/** Creates a stream that reads its state on opening, on request and with each heartbeat, one read at a time. */
function openStream(
  readState: ReadStreamState,
  ended: (stream: Open, beats: Promise<void>) => void,
  heartbeatMs: number,
  topic: Topic | undefined,
) {
  const body = new PassThrough();
  const unread: string[] = [];
  let version = '';
  let begun = false;
  let busy = false;
  let asked = false;
  let over = false;
  let beats = Promise.resolve();

  const stream: Open = {
    begin() {
      begun = true;
      body.write(`retry: ${RETRY_MS}\n\n`);
      stream.refresh();
    },
    refresh: () => {
      asked = true;
      if (begun && !busy) void lookUntilQuiet();
    },
    connect: () => (begun ? stream.end() : stream.begin()),
    receive: (message) => {
      if (topic?.concerns(message) === false) return;
      if (unread.push(message) > MOST_UNREAD) stream.end();
      else stream.refresh();
    },
    end(lastWords) {
      if (over) return;
      over = true;
      clearInterval(heartbeat);
      body.end(lastWords);
      ended(stream, beats);
    },
  };

  const send = (event: string, data: unknown) =>
    body.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

  /** Sends what the messages that have arrived mean. An error ends the stream, since the reader would miss something. */
  async function readUnread(): Promise<void> {
    while (unread.length > 0 && !over) {
      const message = unread.shift() ?? '';
      const events = await topic?.read(message).catch(() => null);
      if (events === null) stream.end();
      else if (!over) for (const { event, data } of events ?? []) send(event, data);
    }
  }

  async function lookUntilQuiet(): Promise<void> {
    busy = true;
    while (asked && !over) {
      asked = false;
      // An error ends the stream: the browser reconnects and then gets the reason. While the database is not available,
      // reconnecting would be refused and the browser would give up, so the stream retries.
      const state = await readState(unread.length > 0).catch((error: unknown) =>
        error instanceof DatabaseUnavailable ? 'later' : null,
      );
      if (state === 'later') setTimeout(stream.refresh, CHECK_AGAIN_MS).unref();
      else if (state === null) stream.end();
      else {
        if (!over && state !== 'nothing' && state.version !== version) {
          version = state.version;
          send(state.event, state.data);
        }
        await readUnread();
      }
    }
    busy = false;
  }

  const heartbeat = setInterval(() => {
    // A reader that no longer drains is gone, even if its connection looks open.
    if (body.writableNeedDrain) return stream.end();
    // The database has not confirmed the subscription yet. The reader gets at least the state.
    if (!begun) return stream.begin();
    body.write(': still here\n\n');
    beats = beats.then(() => topic?.beat()).catch(() => {});
    stream.refresh();
  }, heartbeatMs);
  heartbeat.unref();
  body.on('error', () => stream.end());
  return { body, stream };
}

export function openEventStreams(listener: Listener, heartbeatMs = HEARTBEAT_MS): EventStreams {
  const owners = new Map<StreamOwner, Set<Open>>();
  const topics = new Map<string, Set<Open>>();
  let unsubscribe: (() => void) | null = null;
  let unsubscribeTopics: (() => void) | null = null;
  /** Whether the database has ever confirmed the subscription to messages about topics. */
  let hasConnected = false;
  let visitors = 0;
  let closed = false;

  const refreshOwners = (payload: string | null) => {
    const refs = payload === null ? [...owners.keys()] : payload.split(',').map(Number);
    for (const ref of refs) for (const stream of owners.get(ref) ?? []) stream.refresh();
  };

  const deliver = (payload: string | null) => {
    if (payload !== null) {
      const [key = ''] = payload.split(' ', 1);
      for (const stream of topics.get(key) ?? []) stream.receive(payload.slice(key.length + 1));
      return;
    }
    hasConnected = true;
    // Messages may have been lost: readers of streams that have begun reconnect and read everything anew.
    for (const stream of [...topics.values()].flatMap((those) => [...those])) stream.connect();
  };

  /** Returns the streams of a topic, to which the caller adds one. */
  const streamsOf = (key: string): Set<Open> => {
    const those = topics.get(key) ?? new Set();
    topics.set(key, those);
    return those;
  };

  const leave = (topic: Topic, stream: Open, beats: Promise<void>) => {
    const those = topics.get(topic.key);
    those?.delete(stream);
    if (those?.size === 0) topics.delete(topic.key);
    // After the last heartbeat, which would otherwise register the stream again. A process that stops may have closed the
    // database already.
    void beats.then(() => topic.end()).catch(() => {});
  };

  return {
    open(owner, readState, response, topic) {
      const those = owners.get(owner) ?? new Set();
      const isFull =
        those.size >= mostOf(owner) ||
        (isVisitor(owner) && visitors >= MOST_OF_VISITORS) ||
        (topic?.most != null && (topics.get(topic.key)?.size ?? 0) >= topic.most);
      if (isFull) throw refuse('too-many-event-streams', {}, { 'retry-after': '30' });
      // Subscribes before the first read, so that no change is missed in between.
      if (!closed) unsubscribe ??= listener.subscribe(CHANNEL, refreshOwners);
      if (!closed && topic !== undefined) unsubscribeTopics ??= listener.subscribe(TOPICS, deliver);
      const ended = (stream: Open, beats: Promise<void>) => {
        if (topic !== undefined) leave(topic, stream, beats);
        those.delete(stream);
        if (those.size === 0 && owners.get(owner) === those) owners.delete(owner);
        if (isVisitor(owner)) visitors -= 1;
      };
      const { body, stream } = openStream(readState, ended, heartbeatMs, topic);
      owners.set(owner, those.add(stream));
      if (isVisitor(owner)) visitors += 1;
      if (topic !== undefined) {
        streamsOf(topic.key).add(stream);
        if (topic.first !== null) stream.receive(topic.first);
      }
      // A stream about a topic begins when messages arrive, so that its reader misses none after the first bytes.
      if (topic === undefined || hasConnected) stream.begin();
      response.once('close', () => stream.end());
      if (closed) stream.end(farewell());
      // The client disconnected before the stream was opened.
      if (response.closed) stream.end();
      return body;
    },
    count: () => [...owners.values()].reduce((sum, those) => sum + those.size, 0),
    close() {
      closed = true;
      unsubscribe?.();
      unsubscribe = null;
      unsubscribeTopics?.();
      unsubscribeTopics = null;
      for (const stream of [...owners.values()].flatMap((those) => [...those])) stream.end(farewell());
    },
  };
}
