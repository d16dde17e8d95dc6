import {
  type FederationRejection,
  listFederationRejections,
  listPeerQueue,
  type QueuedChange,
  retryPeerQueue,
} from '@vitrine/contract/federation';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import { handle } from '../../core/handle.ts';
import { wakeDelivery } from '../../core/outbox/enqueue.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { refCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT, newestFirst } from '../../platform/http/page.ts';
import { sayStored } from '../../platform/language/sentence.ts';
import { readPeer } from './peers/show.ts';

/** Lists pending, recently sent and abandoned changes of a peer, newest first. */
export const list = handle(listPeerQueue, async ({ db }, { caller, params, query, http }) => {
  const language = readerLanguage(caller, http);
  const peer = await readPeer(db, language, params.id);
  const limit = query.limit ?? DEFAULT_LIMIT;
  const before = refCursor.read(query.cursor)?.ref ?? Number.MAX_SAFE_INTEGER;
  const { rows } = await sql<
    Static<typeof QueuedChange>
  >`select seq, activity, kind, object_id, status, attempts, last_error,
      case when status = 'queued' then next_attempt_at end as next_attempt_at, created_at
    from federation_outbox where peer_id = ${peer.id} and seq < ${before} order by seq desc limit ${limit + 1}`.execute(
    db,
  );
  const page = cutPage(rows, limit, (last) => refCursor.after({ ref: last.seq }));
  const items = page.items.map((row) => ({
    ...row,
    last_error: row.last_error === null ? null : sayStored(language, row.last_error),
  }));
  return { status: 200, body: { ...page, items } };
});

/** Requeues abandoned changes and retries all pending ones immediately. */
export const retry = handle(retryPeerQueue, async ({ db }, { caller, params, http }) => {
  const peer = await readPeer(db, readerLanguage(caller, http), params.id);
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('federation_outbox')
      .set({
        status: 'queued',
        next_attempt_at: sql<string>`now()`,
        attempts: 0,
        created_at: sql<string>`now()`,
      })
      .where('peer_id', '=', peer.id)
      .where('status', 'in', ['failed', 'queued'])
      .execute();
    await wakeDelivery(tx, [peer.id]);
  });
  return { status: 204 };
});

/** Envelopes and requests that were refused, newest first. */
export const rejections = handle(listFederationRejections, async ({ db }, { query }) => {
  const page = newestFirst(query, 'r.received_at', 'r.id');
  const { rows } = await sql<
    Static<typeof FederationRejection>
  >`select r.id, r.peer_id, r.instance_url, r.activity_uri, r.type, r.reason,
      r.detail, r.received_at from federation_rejections r where ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, (row) => ({ at: row.received_at, id: row.id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});
