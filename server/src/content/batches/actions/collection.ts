import { mostPosts } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import { arrangedPosts } from '../../../access/collections.ts';
import { notifyPeers } from '../../../core/outbox/enqueue.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { lockCollection } from '../../collections/lock.ts';
import { appendLocked, takeOut } from '../../collections/place.ts';
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

/** The place of a post in the collection; nulls if it is not there. */
interface PlaceRow extends ReadRow {
  position: number | null;
  added_by: number | null;
  added_at: string | null;
}

/** Acts on the places of posts that an editor of the collection can name. */
function placesIn(
  collectionId: string,
  judge: RowAction<PlaceRow>['judge'],
  write: RowAction<PlaceRow>['write'],
): RowAction<PlaceRow> {
  return {
    subject: 'post',
    columns: sql`cp.position, cp.added_by, cp.added_at`,
    joins: sql`left join collection_posts cp on cp.post_id = p.id and cp.collection_id = ${collectionId}`,
    allowed: arrangedPosts,
    judge,
    write,
    edited: null,
    notifies: false,
  };
}

async function notifyOf({ tx, caller }: Step, id: string): Promise<void> {
  await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
}

async function countPosts({ tx }: Step, id: string): Promise<number> {
  const { rows } = await sql<{ size: number }>`select count(*) as size from collection_posts
    where collection_id = ${id}`.execute(tx);
  return rows[0]?.size ?? 0;
}

/** Appends posts to a collection, as long as it has room. */
export function addToCollection(collectionId: string): Action {
  return async (step) => {
    const { tx, caller } = step;
    const { id } = await lockCollection(tx, caller, collectionId);
    let room = mostPosts - (await countPosts(step, id));
    return changeRows(
      step,
      placesIn(
        id,
        ({ position }) => {
          if (position !== null) return unchanged;
          if (room === 0) return refused(refuse('collection-full', { max: mostPosts }).message);
          room -= 1;
          return { outcome: 'changed', record: {} };
        },
        async (changed) => {
          await notifyOf(step, id);
          for (const { row } of changed) await appendLocked(tx, caller, id, row.id);
        },
      ),
    );
  };
}

/** Takes out the posts that changed, and notifies the collection's peers. */
async function takeOutEach(step: Step, id: string, changed: readonly Changed<PlaceRow>[]): Promise<void> {
  await takeOut(
    step.tx,
    id,
    changed.map(({ row }) => row.id),
  );
  await notifyOf(step, id);
}

const placeOf = ({ position, added_by, added_at }: PlaceRow): UndoRecord => ({
  position,
  added_by,
  added_at,
});

/** Takes posts out of a collection; `absent` is the outcome for a post that is not there. */
function takingOut(collectionId: string, absent: Outcome): Action {
  return async (step) => {
    const { id } = await lockCollection(step.tx, step.caller, collectionId);
    return changeRows(
      step,
      placesIn(
        id,
        (row) => (row.position === null ? absent : { outcome: 'changed', record: placeOf(row) }),
        (changed) => takeOutEach(step, id, changed),
      ),
    );
  };
}

/** Takes posts out of a collection. */
export const removeFromCollection = (collectionId: string): Action => takingOut(collectionId, unchanged);

/** Takes out what the batch has added. */
export const undoAdd = (collectionId: string): Action => takingOut(collectionId, changedSince);

/** Returns posts to the places from which the batch has taken them. */
export function undoRemove(collectionId: string): Action {
  return async (step) => {
    const { tx, caller } = step;
    const { id } = await lockCollection(tx, caller, collectionId);
    return changeRows(
      step,
      placesIn(
        id,
        ({ position }, record) =>
          position === null ? { outcome: 'changed', record: record ?? {} } : changedSince,
        async (changed) => {
          await notifyOf(step, id);
          for (const { row } of changed) await appendLocked(tx, caller, id, row.id);
          const places = changed.map(({ row, record }) => ({ ...record, post_id: row.id }));
          await sql`update collection_posts cp
            set position = r.position, added_by = r.added_by, added_at = r.added_at
            from jsonb_to_recordset(${JSON.stringify(places)}::jsonb)
              as r (post_id uuid, position bigint, added_by bigint, added_at timestamptz)
            where cp.collection_id = ${id} and cp.post_id = r.post_id`.execute(tx);
        },
      ),
    );
  };
}
