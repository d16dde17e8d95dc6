import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Whether this process was asked to stop. Set once; readiness and responses depend on it. */
export interface StopState {
  announced: boolean;
}

const CLEAR_EVERY_MS = 250;
/** How long a new connection may take to send its first byte once the server no longer accepts others. */
const FIRST_BYTE_WITHIN_MS = 500;

/**
 * Closes each connection once it is idle, one that never sent anything after a short delay, and every one after
 * `limitMs`. Requests in progress finish within that time.
 */
function clearConnections(server: Server, sockets: ReadonlySet<Socket>, limitMs: number): void {
  const began = performance.now();
  const timer = setInterval(() => {
    const passed = performance.now() - began;
    if (passed > limitMs) server.closeAllConnections();
    // A response that began before the stop did not announce that its connection would close.
    else server.closeIdleConnections();
    if (passed < FIRST_BYTE_WITHIN_MS) return;
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, CLEAR_EVERY_MS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

/**
 * Lets the server stop without failing requests: once the stop is announced every response closes its connection, and
 * when the server closes, requests in progress finish within `limitMs`.
 */
export function stopGracefully(server: FastifyInstance, stop: StopState, limitMs: number): void {
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.addHook('onSend', async (_, reply) => {
    if (stop.announced) reply.header('connection', 'close');
  });
  server.addHook('preClose', async () => {
    stop.announced = true;
    clearConnections(server.server, sockets, limitMs);
    // Right after the event loop has read its sockets, no connection with an unread request looks idle.
    await nextTurn();
  });
}
