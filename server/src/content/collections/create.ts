import { type CollectionCreate, createCollection } from '@vitrine/contract/collections';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { checkRequired, seedValues } from '../fields/values/seed.ts';
import { storedFilling } from './filling.ts';
import { showCollection } from './show.ts';

/** Creates a collection without items and returns its id. */
async function insertCollection(
  tx: Tx,
  ownerRef: number,
  body: CollectionCreate,
  query: string | null,
): Promise<string> {
  const { id } = await tx
    .insertInto('collections')
    .values({
      owner_user_ref: ownerRef,
      name: body.name,
      description: body.description ?? '',
      visibility: body.visibility ?? 'org-only',
      expires_at: body.expires_at ?? null,
      query,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export const create = handle(createCollection, async ({ db }, { caller, body }) => {
  checkInFuture('expires_at', body.expires_at ?? null);
  const collection = await db.transaction().execute(async (tx) => {
    const query = body.query == null ? null : await storedFilling(tx, caller, body.query);
    const id = await insertCollection(tx, caller.ref, body, query);
    const subject = { kind: 'collection', id } as const;
    const filled = await seedValues(tx, subject, caller.ref, { caller, values: body.field_values ?? [] });
    await checkRequired(tx, caller, subject, filled);
    return showCollection(tx, caller, id);
  });
  return { status: 201, body: collection };
});
