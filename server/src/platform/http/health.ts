import { access } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Database } from '../database/pool.ts';
import type { Storage } from '../storage/storage.ts';
import type { Departure } from './departure.ts';
import { refuseMethods } from './methods.ts';
import { refuse } from './refuse.ts';

/**
 * `GET /healthz`: the process is up. `GET /readyz`: database, storage and jobs can be used, and the process was not told
 * to stop (choices, general).
 */
export function serveHealth(
  server: FastifyInstance,
  db: Database,
  storage: Storage,
  departure: Departure,
): void {
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (request) => {
    if (departure.announced) throw refuse(503, 'shutting down');
    try {
      await sql`select from graphile_worker.jobs limit 1`.execute(db);
      await access(storage.incomingDir);
    } catch (error) {
      request.log.warn({ err: error }, 'not ready');
      throw refuse(503, 'not ready', { 'retry-after': '2' });
    }
    return { status: 'ready' };
  });
  for (const path of ['/healthz', '/readyz']) refuseMethods(server, path, ['GET']);
}
