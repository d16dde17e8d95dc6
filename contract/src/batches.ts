import { type Static, Type } from 'typebox';
import { approvalErrors, OverrideReason } from './approvals.ts';
import { AssetStatus, Sensitivity } from './assets.ts';
import { readValueErrors, writtenValueErrors } from './errors/groups.ts';
import { Filters, ValueMembers } from './field-values.ts';
import { mostNamed } from './limits.ts';
import { operation } from './operation.ts';
import {
  AiProvenance,
  Count,
  closed,
  mostTags,
  nullable,
  page,
  pageQuery,
  Ref,
  Timestamp,
  Uuid,
  Visibility,
} from './values.ts';

/** Which properties an action has besides `kind`: those that it needs, and those that it accepts. */
export interface ActionShape {
  readonly needs: readonly string[];
  readonly accepts?: readonly string[];
}
const values = ['value_text', 'value_num', 'value_date', 'value_options', 'value_ref'] as const;

/** BATCH-2: what can be done to many assets. */
export const assetActions = {
  add_tags: { needs: ['tags'] },
  remove_tags: { needs: ['tags'] },
  set_field: { needs: ['field_id'], accepts: values },
  append_field: { needs: ['field_id'], accepts: values },
  clear_field: { needs: ['field_id'] },
  set_sensitivity: { needs: ['sensitivity'] },
  set_status: { needs: ['status'] },
  set_state: { needs: ['state_id'] },
  set_mature: { needs: ['mature'] },
  set_ai_provenance: { needs: ['ai_provenance'] },
  add_to_collection: { needs: ['collection_id'] },
  remove_from_collection: { needs: ['collection_id'] },
  create_post: { needs: [], accepts: ['title', 'visibility', 'draft', 'tags', 'override_reason'] },
  delete: { needs: [], accepts: ['reason'] },
  restore: { needs: [] },
} as const satisfies Readonly<Record<string, ActionShape>>;
export type AssetActionKind = keyof typeof assetActions;

/** BATCH-2: what can be done to many posts. */
export const postActions = {
  add_tags: { needs: ['tags'] },
  remove_tags: { needs: ['tags'] },
  set_visibility: { needs: ['visibility'], accepts: ['override_reason'] },
  set_state: { needs: ['state_id'], accepts: ['override_reason'] },
  add_to_collection: { needs: ['collection_id'] },
  remove_from_collection: { needs: ['collection_id'] },
  delete: { needs: [], accepts: ['reason'] },
  restore: { needs: [] },
} as const satisfies Readonly<Record<string, ActionShape>>;
export type PostActionKind = keyof typeof postActions;

const SomeTags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: mostTags,
});
const reason = Type.Optional(nullable(Type.String({ maxLength: 500 })));

export const AssetAction = closed({
  kind: Type.Enum(Object.keys(assetActions) as AssetActionKind[]),
  tags: Type.Optional(SomeTags),
  field_id: Type.Optional(Uuid),
  ...ValueMembers.properties,
  sensitivity: Type.Optional(Sensitivity),
  status: Type.Optional(AssetStatus),
  state_id: Type.Optional(Uuid),
  mature: Type.Optional(Type.Boolean()),
  /** Null: undeclared. */
  ai_provenance: Type.Optional(nullable(AiProvenance)),
  title: Type.Optional(Type.String({ maxLength: 500 })),
  visibility: Type.Optional(Visibility),
  draft: Type.Optional(Type.Boolean()),
  collection_id: Type.Optional(Uuid),
  reason,
  override_reason: OverrideReason,
});
export type AssetAction = Static<typeof AssetAction>;

export const PostAction = closed({
  kind: Type.Enum(Object.keys(postActions) as PostActionKind[]),
  tags: Type.Optional(SomeTags),
  visibility: Type.Optional(Visibility),
  state_id: Type.Optional(Uuid),
  collection_id: Type.Optional(Uuid),
  reason,
  override_reason: OverrideReason,
});
export type PostAction = Static<typeof PostAction>;

const queried = {
  q: Type.Optional(Type.String({ maxLength: 500 })),
  tag: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: mostTags })),
  team_id: Type.Optional(Uuid),
  owner_ref: Type.Optional(Ref),
  collection: Type.Optional(Uuid),
};

/** The assets that match all of this, of those whose columns the caller may see. */
export const AssetSelection = closed({
  ...queried,
  filter: Type.Optional(Filters),
  asset_type: Type.Optional(Type.Integer()),
  status: Type.Optional(AssetStatus),
  state_id: Type.Optional(Uuid),
  sensitivity: Type.Optional(Sensitivity),
});
export type AssetSelection = Static<typeof AssetSelection>;

/**
 * The posts that match all of this: published ones of the caller's feed, or with `state_id` those in that state, drafts
 * too. `owner_ref` is the author.
 */
export const PostSelection = closed({ ...queried, state_id: Type.Optional(Uuid) });
export type PostSelection = Static<typeof PostSelection>;

const Ids = Type.Array(Uuid, { minItems: 1, maxItems: mostNamed });
const dryRun = Type.Optional(Type.Boolean());

/** BATCH-4: what a batch would do. `matched` is `changes` + `unchanged` + the sum of `refused.count`. */
export const BatchPreview = closed({
  matched: Count,
  changes: Count,
  unchanged: Count,
  refused: Type.Array(
    closed({
      reason: Type.String(),
      count: Count,
      /** The first of them. */
      ids: Type.Array(Uuid, { maxItems: 20 }),
    }),
  ),
});
export type BatchPreview = Static<typeof BatchPreview>;

export const StartedBatch = closed({ job_id: Uuid });
const shared = {
  method: 'POST',
  tag: 'Batches',
  door: 'signedIn',
  responses: { 200: BatchPreview, 202: StartedBatch },
} as const;

export const batchAssets = operation({
  ...shared,
  id: 'batchAssets',
  path: '/assets/batch',
  summary: 'Change many assets',
  description:
    'Does one action to the assets named by `ids` or matched by `query`. A job works through them in steps; rights are checked for each asset when it is written. With `dry_run`, returns what would change and writes nothing. `create_post` also needs the scope `posts.write`.',
  scope: 'assets.write',
  example: {
    ids: ['3f1c9a52-5d0e-4b6f-9a3e-0d6a1f2b7c48'],
    action: { kind: 'add_tags', tags: ['harbour'] },
    dry_run: true,
  },
  body: closed({
    ids: Type.Optional(Ids),
    query: Type.Optional(AssetSelection),
    action: AssetAction,
    dry_run: dryRun,
  }),
  errors: [
    'filter-field-not-found',
    'filter-malformed',
    'filter-operator-not-for-type',
    'filter-value-invalid',
    ...readValueErrors,
    ...writtenValueErrors,
    ...approvalErrors,
    'batch-action-ignores',
    'batch-action-lacks',
    'collection-smart',
    'field-not-appendable',
    'ids-or-query',
    'mature-content-not-allowed',
    'not-found',
    'not-owner',
    'state-not-found',
    'state-of-other-domain',
    'too-many-files-for-post',
  ],
});

export const batchPosts = operation({
  ...shared,
  id: 'batchPosts',
  path: '/posts/batch',
  summary: 'Change many posts',
  description:
    'Does one action to the posts named by `ids` or matched by `query`, like `POST /assets/batch`. Publishing is `set_state` with the state `published`.',
  scope: 'posts.write',
  example: {
    ids: ['3f1c9a52-5d0e-4b6f-9a3e-0d6a1f2b7c48'],
    action: { kind: 'set_visibility', visibility: 'org-only' },
  },
  body: closed({
    ids: Type.Optional(Ids),
    query: Type.Optional(PostSelection),
    action: PostAction,
    dry_run: dryRun,
  }),
  errors: [
    'batch-action-ignores',
    'batch-action-lacks',
    'capability-missing',
    'collection-smart',
    'ids-or-query',
    'not-found',
    'not-owner',
    'state-not-found',
    'state-of-other-domain',
  ],
});

/** The id of an asset or post, or the ref of an account. */
const ObjectId = Type.Union([Uuid, Ref]);

export const BatchState = Type.Enum(['queued', 'running', 'done', 'cancelled', 'failed']);
export type BatchState = Static<typeof BatchState>;

/** BATCH-6: the progress of a batch. The items have all results. */
export const Batch = closed({
  id: Uuid,
  /** The kind of its action, or `undo`; `export` for the export of an account (EXPORT-17). */
  kind: Type.String(),
  subject: Type.Enum(['asset', 'post', 'user']),
  state: BatchState,
  total: Count,
  done: Count,
  changed: Count,
  unchanged: Count,
  /** The first 100; once the batch has ended, the first 10,000, except in lists. */
  refused: Type.Array(closed({ id: ObjectId, reason: Type.String() }), { maxItems: mostNamed }),
  refused_count: Count,
  /** The post that `create_post` made. */
  post_id: Type.Optional(Uuid),
  /** The batch that this one undoes, or the one that undoes this. */
  undoes: Type.Optional(Uuid),
  undone_by: Type.Optional(Uuid),
  created_at: Timestamp,
  finished_at: Type.Optional(Timestamp),
  /** Until when `POST /jobs/{id}/undo` is possible; absent if it is not. */
  undo_until: Type.Optional(Timestamp),
});
export type Batch = Static<typeof Batch>;

const own = { tag: 'Batches', door: 'signedIn', params: closed({ id: Uuid }) } as const;
const changing = { scope: 'assets.write', otherScopes: ['posts.write'] } as const;

export const listBatches = operation({
  id: 'listBatches',
  method: 'GET',
  path: '/jobs',
  tag: 'Batches',
  door: 'signedIn',
  summary: 'List own batches',
  description: 'Lists the batches that the caller started within 30 days, newest first.',
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Batch) },
  errors: [],
});

export const getBatch = operation({
  ...own,
  id: 'getBatch',
  method: 'GET',
  path: '/jobs/{id}',
  summary: 'Get the progress of a batch',
  description:
    'For the account that started it, and `jobs.read`. Also the progress of the export of an account, which counts files and has no items.',
  scope: 'read',
  responses: { 200: Batch },
  errors: ['not-found'],
});

export const BatchItem = closed({
  id: ObjectId,
  outcome: Type.Enum(['changed', 'unchanged', 'refused']),
  reason: Type.Optional(Type.String()),
});

export const listBatchItems = operation({
  ...own,
  id: 'listBatchItems',
  method: 'GET',
  path: '/jobs/{id}/items',
  summary: 'List the results of a batch',
  description: 'Lists the objects that the batch has dealt with, in the order in which it takes them.',
  scope: 'read',
  query: closed({
    ...pageQuery,
    outcome: Type.Optional(Type.Enum(['changed', 'unchanged', 'refused'])),
  }),
  responses: { 200: page(BatchItem) },
  errors: ['not-found'],
});

export const cancelBatch = operation({
  ...own,
  ...changing,
  id: 'cancelBatch',
  method: 'POST',
  path: '/jobs/{id}/cancel',
  summary: 'Cancel a batch',
  description:
    'Stops it after the current step; what was changed stays changed and can be undone. Returns 409 for a batch that has ended.',
  responses: { 200: Batch },
  errors: ['batch-ended', 'not-found'],
});

export const undoBatch = operation({
  ...own,
  ...changing,
  id: 'undoBatch',
  method: 'POST',
  path: '/jobs/{id}/undo',
  summary: 'Undo a batch',
  description:
    'Changes back what the batch changed, for 24 hours after its end. What somebody has changed since is refused as `changed since`. Returns 409 when it is not possible, and 403 for a batch of accounts during an impersonation.',
  responses: { 202: StartedBatch },
  errors: ['batch-not-undoable', 'not-found', 'not-while-impersonating'],
});
