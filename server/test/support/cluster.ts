import type pg from 'pg';
import { inject } from 'vitest';
import { type DatabasePool, openPool, openPoolerPool } from '../../src/platform/database/pool.ts';
import { openReplica, type Replica } from '../../src/platform/database/replica.ts';
import { namedService, openBucket } from './bucket.ts';
import { haproxy, startHaProxy } from './haproxy.ts';
import { pgbouncer, startPgBouncer } from './pgbouncer.ts';

/** `npm run test:cluster`: every library of a test is served by several services on common infrastructure. */
export const isClustered = process.env.VITRINE_TEST_CLUSTER === '1';

const SERVICES = 3;
/** Tests call everything as all kinds of callers, each of whom has statements of their own. */
const PREPARED = 3000;
/** Fewer server connections than the services have clients, so that transactions change sessions. */
const SERVER_CONNECTIONS = 4;

/** The infrastructure between a library's services, their clients and their database. */
export interface Infrastructure {
  /** Settings of the storage that the services share. */
  env: Record<string, string>;
  /** The number of services besides the first. */
  others: number;
  openDatabase(connections: number): DatabasePool;
  /** Returns the connection of a service to the replica; null without one. */
  openReplica(connections: number): Replica | null;
  /** Returns the address at which clients reach the services that listen at these addresses. */
  publish(addresses: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** One service that clients and the database reach directly. */
function alone(settings: pg.ClientConfig): Infrastructure {
  return {
    env: {},
    others: 0,
    openDatabase: (connections) => openPool(settings, connections, () => {}, {}, PREPARED),
    openReplica: () => null,
    publish: async ([address = '']) => address,
    stop: async () => {},
  };
}

/**
 * Returns the infrastructure of the tests: one service, or with `test:cluster` three behind HAProxy as deployed, whose
 * consecutive requests reach different services, on a database with a replica and behind PgBouncer with transaction
 * pooling. Files are in a directory, or in a bucket of the service that TEST_S3_ENDPOINT names.
 */
export async function openInfrastructure(settings: pg.ClientConfig): Promise<Infrastructure> {
  if (!isClustered) return alone(settings);
  if (haproxy === null || pgbouncer === null) throw new Error('test:cluster needs haproxy and pgbouncer');
  const bouncer = await startPgBouncer(settings, { default_pool_size: String(SERVER_CONNECTIONS) });
  const stops = [bouncer.stop];
  const bucket = namedService === null ? null : await openBucket(namedService);
  if (bucket !== null) stops.push(bucket.close);
  return {
    env: bucket?.env ?? {},
    others: SERVICES - 1,
    openDatabase: (connections) =>
      openPoolerPool(bouncer.settings, settings, { pooler: connections, direct: connections }),
    openReplica(connections) {
      const server = inject('replica');
      if (server === null) return null;
      const replica = { ...JSON.parse(server), database: settings.database };
      return openReplica({ primary: settings, replica, connections, log: () => {} });
    },
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
