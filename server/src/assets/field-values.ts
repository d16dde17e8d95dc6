import {
  clearAssetFieldValue,
  listAssetFieldHistory,
  listAssetFieldValues,
  setAssetFieldValue,
} from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import { readableAssets } from '../access/assets.ts';
import { readHistory, showValues } from '../fields/values/show.ts';
import type { Subject } from '../fields/values/store.ts';
import { clearValue, theOne, writeValue } from '../fields/values/write.ts';
import { handle } from '../handle.ts';
import { notFound } from '../platform/http/refuse.ts';
import { lockEditable } from './edit.ts';

function assetSubject(id: string): Subject {
  return { kind: 'asset', id: id.toLowerCase() };
}

/** 404 when the caller cannot read the asset. An empty list when the caller sees only its placeholder. */
export const listAssetValues = handle(listAssetFieldValues, async ({ db }, { caller, params }) => {
  const { rows } =
    await sql`select from assets a where a.id = ${params.id} and ${readableAssets(caller)}`.execute(db);
  if (rows.length === 0) throw notFound();
  return { status: 200, body: { items: await showValues(db, caller, assetSubject(params.id)) } };
});

/** Requires the right to edit the asset and the field's write capability. */
export const setAssetValue = handle(setAssetFieldValue, async ({ db }, { caller, params, body }) => {
  const subject = assetSubject(params.id);
  const shown = await db.transaction().execute(async (tx) => {
    const { updated_at: updatedAt } = await lockEditable(tx, caller, params.id);
    await writeValue(tx, caller, { subject, updatedAt }, params.field_id, body);
    return theOne(await showValues(tx, caller, subject, params.field_id));
  });
  return { status: 200, body: shown };
});

export const clearAssetValue = handle(clearAssetFieldValue, async ({ db }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const { updated_at: updatedAt } = await lockEditable(tx, caller, params.id);
    await clearValue(
      tx,
      caller,
      { subject: assetSubject(params.id), updatedAt },
      params.field_id,
      body ?? {},
    );
  });
  return { status: 204 };
});

export const listAssetHistory = handle(listAssetFieldHistory, async ({ db }, { caller, params, query }) => {
  const { rows } =
    await sql`select from assets a where a.id = ${params.id} and ${readableAssets(caller)}`.execute(db);
  if (rows.length === 0) throw notFound();
  const page = await readHistory(db, caller, assetSubject(params.id), params.field_id, query);
  return { status: 200, body: page };
});
