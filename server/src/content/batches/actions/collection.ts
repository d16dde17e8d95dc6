import { type CollectionItem, mostItems } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import { arrangedPosts, filesShown } from '../../../access/collections.ts';
import { notifyPeers } from '../../../core/outbox/enqueue.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { itemTables } from '../../collections/items.ts';
import { type LockedCollection, lockItems } from '../../collections/lock.ts';
import { appendFiles, appendPosts, countItems, recordItems, takeOut } from '../../collections/place.ts';
import { type Changed, changeRows, type ReadRow, type RowAction } from '../rows.ts';
import {
  type Action,
  changedSince,
  type Outcome,
  refused,
  type Step,
  type UndoRecord,
  unchanged,
} from '../step.ts';

type Kind = CollectionItem['kind'];

/** The place of an item in the collection; nulls if it is not there. */
interface PlaceRow extends ReadRow {
  position: number | null;
  added_by: number | null;
  added_at: string | null;
  now: string;
}

/** The row of each kind, as rules name it, and those that an editor of the collection can name. */
const kinds = {
  post: { row: sql`p.id`, allowed: arrangedPosts },
  asset: { row: sql`a.id`, allowed: filesShown },
} as const;

/** Acts on the places of items that an editor of the collection can name. */
function placesIn(
  kind: Kind,
  collectionId: string,
  judge: RowAction<PlaceRow>['judge'],
  write: RowAction<PlaceRow>['write'],
): RowAction<PlaceRow> {
  const { table, id } = itemTables[kind];
  return {
    subject: kind,
    columns: sql`placed.position, placed.added_by, placed.added_at, now()::timestamptz(3) as now`,
    joins: sql`left join (select ${id} as item_id, position, added_by, added_at from ${table}
      where collection_id = ${collectionId}) placed on placed.item_id = ${kinds[kind].row}`,
    allowed: kinds[kind].allowed,
    // A placeholder cannot be placed, as if it did not exist (COLLECTION-21).
    notAllowed: notFound().sentence,
    judge,
    write,
    edited: null,
    notifies: false,
  };
}

/** Records the change of the collection, and notifies its peers. */
async function notifyOf({ tx, caller }: Step, kind: Kind, locked: LockedCollection): Promise<void> {
  const { id } = locked;
  await recordItems(tx, caller, locked);
  // Peers are not given the files of a collection.
  if (kind === 'post')
    await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
}

async function appendEach(
  step: Step,
  kind: Kind,
  locked: LockedCollection,
  changed: readonly Changed<PlaceRow>[],
): Promise<void> {
  const { tx, caller } = step;
  const { id } = locked;
  await notifyOf(step, kind, locked);
  const ids = changed.map(({ row }) => row.id);
  if (kind === 'asset') await appendFiles(tx, caller, id, ids);
  else await appendPosts(tx, caller, id, ids);
}

/** Appends items to a collection in the order of the batch, as long as it has room. */
export function addToCollection(kind: Kind, collectionId: string): Action {
  return async (step) => {
    const { tx, caller, items } = step;
    const locked = await lockItems(tx, caller, collectionId);
    const { id } = locked;
    let room = mostItems - (await countItems(tx, id));
    const turns = new Map(items.map((item) => [item.id, item.position]));
    const turnOf = ({ row }: Changed<PlaceRow>) => turns.get(row.id) ?? 0;
    return changeRows(
      step,
      placesIn(
        kind,
        id,
        ({ position, now }) => {
          if (position !== null) return unchanged;
          if (room === 0) return refused(refuse('collection-full', { max: mostItems }).sentence);
          room -= 1;
          return { outcome: 'changed', record: { added_at: now } };
        },
        (changed) =>
          appendEach(
            step,
            kind,
            locked,
            changed.toSorted((a, b) => turnOf(a) - turnOf(b)),
          ),
      ),
    );
  };
}

/** Takes out the items that changed, and notifies the collection's peers. */
async function takeOutEach(
  step: Step,
  kind: Kind,
  locked: LockedCollection,
  changed: readonly Changed<PlaceRow>[],
): Promise<void> {
  await takeOut(
    step.tx,
    locked.id,
    kind,
    changed.map(({ row }) => row.id),
  );
  await notifyOf(step, kind, locked);
}

/** Returns the place of an item, with the focal point if it is the cover of the collection. */
function placeOf(locked: LockedCollection, { id, position, added_by, added_at }: PlaceRow): UndoRecord {
  const place = { position, added_by, added_at };
  if (id !== locked.cover_post_id) return place;
  const { cover_focal_x, cover_focal_y, cover_focal_asset_id } = locked;
  return { ...place, cover: { cover_focal_x, cover_focal_y, cover_focal_asset_id } };
}

type FocalPoint = Pick<LockedCollection, 'cover_focal_x' | 'cover_focal_y' | 'cover_focal_asset_id'>;

/** Makes the item that was the cover the cover again, unless the collection has one. */
async function returnCover(tx: Tx, id: string, changed: readonly Changed<PlaceRow>[]): Promise<void> {
  const former = changed.find(({ record }) => 'cover' in record);
  if (former === undefined) return;
  await tx
    .updateTable('collections')
    // Only `placeOf` writes it.
    .set({ ...(former.record.cover as FocalPoint), cover_post_id: former.row.id })
    .where('id', '=', id)
    .where('cover_post_id', 'is', null)
    .execute();
}

/** Takes items out of a collection; `unless` returns the outcome for one that stays. */
function takingOut(
  kind: Kind,
  collectionId: string,
  unless: (row: PlaceRow, record: UndoRecord | null) => Outcome | null,
): Action {
  return async (step) => {
    const locked = await lockItems(step.tx, step.caller, collectionId);
    return changeRows(
      step,
      placesIn(
        kind,
        locked.id,
        (row, record) => unless(row, record) ?? { outcome: 'changed', record: placeOf(locked, row) },
        (changed) => takeOutEach(step, kind, locked, changed),
      ),
    );
  };
}

/** Takes items out of a collection. */
export const removeFromCollection = (kind: Kind, collectionId: string): Action =>
  takingOut(kind, collectionId, ({ position }) => (position === null ? unchanged : null));

/** Takes out what the batch added, unless it was taken out since, even if it was added again. */
export const undoAdd = (kind: Kind, collectionId: string): Action =>
  takingOut(kind, collectionId, ({ added_at }, record) =>
    added_at === null || added_at !== record?.added_at ? changedSince : null,
  );

/** Returns items to the places from which the batch has taken them. */
export function undoRemove(kind: Kind, collectionId: string): Action {
  return async (step) => {
    const { tx, caller } = step;
    const locked = await lockItems(tx, caller, collectionId);
    const { id } = locked;
    const { table, id: column } = itemTables[kind];
    return changeRows(
      step,
      placesIn(
        kind,
        id,
        ({ position }, record) =>
          position === null ? { outcome: 'changed', record: record ?? {} } : changedSince,
        async (changed) => {
          await appendEach(step, kind, locked, changed);
          const places = changed.map(({ row, record }) => ({ ...record, item_id: row.id }));
          await sql`update ${table} placed
            set position = r.position, added_by = r.added_by, added_at = r.added_at
            from jsonb_to_recordset(${JSON.stringify(places)}::jsonb)
              as r (item_id uuid, position bigint, added_by bigint, added_at timestamptz)
            where placed.collection_id = ${id} and placed.${column} = r.item_id`.execute(tx);
          await returnCover(tx, id, changed);
        },
      ),
    );
  };
}
