import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { refuse } from './refuse.ts';

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  /** For the head of a request, from the opening of the connection or the end of the request before. */
  headMs: number;
  /** For a whole body that is not an upload. */
  bodyMs: number;
  /** Without a byte of a form or a part of a file, which may be of any size. */
  uploadIdleMs: number;
  /** To read the answer, once a connection is closed on a request that was not read to its end. */
  lingerMs: number;
}

export const usualTimeouts: Timeouts = {
  headMs: 20_000,
  bodyMs: 30_000,
  uploadIdleMs: 60_000,
  lingerMs: 2000,
};

/** How many times progress is looked at in the time a body has. */
const LOOKS = 6;

/** Whether the head of a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Whether the body is a multipart form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return /^\s*multipart\/form-data/i.test(headers['content-type'] ?? '');
}

/** Whether the body is a part of a file that is uploaded by tus. */
export function isFilePart({ headers }: IncomingMessage): boolean {
  return /^\s*application\/offset\+octet-stream/i.test(headers['content-type'] ?? '');
}

/** Whether some of the announced body has not arrived. */
export function isHalfSent(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete;
}

/**
 * Ends a connection on which the client is still sending. Closing it at once would make the system send a reset,
 * which can take the answer away from a client that has not read it; so what comes is dropped for `ms`.
 */
export function closeGently(socket: Socket, ms: number): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
}

function tooLate() {
  return refuse(408, 'the body did not arrive in time');
}

/** Calls `onTimeout` each time the body is found to be late, until it is complete or the answer is done. */
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
   * Gives the body of a request the time it has, and closes the connection after an answer to a request that was not
   * read to its end.
   */
  watch(request: IncomingMessage, response: ServerResponse): void;
  /** Throws when the body of a request is late or its connection is being closed. */
  check(request: IncomingMessage): void;
}

/** Bounds the time of requests. A function of responses, so that it counts for each socket the server listens on. */
export function boundSlowRequests(timeouts: Timeouts): SlowRequests {
  const late = new WeakSet<IncomingMessage>();
  const closing = new WeakSet<Socket>();
  return {
    watch(request, response) {
      if (!hasBody(request)) return;
      const { socket } = request;
      // The stream's reader gets the error below; before it has a reader, the error would be unhandled.
      request.on('error', () => {});
      const timer = watchBody(request, timeouts, () => {
        late.add(request);
        // Destroying the stream would destroy the connection, and the answer with it.
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
        // What the server calls itself after an answer with `Connection: close`.
        if (!request.complete) socket.destroySoon = close;
      });
      response.once('finish', () => {
        if (!request.complete) close();
      });
      response.once('close', () => clearInterval(timer));
    },
    check(request) {
      if (late.has(request)) throw tooLate();
      // Sent behind a request that was refused: no answer would arrive any more.
      if (closing.has(request.socket)) throw refuse(400, 'the connection is being closed');
    },
  };
}
