import type {
  ActionShape,
  AssetAction,
  AssetActionKind,
  PostAction,
  PostActionKind,
} from '@vitrine/contract/batches';
import { readSwitches } from '../../core/settings.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { setAssetState, undoAssetState } from './actions/asset-state.ts';
import { addTagsToAssets, removeTagsFromAssets, undoTagsOfAssets } from './actions/asset-tags.ts';
import { addToCollection, removeFromCollection, undoAdd, undoRemove } from './actions/collection.ts';
import { setColumn, undoColumn } from './actions/column.ts';
import { createPostOf } from './actions/create-post.ts';
import { clearField, undoField, writeField } from './actions/field-value.ts';
import { importValues, undoImport } from './actions/import-values.ts';
import { setPostState, undoPostState } from './actions/post-state.ts';
import { addTagsToPosts, removeTagsFromPosts, undoTagsOfPosts } from './actions/post-tags.ts';
import { deleteObjects, restoreObjects, undoDelete, undoRestore } from './actions/trash.ts';

import type { Pair, Step } from './step.ts';

/** CSV-10: writes what an import has stored with each asset. Only `POST /assets/import.csv` starts it. */
interface ImportAction {
  readonly kind: 'import_csv';
}

/** An action as stored with its batch, and the kind of its objects. */
export type SubjectAction =
  | { readonly subject: 'asset'; readonly action: AssetAction | ImportAction }
  | { readonly subject: 'post'; readonly action: PostAction };

/** Throws a 400 unless the action has what its kind needs, and nothing that its kind ignores (BATCH-2). */
export function checkShape(
  shapes: Readonly<Record<string, ActionShape>>,
  action: { readonly kind: string },
): void {
  const { needs, accepts = [] } = shapes[action.kind] ?? { needs: [] };
  const { kind: _, ...given } = action;
  const missing = needs.find((name) => !(name in given));
  if (missing !== undefined) throw refuse('batch-action-lacks', { kind: action.kind, property: missing });
  const ignored = Object.keys(given).find((name) => !needs.includes(name) && !accepts.includes(name));
  if (ignored !== undefined) throw refuse('batch-action-ignores', { kind: action.kind, property: ignored });
}

/** Returns a property that `checkShape` has found. */
export function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an action lacks what its kind needs');
  return value;
}

/** ASSET-17: throws unless the library allows mature content. */
async function checkMature({ tx }: Step): Promise<void> {
  if (!(await readSwitches(tx)).matureAllowed) throw refuse('mature-content-not-allowed');
}

const assetPairs: Readonly<Record<AssetActionKind, (action: AssetAction) => Pair>> = {
  add_tags: ({ tags }) => ({ run: addTagsToAssets(needed(tags)), undo: undoTagsOfAssets }),
  remove_tags: ({ tags }) => ({ run: removeTagsFromAssets(needed(tags)), undo: undoTagsOfAssets }),
  set_field: (action) => ({
    run: writeField(needed(action.field_id), action),
    undo: undoField(needed(action.field_id)),
  }),
  append_field: (action) => ({
    run: writeField(needed(action.field_id), action),
    undo: undoField(needed(action.field_id)),
  }),
  clear_field: ({ field_id }) => ({ run: clearField(needed(field_id)), undo: undoField(needed(field_id)) }),
  set_sensitivity: ({ sensitivity }) => ({
    run: setColumn('sensitivity', needed(sensitivity)),
    undo: undoColumn('sensitivity'),
  }),
  set_status: ({ status }) => ({ run: setColumn('status', needed(status)), undo: undoColumn('status') }),
  set_state: ({ state_id }) => ({ run: setAssetState(needed(state_id)), undo: undoAssetState }),
  set_mature: ({ mature }) => ({
    run: setColumn('mature', needed(mature), { check: mature === true ? checkMature : undefined }),
    undo: undoColumn('mature', mature === false ? checkMature : undefined),
  }),
  set_ai_provenance: ({ ai_provenance }) => ({
    run: setColumn('ai_provenance', needed(ai_provenance)),
    undo: undoColumn('ai_provenance'),
  }),
  add_to_collection: ({ collection_id }) => ({
    run: addToCollection('asset', needed(collection_id)),
    undo: undoAdd('asset', needed(collection_id)),
  }),
  remove_from_collection: ({ collection_id }) => ({
    run: removeFromCollection('asset', needed(collection_id)),
    undo: undoRemove('asset', needed(collection_id)),
  }),
  create_post: (action) => ({ run: createPostOf(action), undo: null }),
  delete: ({ reason }) => ({ run: deleteObjects('asset', reason ?? null), undo: undoDelete('asset') }),
  restore: () => ({ run: restoreObjects('asset'), undo: undoRestore('asset') }),
};

const postPairs: Readonly<Record<PostActionKind, (action: PostAction) => Pair>> = {
  add_tags: ({ tags }) => ({ run: addTagsToPosts(needed(tags)), undo: undoTagsOfPosts }),
  remove_tags: ({ tags }) => ({ run: removeTagsFromPosts(needed(tags)), undo: undoTagsOfPosts }),
  set_visibility: ({ visibility, override_reason }) => ({
    run: setColumn('visibility', needed(visibility), { overrideReason: override_reason ?? null }),
    undo: undoColumn('visibility'),
  }),
  set_state: ({ state_id, override_reason }) => ({
    run: setPostState(needed(state_id), override_reason ?? null),
    undo: undoPostState,
  }),
  add_to_collection: ({ collection_id }) => ({
    run: addToCollection('post', needed(collection_id)),
    undo: undoAdd('post', needed(collection_id)),
  }),
  remove_from_collection: ({ collection_id }) => ({
    run: removeFromCollection('post', needed(collection_id)),
    undo: undoRemove('post', needed(collection_id)),
  }),
  delete: ({ reason }) => ({ run: deleteObjects('post', reason ?? null), undo: undoDelete('post') }),
  restore: () => ({ run: restoreObjects('post'), undo: undoRestore('post') }),
};

/** Returns what an action does and what undoes it. */
export function pairOf({ subject, action }: SubjectAction): Pair {
  if (subject === 'post') return postPairs[action.kind](action);
  return action.kind === 'import_csv'
    ? { run: importValues, undo: undoImport }
    : assetPairs[action.kind](action);
}
