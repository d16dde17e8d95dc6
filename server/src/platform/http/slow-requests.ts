import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { refuse } from './refuse.ts';

/** Time limits for clients, in milliseconds. */
export interface Timeouts {
  /** For the head of a request, since the connection opened or the previous request ended. */
  headMs: number;
  /** For a whole body that is not an upload. */
  bodyMs: number;
  /** Without any byte of a form or an upload chunk, which may be of any size. */
  uploadIdleMs: number;
  /** To read the response, when the connection is closed before the request was read completely. */
  lingerMs: number;
}

export const usualTimeouts: Timeouts = {
  headMs: 20_000,
  bodyMs: 30_000,
  uploadIdleMs: 60_000,
  lingerMs: 2000,
};

/** How often progress is checked within a body's time limit. */
const LOOKS = 6;

/** Returns whether the head of a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Returns whether the body is a multipart form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return /^\s*multipart\/form-data/i.test(headers['content-type'] ?? '');
}

/** Returns whether the body is a chunk of a tus upload. */
export function isFilePart({ headers }: IncomingMessage): boolean {
  return /^\s*application\/offset\+octet-stream/i.test(headers['content-type'] ?? '');
}

/** Returns whether part of the announced body has not arrived. */
export function isHalfSent(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete;
}

/**
 * Closes a connection on which the client is still sending. Closing immediately would send a reset, which can discard
 * the unread response; so input is dropped for `ms`.
 */
export function closeGently(socket: Socket, ms: number): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
}

function tooLate() {
  return refuse('body-timeout');
}

/** Calls `onTimeout` each time the body is late, until it is complete or the response has ended. */
function watchBody(
  request: IncomingMessage,
  { bodyMs, uploadIdleMs }: Timeouts,
  onTimeout: () => void,
): NodeJS.Timeout {
  const { socket } = request;
  const upload = isForm(request) || isFilePart(request);
  const allowedMs = upload ? uploadIdleMs : bodyMs;
  let since = performance.now();
  let seen = socket.bytesRead;
  const timer = setInterval(() => {
    if (request.complete) {
      clearInterval(timer);
      return;
    }
    // Bytes that wait to be read are the server's delay, not the client's.
    const hasProgress = socket.bytesRead !== seen || request.readableLength > 0;
    if (upload && hasProgress) since = performance.now();
    seen = socket.bytesRead;
    if (performance.now() - since >= allowedMs) onTimeout();
  }, allowedMs / LOOKS);
  return timer;
}

export interface SlowRequests {
  /**
   * Applies the body's time limit to a request, and closes the connection after responding to a request that was not
   * read completely.
   */
  watch(request: IncomingMessage, response: ServerResponse): void;
  /** Throws when the body of a request is late or its connection is closing. */
  check(request: IncomingMessage): void;
}

/** Limits the time of requests. Takes responses, so that it covers every socket the server listens on. */
export function boundSlowRequests(timeouts: Timeouts): SlowRequests {
  const late = new WeakSet<IncomingMessage>();
  const closing = new WeakSet<Socket>();
  return {
    watch(request, response) {
      if (!hasBody(request)) return;
      const { socket } = request;
      // The stream's reader gets the error below; without a reader it would be unhandled.
      request.on('error', () => {});
      const timer = watchBody(request, timeouts, () => {
        late.add(request);
        // Destroying the stream would destroy the connection, and the response with it.
        request.emit('error', tooLate());
      });
      const close = () => {
        if (closing.has(socket)) return;
        closing.add(socket);
        // A form's parser may have left the stream paused.
        request.unpipe().resume();
        closeGently(socket, timeouts.lingerMs);
      };
      response.once('prefinish', () => {
        // Node calls this itself after a response with `Connection: close`.
        if (!request.complete) socket.destroySoon = close;
      });
      response.once('finish', () => {
        if (!request.complete) close();
      });
      response.once('close', () => clearInterval(timer));
    },
    check(request) {
      if (late.has(request)) throw tooLate();
      // Sent after a request that was refused: no response could arrive.
      if (closing.has(request.socket)) throw refuse('connection-closing');
    },
  };
}
