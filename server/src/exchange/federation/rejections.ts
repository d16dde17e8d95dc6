import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Rejection } from './protocol/rejection.ts';

/** Limits the log under a flood of invalid requests. */
const MOST_ROWS = 10_000;

/** Entries that are already logged. */
const written = new WeakSet<Rejection>();

/** The known properties of a refused envelope. */
export interface Refused {
  peerId: string | null;
  instanceUrl: string;
  activityUri: string | null;
  type: string | null;
}

/** Logs why an envelope was refused, for the operator (FED-23). */
export async function logRefused(db: Deps['db'], rejection: Rejection, refused: Refused): Promise<void> {
  if (written.has(rejection)) return;
  written.add(rejection);
  const { reason, logged: detail } = rejection;
  await sql`with added as (
      insert into federation_rejections (peer_id, instance_url, activity_uri, type, reason, detail)
      values (${refused.peerId}, ${refused.instanceUrl.slice(0, 500)}, ${refused.activityUri?.slice(0, 500) ?? null},
        ${refused.type?.slice(0, 100) ?? null}, ${reason}, ${detail.slice(0, 1000)}))
    delete from federation_rejections where id in (
      select id from federation_rejections order by received_at desc, id desc offset ${MOST_ROWS})`.execute(
    db,
  );
}

/** Logs why a request was refused before any envelope was read. */
export async function logRejection(deps: Deps, rejection: Rejection, request: FastifyRequest): Promise<void> {
  const keyId = /keyId="([^"]{0,500})"/.exec(String(request.headers.signature ?? ''))?.[1] ?? '';
  const instanceUrl = keyId.replace(/\/federation\/instance#main-key$/, '');
  const row = await deps.db
    .selectFrom('federation_peers')
    .select('id')
    .where('instance_url', '=', instanceUrl)
    .executeTakeFirst();
  await logRefused(deps.db, rejection, {
    peerId: row?.id ?? null,
    instanceUrl,
    activityUri: null,
    type: `${request.method} ${request.url.slice(0, 80)}`,
  });
}
