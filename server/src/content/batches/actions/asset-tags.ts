import { foldName } from '@vitrine/contract/names';
import { mostTags } from '@vitrine/contract/values';
import { sql } from 'kysely';
import { registerTags, storedTags } from '../../../core/tag-register.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { changeRows, type ReadRow } from '../rows.ts';
import { type Action, changedSince, type Outcome, refused, type UndoRecord, unchanged } from '../step.ts';
import { isSameSet, presentNames, tooManyTags } from './tag-lists.ts';

/** A row of `asset_tags`, without its asset. */
interface TagRow {
  value: string;
  source: string;
  confidence: number | null;
  created_by_provider: string | null;
  created_by_model: string | null;
  position: number;
}

interface AssetTags extends ReadRow {
  tags: TagRow[];
  now: string;
}

const tagsOfAsset = sql`coalesce((select jsonb_agg(to_jsonb(t) - 'asset_id' order by t.position, t.value)
  from asset_tags t where t.asset_id = a.id), '[]') as tags, now() as now`;

const namesOf = ({ tags }: AssetTags): string[] => tags.map(({ value }) => value);

/** What a batch added and removed, the names that the asset then had, and the time. */
interface TagRecord {
  at: string;
  added: readonly string[];
  removed: readonly TagRow[];
  after: readonly string[];
}

/** Only this module writes records of its actions. */
const recordOf = (record: UndoRecord | null) => record as unknown as TagRecord;

interface Changes {
  id: string;
  record: TagRecord;
}

async function insertTags(tx: Tx, rows: readonly (TagRow & { asset_id: string })[]): Promise<void> {
  await sql`insert into asset_tags
      (asset_id, value, source, confidence, created_by_provider, created_by_model, position)
    select r.asset_id, r.value, r.source, r.confidence, r.created_by_provider, r.created_by_model, r.position
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (asset_id uuid, value text, source text,
      confidence double precision, created_by_provider text, created_by_model text, position int)
    on conflict do nothing`.execute(tx);
}

async function deleteTags(tx: Tx, rows: readonly { id: string; value: string }[]): Promise<void> {
  await sql`delete from asset_tags t
    using unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ value }) => value)}::text[]) as r (id, value)
    where t.asset_id = r.id and t.value = r.value`.execute(tx);
}

/** Adds and removes tags of locked assets. */
async function writeTags(tx: Tx, changes: readonly Changes[]): Promise<void> {
  const removed = changes.flatMap(({ id, record }) => record.removed.map(({ value }) => ({ id, value })));
  if (removed.length > 0) await deleteTags(tx, removed);
  const added = changes.flatMap(({ id, record }) =>
    record.added.map((value, index) => ({
      asset_id: id,
      value,
      source: 'manual',
      confidence: null,
      created_by_provider: null,
      created_by_model: null,
      // After all others.
      position: record.after.length - record.added.length + index,
    })),
  );
  if (added.length > 0) await insertTags(tx, added);
  await sql`update assets set updated_at = ${nextUpdatedAt}
    where id = any(${changes.map(({ id }) => id)}::uuid[])`.execute(tx);
}

/** Adds these tags to assets that lack them. */
export function addTagsToAssets(tags: readonly string[]): Action {
  return async (step) => {
    const names = step.isDryRun ? await storedTags(step.tx, tags) : await registerTags(step.tx, tags);
    return changeRows<AssetTags>(step, {
      subject: 'asset',
      columns: tagsOfAsset,
      judge(row) {
        const before = namesOf(row);
        const added = names.filter((name) => !before.includes(name));
        if (added.length === 0) return unchanged;
        const after = [...before, ...added];
        if (after.length > mostTags) return refused(tooManyTags);
        return { outcome: 'changed', record: { at: row.now, added, removed: [], after } };
      },
      write: (changed) =>
        writeTags(
          step.tx,
          changed.map(({ row, record }) => ({ id: row.id, record: recordOf(record) })),
        ),
      edited: ['tags'],
    });
  };
}

/** Removes these tags from assets that have them. */
export function removeTagsFromAssets(tags: readonly string[]): Action {
  const keys = new Set(tags.map(foldName));
  return (step) =>
    changeRows<AssetTags>(step, {
      subject: 'asset',
      columns: tagsOfAsset,
      judge(row) {
        const removed = row.tags.filter(({ value }) => keys.has(foldName(value)));
        if (removed.length === 0) return unchanged;
        const after = namesOf(row).filter((name) => !keys.has(foldName(name)));
        return { outcome: 'changed', record: { at: row.now, added: [], removed, after } };
      },
      write: (changed) =>
        writeTags(
          step.tx,
          changed.map(({ row, record }) => ({ id: row.id, record: recordOf(record) })),
        ),
      edited: ['tags'],
    });
}

const formerOf = ({ removed, at }: TagRecord) => ({ tags: removed.map(({ value }) => value), at });

/** Undoes either: removes only what was added, and returns what was removed with its origin and place. */
export const undoTagsOfAssets: Action = async (step) => {
  const presentOf = await presentNames(
    step.tx,
    step.items.map(({ record }) => formerOf(recordOf(record))),
  );
  return changeRows<AssetTags>(step, {
    subject: 'asset',
    columns: tagsOfAsset,
    judge(row, record): Outcome {
      const { added, removed, after } = recordOf(record);
      const names = presentOf(formerOf(recordOf(record)));
      if (!isSameSet(namesOf(row), after)) return changedSince;
      const rows = row.tags.filter(({ value }) => added.includes(value));
      const left = after.filter((name) => !added.includes(name));
      const restored = removed.map((tag, index) => ({ ...tag, value: names[index] ?? tag.value }));
      return {
        outcome: 'changed',
        record: {
          at: row.now,
          added: [],
          removed: rows,
          restored,
          after: [...left, ...restored.map(({ value }) => value)],
        },
      };
    },
    async write(changed) {
      const changes = changed.map(({ row, record }) => ({ id: row.id, record: recordOf(record) }));
      await writeTags(step.tx, changes);
      const restored = changed.flatMap(({ row, record }) =>
        (record.restored as readonly TagRow[]).map((tag) => ({ ...tag, asset_id: row.id })),
      );
      if (restored.length > 0) await insertTags(step.tx, restored);
    },
    edited: ['tags'],
  });
};
