import pg from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import { named } from './name.ts';

/** One connection of this process for LISTEN and NOTIFY. */
export interface Listener {
  /**
   * Calls `receive` with each payload on the channel; with null when the connection is first established and after every
   * reconnect, since notifications may have been lost. Returns the function that unsubscribes.
   */
  subscribe(channel: string, receive: (payload: string | null) => void): () => void;
  /** Drops a connection that no longer responds, which would otherwise look alive for hours. */
  reconnect(): void;
  close(): Promise<void>;
}

const AGAIN_AFTER_MS = 1000;
const CONNECT_WITHIN_MS = 5000;

/** Creates a listener that connects with the first subscription and reconnects when its connection breaks. */
export function openListener(settings: pg.ClientConfig): Listener {
  const subscribers = new Map<string, Set<(payload: string | null) => void>>();
  let connection: Promise<pg.Client> | null = null;
  let current: pg.Client | null = null;
  let again: NodeJS.Timeout | null = null;
  let closed = false;

  const publish = (channel: string, payload: string | null) => {
    for (const receive of subscribers.get(channel) ?? []) receive(payload);
  };

  const retry = () => {
    connection = null;
    current = null;
    if (closed || again !== null) return;
    again = setTimeout(() => {
      again = null;
      void listen().then(
        () => {
          for (const channel of subscribers.keys()) publish(channel, null);
        },
        () => {},
      );
    }, AGAIN_AFTER_MS);
    again.unref();
  };

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      ...named(settings, 'listen'),
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
    });
    current = client;
    // Without a listener a connection error would end the process.
    client.on('error', () => {});
    // A connection that was dropped earlier already has a successor.
    client.on('end', () => {
      if (current === client) retry();
    });
    client.on('notification', ({ channel, payload }) => publish(channel, payload ?? ''));
    await client.connect();
    await client.query('select pg_try_advisory_lock_shared($1)', [advisoryLocks.presence]);
    return client;
  };

  const listen = async (): Promise<void> => {
    connection ??= connect();
    try {
      const client = await connection;
      for (const channel of subscribers.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      retry();
      throw error;
    }
  };

  return {
    subscribe(channel, receive) {
      const those = subscribers.get(channel) ?? new Set();
      subscribers.set(channel, those.add(receive));
      if (!closed)
        void listen().then(
          () => receive(null),
          () => {},
        );
      return () => those.delete(receive);
    },
    reconnect() {
      current?.connection.stream.destroy();
    },
    async close() {
      closed = true;
      if (again !== null) clearTimeout(again);
      const client = await connection?.catch(() => null);
      await client?.end().catch(() => {});
    },
  };
}
