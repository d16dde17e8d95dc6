import type pg from 'pg';
import { type DatabasePool, openPool, openPoolerPool } from '../../src/platform/database/pool.ts';
import { haproxy, startHaProxy } from './haproxy.ts';
import { pgbouncer, startPgBouncer } from './pgbouncer.ts';

/** `npm run test:cluster`: every library of a test is served by several services on common infrastructure. */
const isClustered = process.env.VITRINE_TEST_CLUSTER === '1';

const SERVICES = 3;
/** Fewer server connections than the services have clients, so that transactions change sessions. */
const SERVER_CONNECTIONS = 4;

/** What stands between a library's services, their clients and their database. */
export interface Infrastructure {
  /** The number of services besides the first. */
  others: number;
  openDatabase(connections: number): DatabasePool;
  /** Returns the address at which clients reach the services that listen at these addresses. */
  publish(addresses: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** One service that clients and the database reach directly. */
function alone(settings: pg.ClientConfig): Infrastructure {
  return {
    others: 0,
    openDatabase: (connections) => openPool(settings, connections),
    publish: async ([address = '']) => address,
    stop: async () => {},
  };
}

/**
 * Returns what the tests ask for: one service, or with `test:cluster` three behind HAProxy as deployed, whose
 * consecutive requests reach different services, on a database behind PgBouncer with transaction pooling.
 */
export async function openInfrastructure(settings: pg.ClientConfig): Promise<Infrastructure> {
  if (!isClustered) return alone(settings);
  if (haproxy === null || pgbouncer === null) throw new Error('test:cluster needs haproxy and pgbouncer');
  const bouncer = await startPgBouncer(settings, { default_pool_size: String(SERVER_CONNECTIONS) });
  const stops = [bouncer.stop];
  return {
    others: SERVICES - 1,
    openDatabase: (connections) =>
      openPoolerPool(bouncer.settings, settings, { pooler: connections, direct: connections }),
    async publish(addresses) {
      const proxy = await startHaProxy(addresses.map((address) => Number(new URL(address).port)));
      stops.push(proxy.stop);
      await Promise.all(addresses.map((_, at) => proxy.untilUp(at)));
      return proxy.address;
    },
    async stop() {
      for (const stop of stops.reverse()) await stop();
    },
  };
}
