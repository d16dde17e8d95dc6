import { foldName } from '@vitrine/contract/names';
import { mostTags } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { registerTags, storedTags } from '../../../core/tag-register.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { type Changed, changeRows, type ReadRow, type RowAction } from '../rows.ts';
import { type Action, changedSince, refused, type Step, type UndoRecord, unchanged } from '../step.ts';
import { isSameSet, presentNames, tooManyTags } from './tag-lists.ts';

interface PostTags extends ReadRow {
  tags: string[];
  now: string;
}

/** The tags before and after the change, and its time. */
interface TagRecord {
  at: string;
  before: readonly string[];
  after: readonly string[];
}

/** Only this module writes records of its actions. */
const recordOf = (record: UndoRecord | null) => record as unknown as TagRecord;

async function writeTags(tx: Tx, changed: readonly Changed<PostTags>[]): Promise<void> {
  const lists = changed.map(({ row, record }) => ({ id: row.id, tags: recordOf(record).after }));
  await sql`update posts p set updated_at = ${nextUpdatedAt},
      tags = array(select jsonb_array_elements_text(r.tags))
    from jsonb_to_recordset(${JSON.stringify(lists)}::jsonb) as r (id uuid, tags jsonb) where p.id = r.id`.execute(
    tx,
  );
}

/** The parts that all changes of tags share. */
function taggedPosts({ tx }: Step, judge: RowAction<PostTags>['judge']): RowAction<PostTags> {
  return {
    subject: 'post',
    columns: sql`p.tags, now() as now`,
    judge,
    write: (changed) => writeTags(tx, changed),
    edited: ['tags'],
  };
}

/** Adds these tags to posts that lack them, after the others. */
export function addTagsToPosts(tags: readonly string[]): Action {
  return async (step) => {
    const names = step.isDryRun ? await storedTags(step.tx, tags) : await registerTags(step.tx, tags);
    return changeRows(
      step,
      taggedPosts(step, ({ tags: before, now: at }) => {
        const after = [...before, ...names.filter((name) => !before.includes(name))];
        if (after.length === before.length) return unchanged;
        return after.length > mostTags
          ? refused(tooManyTags)
          : { outcome: 'changed', record: { at, before, after } };
      }),
    );
  };
}

/** Removes these tags from posts that have them. */
export function removeTagsFromPosts(tags: readonly string[]): Action {
  const keys = new Set(tags.map(foldName));
  return (step) =>
    changeRows(
      step,
      taggedPosts(step, ({ tags: before, now: at }) => {
        const after = before.filter((tag) => !keys.has(foldName(tag)));
        return after.length === before.length
          ? unchanged
          : { outcome: 'changed', record: { at, before, after } };
      }),
    );
}

const formerOf = ({ before, at }: TagRecord) => ({ tags: before, at });

/** Undoes either. */
export const undoTagsOfPosts: Action = async (step) => {
  const former = step.items.map(({ record }) => formerOf(recordOf(record)));
  const presentOf = await presentNames(step.tx, former);
  return changeRows(
    step,
    taggedPosts(step, ({ tags, now: at }, record) => {
      const { after, ...before } = recordOf(record);
      if (!isSameSet(tags, after)) return changedSince;
      return {
        outcome: 'changed',
        record: { at, before: after, after: [...new Set(presentOf(formerOf({ after, ...before })))] },
      };
    }),
  );
};
