import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { Database } from '../database/pool.ts';
import type { Replica } from '../database/replica.ts';
import { hasRoom } from '../storage/room.ts';
import type { Storage } from '../storage/storage.ts';
import type { StopState } from './graceful-stop.ts';
import { refuseMethods } from './methods.ts';
import { refuse } from './refuse.ts';

type Outcome = 'ok' | 'cannot be used' | 'the disk is full';

async function outcomeOf(
  request: FastifyRequest,
  check: string,
  use: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await use();
  } catch (error) {
    request.log.warn({ err: error, check }, 'not ready');
    return 'cannot be used';
  }
}

/** Which telemetry this process has. */
export interface Telemetry {
  metrics: 'on' | 'off';
  traces: 'on' | 'off';
}

/**
 * `GET /healthz`: the process is up. `GET /readyz`: database, storage and jobs work, files can be stored, and the
 * process was not asked to stop (HTTP-33); the response has the outcome of each check and the telemetry in use. A
 * replica that is not used does not make the process unready (REPLICA-5).
 */
export function serveHealth(
  server: FastifyInstance,
  { db, storage, replica }: { db: Database; storage: Storage; replica: Replica | null },
  stop: StopState,
  telemetry: Telemetry,
): void {
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (request, reply) => {
    if (stop.announced) throw refuse('shutting-down');
    const [database, disk] = await Promise.all([
      outcomeOf(request, 'database', async () => {
        await sql`select from graphile_worker.jobs limit 1`.execute(db);
        return 'ok';
      }),
      outcomeOf(request, 'storage', async () => {
        await storage.checkReady();
        return (await hasRoom(storage)) ? 'ok' : 'the disk is full';
      }),
    ]);
    const checks = {
      database,
      storage: disk,
      ...(replica === null ? {} : { replica: replica.state().usable ? 'ok' : 'not used' }),
    };
    if (database === 'ok' && disk === 'ok') return { status: 'ready', checks, telemetry };
    const { status, headers, body } = refuse('not-ready', {}, { 'retry-after': '2' });
    return reply
      .code(status)
      .headers(headers)
      .send({ ...body, checks, telemetry });
  });
  for (const path of ['/healthz', '/readyz']) refuseMethods(server, path, ['GET']);
}
