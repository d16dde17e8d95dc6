import type { Batch, BatchPreview } from '@vitrine/contract/batches';
import { locale } from '#lib/languages/language.ts';
import { phrase } from '#lib/languages/phrase.ts';
import type { Nouns } from '#lib/selection/words.ts';
import { series } from '#lib/texts/series.ts';
import { nounsOf } from './subjects.ts';

/** The reason for posts that lack approvals (APPROVAL-1). */
export const missingApprovals = 'approval_required';

/** Reasons that the service gives for many objects, for users. */
const reasons: Readonly<Record<string, string>> = {
  'not found': phrase('not found, or not shared with you'),
  [missingApprovals]: phrase('approvals are missing'),
  'changed since': phrase('changed by somebody since'),
};

/** Returns why an object is not changed, as part of a sentence. */
export function reasonInWords(reason: string): string {
  return reasons[reason] ?? reason.replace(/\.$/, '');
}

/** The result of a dry run without ids, whose type depends on the kind of object. */
export interface PreviewCounts extends Omit<BatchPreview, 'refused'> {
  readonly refused: readonly Omit<BatchPreview['refused'][number], 'ids'>[];
}

/** Says what a batch would do, in sentences. */
export function previewInWords(
  { matched, changes, unchanged, refused }: PreviewCounts,
  { counted, none }: Nouns,
): readonly string[] {
  if (matched === 0) return [none];
  const kept = refused.reduce((sum, { count }) => sum + count, 0);
  return [
    changes === 0 ? 'Nothing would change.' : `${counted(changes)} will change.`,
    ...(unchanged === 0
      ? []
      : [
          unchanged === 1
            ? `${counted(unchanged)} stays as it is.`
            : `${counted(unchanged)} stay as they are.`,
        ]),
    ...(kept === 0 ? [] : [`${counted(kept)} cannot be changed:`]),
  ];
}

/** What a batch does: while it runs, and after it. */
interface BatchWords {
  readonly doing: string;
  readonly done: string;
}

const batchWords: Readonly<Record<string, BatchWords>> = {
  add_tags: { doing: 'Adding tags', done: 'Tags added' },
  remove_tags: { doing: 'Removing tags', done: 'Tags removed' },
  set_field: { doing: 'Setting a field', done: 'Field set' },
  append_field: { doing: 'Adding to a field', done: 'Field extended' },
  clear_field: { doing: 'Clearing a field', done: 'Field cleared' },
  set_sensitivity: { doing: 'Changing who may see them', done: 'Audience changed' },
  set_visibility: { doing: 'Changing who may see them', done: 'Audience changed' },
  set_status: { doing: 'Changing the status', done: 'Status changed' },
  set_state: { doing: 'Changing the state', done: 'State changed' },
  set_mature: { doing: 'Changing the rating', done: 'Rating changed' },
  set_ai_provenance: { doing: 'Declaring how AI took part', done: 'AI declaration changed' },
  add_to_collection: { doing: 'Adding to a collection', done: 'Added to a collection' },
  remove_from_collection: { doing: 'Removing from a collection', done: 'Removed from a collection' },
  set_role: { doing: 'Changing roles', done: 'Roles changed' },
  add_to_team: { doing: 'Adding to a team', done: 'Added to a team' },
  remove_from_team: { doing: 'Removing from a team', done: 'Removed from a team' },
  set_expiry: { doing: 'Changing when accounts expire', done: 'Expiry changed' },
  end_sessions: { doing: 'Signing people out', done: 'Signed out' },
  create_post: { doing: 'Creating a post', done: 'Post created' },
  delete: { doing: 'Deleting', done: 'Deleted' },
  restore: { doing: 'Restoring', done: 'Restored' },
  import_csv: { doing: 'Importing metadata', done: 'Metadata imported' },
  undo: { doing: 'Undoing', done: 'Undone' },
};

const unknown: BatchWords = { doing: 'Changing', done: 'Changed' };

export function isOver({ state }: Pick<Batch, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}

/** Says what a batch does or did. */
export function titleOf({ kind, state }: Pick<Batch, 'kind' | 'state'>): string {
  const { doing, done } = batchWords[kind] ?? unknown;
  if (state === 'cancelled') return `${doing}: cancelled`;
  if (state === 'failed') return `${doing}: failed`;
  return isOver({ state }) ? done : `${doing}…`;
}

/** Says how many objects a batch has dealt with, or changed. */
export function progressInWords(batch: Batch): string {
  const { subject, done, total, changed, unchanged, refused_count } = batch;
  const { counted } = nounsOf[subject];
  if (!isOver(batch)) return `${done.toLocaleString(locale())} of ${counted(total)}`;
  return series([
    `${counted(changed)} changed`,
    ...(unchanged === 0 ? [] : [`${unchanged.toLocaleString(locale())} as before`]),
    ...(refused_count === 0 ? [] : [`${refused_count.toLocaleString(locale())} not changed`]),
    ...(done < total ? [`${(total - done).toLocaleString(locale())} not reached`] : []),
  ]);
}
