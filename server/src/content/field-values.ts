import * as contract from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import { readableAssets } from '../access/assets.ts';
import type { Caller, SignedIn } from '../access/caller.ts';
import { type Handler, handle } from '../core/handle.ts';
import { notifyPeers } from '../core/outbox/enqueue.ts';
import { readerLanguage } from '../core/reader-language.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { notFound } from '../platform/http/refuse.ts';
import { lockEditable } from './assets/edit.ts';
import { checkOpen, lockCollection } from './collections/lock.ts';
import { readHistory, showValues } from './fields/values/show.ts';
import type { Subject } from './fields/values/store.ts';
import { clearValue, onlyValue, type Target, writeValue } from './fields/values/write.ts';

async function checkReadable(db: Database, caller: Caller, { kind, id }: Subject): Promise<void> {
  if (kind === 'collection') return checkOpen(db, caller, id);
  const { rows } = await sql`select from assets a where a.id = ${id} and ${readableAssets(caller)}`.execute(
    db,
  );
  if (rows.length === 0) throw notFound();
}

async function lock(tx: Tx, caller: SignedIn, subject: Subject): Promise<Target> {
  const lockSubject = subject.kind === 'asset' ? lockEditable : lockCollection;
  const { updated_at: updatedAt, owner } = await lockSubject(tx, caller, subject.id);
  return { subject, updatedAt, owner };
}

type Kind = Subject['kind'];

const subjectOf = (kind: Kind, id: string): Subject => ({ kind, id });

/** 404 when the caller cannot read the subject. An empty list when the caller sees only an asset's placeholder. */
function list(kind: Kind): Handler<typeof contract.listAssetFieldValues> {
  return async ({ db }, { caller, params, http }) => {
    const subject = subjectOf(kind, params.id);
    await checkReadable(db, caller, subject);
    const items = await showValues(db, caller, subject, { language: readerLanguage(caller, http) });
    return { status: 200, body: { items } };
  };
}

/** Requires the right to edit the subject and the field's write capability. */
function set(kind: Kind): Handler<typeof contract.setAssetFieldValue> {
  return async ({ db }, { caller, params, body, http }) => {
    const shown = await db.transaction().execute(async (tx) => {
      const target = await lock(tx, caller, subjectOf(kind, params.id));
      await writeValue(tx, caller, target, params.field_id, body);
      await notifyPeers(tx, { activity: 'update', kind, objectId: target.subject.id, actorRef: caller.ref });
      const which = { fieldId: params.field_id, language: readerLanguage(caller, http) };
      return onlyValue(await showValues(tx, caller, target.subject, which));
    });
    return { status: 200, body: shown };
  };
}

function clear(kind: Kind): Handler<typeof contract.clearAssetFieldValue> {
  return async ({ db }, { caller, params, body }) => {
    await db.transaction().execute(async (tx) => {
      const target = await lock(tx, caller, subjectOf(kind, params.id));
      await clearValue(tx, caller, target, params.field_id, body ?? {});
      await notifyPeers(tx, { activity: 'update', kind, objectId: target.subject.id, actorRef: caller.ref });
    });
    return { status: 204 };
  };
}

function history(kind: Kind): Handler<typeof contract.listAssetFieldHistory> {
  return async ({ db }, { caller, params, query }) => {
    const subject = subjectOf(kind, params.id);
    await checkReadable(db, caller, subject);
    return { status: 200, body: await readHistory(db, caller, subject, params.field_id, query) };
  };
}

export const listOfAsset = handle(contract.listAssetFieldValues, list('asset'));
export const setOfAsset = handle(contract.setAssetFieldValue, set('asset'));
export const clearOfAsset = handle(contract.clearAssetFieldValue, clear('asset'));
export const historyOfAsset = handle(contract.listAssetFieldHistory, history('asset'));
export const listOfCollection = handle(contract.listCollectionFieldValues, list('collection'));
export const setOfCollection = handle(contract.setCollectionFieldValue, set('collection'));
export const clearOfCollection = handle(contract.clearCollectionFieldValue, clear('collection'));
export const historyOfCollection = handle(contract.listCollectionFieldHistory, history('collection'));
