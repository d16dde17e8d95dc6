import { deleteCollection } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { withdrawCollections } from '../../core/outbox/enqueue.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { lockCollection } from './lock.ts';

/**
 * Moves a collection to the trash, with deleter and reason; its posts are unaffected. One that is already there is a
 * 404.
 */
export const remove = handle(deleteCollection, async ({ db }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const { id } = await lockCollection(tx, caller, params.id);
    await tx
      .updateTable('collections')
      .set({ deleted_at: sql`now()`, deleted_reason: body?.reason ?? null, deleted_by_user_ref: caller.ref })
      .where('id', '=', id)
      .execute();
    await withdrawCollections(tx, sql`c.id = ${id}`, sql`${caller.ref}`);
    await recordEvent(tx, caller, {
      event: 'collection.deleted',
      target: { kind: 'collection', id },
      metadata: { reason: body?.reason ?? null },
    });
  });
  return { status: 204 };
});
