import {
  clearCollectionFieldValue,
  listCollectionFieldHistory,
  listCollectionFieldValues,
  setCollectionFieldValue,
} from '@vitrine/contract/field-values';
import { checkOpen, lockCollection } from '../../collections/lock.ts';
import { handle } from '../../platform/http/bind.ts';
import { readHistory } from './history.ts';
import { showValues } from './show.ts';
import type { Subject } from './subject.ts';
import { clearValue, theOne, writeValue } from './write.ts';

function collectionSubject(id: string): Subject {
  return { kind: 'collection', id: id.toLowerCase() };
}

/** 404 for a collection the caller may not open. */
export const list = handle(listCollectionFieldValues, async ({ db }, { caller, params }) => {
  await checkOpen(db, caller, params.id);
  return { status: 200, body: { items: await showValues(db, caller, collectionSubject(params.id)) } };
});

/** `PUT /collections/{id}/fields/{field_id}`: whoever may edit the collection, and holds what the field asks for. */
export const put = handle(setCollectionFieldValue, async ({ db }, { caller, params, body }) => {
  const subject = collectionSubject(params.id);
  const shown = await db.transaction().execute(async (tx) => {
    const { updated_at: updatedAt } = await lockCollection(tx, caller, params.id);
    await writeValue(tx, caller, { subject, updatedAt }, params.field_id, body);
    return theOne(await showValues(tx, caller, subject, params.field_id));
  });
  return { status: 200, body: shown };
});

export const clear = handle(clearCollectionFieldValue, async ({ db }, { caller, params, body }) => {
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
});

export const history = handle(listCollectionFieldHistory, async ({ db }, { caller, params, query }) => {
  await checkOpen(db, caller, params.id);
  const page = await readHistory(db, caller, collectionSubject(params.id), params.field_id, query);
  return { status: 200, body: page };
});
