import {
  clearCollectionFieldValue,
  listCollectionFieldHistory,
  listCollectionFieldValues,
  setCollectionFieldValue,
} from '@vitrine/contract/field-values';
import { readHistory, showValues } from '../fields/values/show.ts';
import type { Subject } from '../fields/values/store.ts';
import { clearValue, theOne, writeValue } from '../fields/values/write.ts';
import { handle } from '../handle.ts';
import { checkOpen, lockCollection } from './lock.ts';

function collectionSubject(id: string): Subject {
  return { kind: 'collection', id: id.toLowerCase() };
}

/** 404 when the caller cannot open the collection. */
export const listCollectionValues = handle(listCollectionFieldValues, async ({ db }, { caller, params }) => {
  await checkOpen(db, caller, params.id);
  return { status: 200, body: { items: await showValues(db, caller, collectionSubject(params.id)) } };
});

/** Requires the right to edit the collection and the field's write capability. */
export const setCollectionValue = handle(
  setCollectionFieldValue,
  async ({ db }, { caller, params, body }) => {
    const subject = collectionSubject(params.id);
    const shown = await db.transaction().execute(async (tx) => {
      const { updated_at: updatedAt } = await lockCollection(tx, caller, params.id);
      await writeValue(tx, caller, { subject, updatedAt }, params.field_id, body);
      return theOne(await showValues(tx, caller, subject, params.field_id));
    });
    return { status: 200, body: shown };
  },
);

export const clearCollectionValue = handle(
  clearCollectionFieldValue,
  async ({ db }, { caller, params, body }) => {
    await db.transaction().execute(async (tx) => {
      const { updated_at: updatedAt } = await lockCollection(tx, caller, params.id);
      await clearValue(
        tx,
        caller,
        { subject: collectionSubject(params.id), updatedAt },
        params.field_id,
        body ?? {},
      );
    });
    return { status: 204 };
  },
);

export const listCollectionHistory = handle(
  listCollectionFieldHistory,
  async ({ db }, { caller, params, query }) => {
    await checkOpen(db, caller, params.id);
    const page = await readHistory(db, caller, collectionSubject(params.id), params.field_id, query);
    return { status: 200, body: page };
  },
);
