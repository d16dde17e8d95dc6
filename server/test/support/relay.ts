import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { listen } from './listen.ts';

/** A network between a client and a server, which can fail. */
export interface Relay {
  port: number;
  /** Resets every connection, also new ones, until `restore`. */
  cut(): void;
  /** Passes nothing on and closes nothing until `restore`, so that neither end notices. */
  stall(): void;
  /** Forgets the connections of a stall, as a firewall does: neither end hears from the other again. */
  lose(): void;
  /** Ends the server's side of forgotten connections, as its keepalives do on a real network. */
  endLost(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Relays the connections of a local port to the target that `target` returns at that time. */
export async function openRelay(target: () => NetConnectOpts): Promise<Relay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  /** Connections that were made while nothing is passed on. */
  const held = new Set<Socket>();
  /** Connections whose ends hear nothing from each other again. */
  const lost = new Set<readonly [Socket, Socket]>();
  let state: 'open' | 'cut' | 'stalled' = 'open';

  const join = (socket: Socket) => {
    const onward = connect(target());
    const pair = [socket, onward] as const;
    pairs.add(pair);
    for (const [one, other] of [pair, [onward, socket] as const]) {
      one.on('error', () => {});
      one.on('close', () => {
        if (lost.has(pair)) return;
        pairs.delete(pair);
        other.destroy();
      });
    }
    flow(pair);
  };
  const flow = ([socket, onward]: readonly [Socket, Socket]) => {
    socket.pipe(onward);
    onward.pipe(socket);
  };
  const reset = (socket: Socket) => {
    socket.on('error', () => {});
    socket.resetAndDestroy();
  };

  const server = createServer({ pauseOnConnect: true }, (socket) => {
    if (state === 'cut') return reset(socket);
    if (state === 'open') return join(socket);
    socket.on('error', () => {});
    held.add(socket);
  });
  return {
    port: await listen(server),
    cut() {
      state = 'cut';
      // The server behind the relay sees its connections end; a unix socket has no reset.
      for (const [socket] of pairs) reset(socket);
    },
    stall() {
      state = 'stalled';
      for (const [socket, onward] of pairs) {
        socket.unpipe().pause();
        onward.unpipe().pause();
      }
    },
    lose() {
      for (const pair of pairs) lost.add(pair);
      pairs.clear();
    },
    endLost() {
      for (const [, onward] of lost) onward.destroy();
    },
    restore() {
      const stalled = state === 'stalled';
      state = 'open';
      if (stalled) for (const pair of pairs) flow(pair);
      for (const socket of held) join(socket);
      held.clear();
    },
    async close() {
      for (const socket of [...held, ...[...pairs, ...lost].flat()]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
