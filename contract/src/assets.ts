import { type Static, Type } from 'typebox';
import { readValueErrors, writtenValueErrors } from './errors/groups.ts';
import { Origin, OriginFilter } from './federation.ts';
import { CardField, Filters, GivenValues } from './field-values.ts';
import { PostAuthor } from './identity.ts';
import { Legacy } from './legacy.ts';
import { noContent, operation } from './operation.ts';
import {
  AiProvenance,
  BoundingBox,
  Count,
  closed,
  nullable,
  page,
  pageQuery,
  Reason,
  Ref,
  Removal,
  Tags,
  Timestamp,
  Uuid,
} from './values.ts';

export const AssetStatus = Type.Enum(['draft', 'active', 'archived']);
export const Sensitivity = Type.Enum(['posts', 'public', 'org', 'team', 'restricted']);
export type Sensitivity = Static<typeof Sensitivity>;
export const ProcessingStatus = Type.Enum(['pending', 'ready', 'failed']);

/** ASSET-20. */
export const TagDetail = closed({
  value: Type.String(),
  source: Type.Enum(['manual', 'ai', 'import']),
  confidence: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
  created_by_provider: Type.Optional(nullable(Type.String())),
  created_by_model: Type.Optional(nullable(Type.String())),
});
export type TagDetail = Static<typeof TagDetail>;

/** SUBTITLE-1. */
export const SubtitleTrack = closed({
  lang: Type.String(),
  label: Type.String(),
  file_hash: Type.String(),
  source_format: Type.Enum(['srt', 'vtt', 'ass', 'ssa', 'sbv', 'pgs', 'vobsub']),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
});
export type SubtitleTrack = Static<typeof SubtitleTrack>;

/** ASSET-4: an asset whose columns the caller may see. */
export const ShownAsset = closed({
  id: Uuid,
  restricted: Type.Literal(false),
  title: Type.String(),
  description: Type.String(),
  asset_type: Type.Integer(),
  owner_user_ref: nullable(Ref),
  owner: Type.Optional(PostAuthor),
  status: AssetStatus,
  sensitivity: Type.Optional(Sensitivity),
  mature: Type.Boolean(),
  ai_provenance: nullable(AiProvenance),
  file_hash: nullable(Type.String()),
  file_extension: nullable(Type.String()),
  file_size_bytes: nullable(Count),
  tags: Type.Array(Type.String()),
  tag_details: Type.Array(TagDetail),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  state_id: nullable(Uuid),
  team_id: Type.Optional(Uuid),
  /** The library that it comes from, for an asset that a peer shares (FED-34). */
  origin: Type.Optional(Origin),
  processing_status: ProcessingStatus,
  preview_available: Type.Boolean(),
  ladder_available: Type.Boolean(),
  scrub_available: Type.Boolean(),
  anonymously_visible: Type.Boolean(),
  thumbhash: nullable(Type.String()),
  pixel_width: nullable(Type.Integer({ minimum: 1 })),
  pixel_height: nullable(Type.Integer({ minimum: 1 })),
  subtitle_tracks: Type.Array(SubtitleTrack),
  /** The folder left in place that has its file, for its owner and administrators (ROOT-2). */
  root: Type.Optional(closed({ id: Uuid, path: Type.String() })),
  /** Present while its file is gone from where it was left (ROOT-7). */
  missing: Type.Optional(Type.Literal(true)),
  /** The film of a live photo, which plays as `film.mp4` (MEDIA-65). */
  film: Type.Optional(closed({ hash: Type.String() })),
  /** The values of at most six fields as display text; absent when there are none (ASSET-30). */
  card_fields: Type.Optional(Type.Array(CardField, { maxItems: 6 })),
  /** Related files that the caller is shown; only where a single asset is returned (RELATED-1). */
  related: Type.Optional(Type.Array(Uuid)),
  /** Its stack, with those of its assets that the caller is shown, the top first; where a single asset is returned, and in lists with `stacks=top` (STACK-2). */
  stack: Type.Optional(closed({ id: Uuid, assets: Type.Array(Uuid) })),
  /** For administrators (LEGACY-1). */
  legacy: Type.Optional(Legacy),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Both appear in trash listings only (ASSET-23). */
  deleted_at: Type.Optional(Timestamp),
  deleted_reason: Type.Optional(nullable(Type.String())),
});
export type ShownAsset = Static<typeof ShownAsset>;

/** ASSET-5: exactly these properties and no others of the row. */
export const WithheldAsset = closed({
  id: Uuid,
  restricted: Type.Literal(true),
  owner_display_name: Type.Optional(Type.String({ minLength: 1 })),
});
export type WithheldAsset = Static<typeof WithheldAsset>;

/** Both branches are closed objects, so that a serialiser never mistakes one for the other. */
export const Asset = Type.Union([ShownAsset, WithheldAsset]);
export type Asset = Static<typeof Asset>;

const assetFields = {
  title: Type.Optional(Type.String({ maxLength: 500 })),
  description: Type.Optional(Type.String({ maxLength: 20_000 })),
  asset_type: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  status: Type.Optional(AssetStatus),
  sensitivity: Type.Optional(Sensitivity),
  mature: Type.Optional(Type.Boolean()),
  /** ASSET-21: null means undeclared and no team. */
  ai_provenance: Type.Optional(nullable(AiProvenance)),
  tags: Type.Optional(Tags),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  team_id: Type.Optional(nullable(Uuid)),
  field_values: Type.Optional(GivenValues),
  /** A root that may be written to, and the path of the new file there; without a path, the name of the file (ROOT-14). */
  root_id: Type.Optional(Uuid),
  root_path: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
};

/** The metadata of a new asset, without its bytes. */
export const AssetFields = closed(assetFields);
export type AssetFields = Static<typeof AssetFields>;

/**
 * ASSET-15: the JSON form names exactly one of a finished upload and the hash of bytes that this user uploaded
 * before.
 */
export const AssetCreate = closed({
  file_hash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  upload_id: Type.Optional(Uuid),
  ...assetFields,
});
export type AssetCreate = Static<typeof AssetCreate>;

const idParams = closed({ id: Uuid });

export const createAsset = operation({
  id: 'createAsset',
  method: 'POST',
  path: '/assets',
  tag: 'Assets',
  summary: 'Create an asset',
  description:
    'Takes a multipart form with a part `file`, or JSON that names either a finished upload or the hash of bytes that the caller uploaded before; the hash of other bytes returns 404. Repeating the request with an upload that was used returns 200 with the same asset; an unfinished upload returns 409. An XMP sidecar of a file of the caller (`a.jpg.xmp` or `a.xmp`) returns 200 with the asset of that file, which it describes from then on, and ignores the other properties. So does the film of a live photo, with the asset of the photo. A photo whose film arrived before it returns 200 with the id of the film, whose place it takes unless the film was edited or used. With `root_id`, the file is written below that root, to `root_path` or under its own name, never over another file. A file over a limit or quota returns 413.',
  door: { holds: 'assets.create' },
  scope: 'assets.write',
  example: { upload_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30', title: 'Harbour at dawn', tags: ['harbour'] },
  body: AssetCreate,
  form: true,
  seenBy: 'caller',
  responses: { 200: ShownAsset, 201: ShownAsset },
  errors: [
    ...readValueErrors,
    ...writtenValueErrors,
    'asset-of-upload-deleted',
    'asset-type-unknown',
    'file-not-uploaded-by-you',
    'file-part-missing',
    'file-part-unknown',
    'files-too-many',
    'given-twice',
    'install-quota-exceeded',
    'mature-content-not-allowed',
    'not-json',
    'owner-quota-exceeded',
    'quota-exceeded',
    'received-too-large',
    'root-needs-file',
    'root-not-found',
    'root-not-writable',
    'root-path-invalid',
    'root-path-taken',
    'sidecar-has-doctype',
    'sidecar-too-large',
    'sidecar-unreadable',
    'stored-file-damaged',
    'team-not-found',
    'upload-and-hash-exclusive',
    'upload-gone',
    'upload-not-finished',
    'upload-not-found',
    'upload-used-meanwhile',
    'value-field-not-found',
    'value-field-unclear',
  ],
});

export const getAsset = operation({
  id: 'getAsset',
  method: 'GET',
  path: '/assets/{id}',
  tag: 'Assets',
  summary: 'Get an asset',
  description:
    'Returns the asset, or a placeholder with `restricted: true` if the caller may know of it but not see its columns. Anything else returns 404.',
  door: 'public',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: Asset },
  errors: ['not-found'],
});

/** ASSET-22: filters of the list. All read columns that may be withheld. */
const assetFilters = {
  /** Words, "phrases" and -exclusions, with the syntax of `GET /search`. */
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  tag: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 10 })),
  asset_type: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  team_id: Type.Optional(Uuid),
  /** `here`: only what was made here. `peers`: only what peers share. An id: only what this peer shares. */
  origin: Type.Optional(OriginFilter),
  owner_ref: Type.Optional(Ref),
  status: Type.Optional(AssetStatus),
  /** The code of a workflow state of the domain `asset`. */
  state: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  filter: Type.Optional(Filters),
  /** The month in which it was taken, `unknown` for files of which the time is not known (BROWSE-3). */
  taken_month: Type.Optional(Type.String({ pattern: '^((?!0000)[0-9]{4}-(0[1-9]|1[0-2])|unknown)$' })),
  /** The day of every year on which it was taken (BROWSE-3). */
  taken_day: Type.Optional(Type.String({ pattern: '^(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' })),
  /** Where it was taken: `west,south,east,north` in degrees (BROWSE-7). */
  bbox: Type.Optional(BoundingBox),
};

/** ASSET-34: by the time when it was added, by title with numbers as numbers, or by the size of the file. */
export const AssetSort = Type.Enum([
  'newest',
  'oldest',
  'taken',
  'taken_oldest',
  'title',
  'title_desc',
  'largest',
  'smallest',
]);
export type AssetSort = Static<typeof AssetSort>;

export const AssetQuery = Type.Object({
  ...pageQuery,
  ...assetFilters,
  sort: Type.Optional(AssetSort),
  /** `top`: of each stack only the first asset that the list would contain (STACK-3). */
  stacks: Type.Optional(Type.Enum(['all', 'top'])),
  include_deleted: Type.Optional(Type.Boolean()),
});
export type AssetQuery = Static<typeof AssetQuery>;

export const listAssets = operation({
  id: 'listAssets',
  method: 'GET',
  path: '/assets',
  tag: 'Assets',
  summary: 'List assets',
  description:
    'Lists assets that pass the caller’s read rule, newest first, with placeholders for those whose columns are withheld. Filters match, and orders by title and size contain, only columns that the caller may see. With `stacks=top`, the first asset of a stack that the caller is shown and the filters match stands for it, and has `stack`. `include_deleted` is for `system.admin` and ignored for others.',
  door: 'public',
  scope: 'read',
  query: AssetQuery,
  replica: true,
  responses: { 200: page(Asset) },
  errors: [
    'filter-field-not-found',
    'filter-malformed',
    'filter-operator-not-for-type',
    'filter-value-invalid',
  ],
});

/** ASSET-35: the most assets that are counted. */
export const mostCounted = 100_000;

export const countAssets = operation({
  id: 'countAssets',
  method: 'GET',
  path: '/assets/count',
  tag: 'Assets',
  summary: 'Count assets',
  description: `Counts the assets that \`GET /assets\` with these filters shows the caller, without placeholders. Counting stops at ${mostCounted}; then \`capped\` is true.`,
  door: 'public',
  scope: 'read',
  query: Type.Object(assetFilters),
  replica: true,
  responses: { 200: closed({ total: Count, capped: Type.Boolean() }) },
  errors: [
    'filter-field-not-found',
    'filter-malformed',
    'filter-operator-not-for-type',
    'filter-value-invalid',
  ],
});

/** Absent and null leave a value unchanged, `clear_*` removes it (HTTP-17). */
export const AssetUpdate = closed({
  title: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  description: Type.Optional(nullable(Type.String({ maxLength: 20_000 }))),
  asset_type: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }))),
  status: Type.Optional(nullable(AssetStatus)),
  sensitivity: Type.Optional(nullable(Sensitivity)),
  mature: Type.Optional(nullable(Type.Boolean())),
  ai_provenance: Type.Optional(nullable(AiProvenance)),
  tags: Type.Optional(nullable(Tags)),
  metadata: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
  clear_ai_provenance: Removal,
  if_unchanged_since: Type.Optional(nullable(Timestamp)),
});
export type AssetUpdate = Static<typeof AssetUpdate>;

export const updateAsset = operation({
  id: 'updateAsset',
  method: 'PATCH',
  path: '/assets/{id}',
  tag: 'Assets',
  summary: 'Change an asset',
  description:
    'For the owner and `assets.admin`; other callers get 403, or 404 if they may not know of the asset. With `if_unchanged_since`, returns 409 when the asset has changed since.',
  door: 'signedIn',
  scope: 'assets.write',
  params: idParams,
  example: { title: 'Harbour at noon', tags: ['harbour', 'noon'], clear_ai_provenance: true },
  body: AssetUpdate,
  responses: { 200: ShownAsset },
  errors: [
    'asset-type-unknown',
    'changed',
    'exclusive-properties',
    'mature-content-not-allowed',
    'not-found',
    'not-owner',
    'team-not-found',
  ],
});

export const setAssetState = operation({
  id: 'setAssetState',
  method: 'POST',
  path: '/assets/{id}/state',
  tag: 'Assets',
  summary: 'Set the workflow state of an asset',
  description:
    'Moves an asset to a state of the domain `asset` that may follow its present one, for the owner and `assets.admin`. Returns 409 if it may not follow, 403 without the capability that the state needs, and 404 for an unknown state.',
  door: 'signedIn',
  scope: 'assets.write',
  params: idParams,
  body: closed({ state_id: Uuid }),
  responses: { 200: ShownAsset },
  errors: [
    'capability-missing',
    'not-found',
    'not-owner',
    'state-move-not-allowed',
    'state-not-found',
    'state-of-other-domain',
  ],
});

export const deleteAsset = operation({
  id: 'deleteAsset',
  method: 'DELETE',
  path: '/assets/{id}',
  tag: 'Assets',
  summary: 'Delete an asset',
  description:
    'Moves the asset to the trash for everyone at once, for the owner and `assets.admin`. Posts that contain it leave it out until it is restored.',
  door: 'signedIn',
  scope: 'assets.write',
  params: idParams,
  example: { reason: 'A duplicate.' },
  body: Reason,
  bodyOptional: true,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner'],
});

export const reprocessAsset = operation({
  id: 'reprocessAsset',
  method: 'POST',
  path: '/assets/{id}/reprocess',
  tag: 'Assets',
  summary: 'Process a failed asset again',
  description:
    'Renders previews again, for the owner and `assets.admin`. Other callers get 403, or 404 if they may not know of the asset.',
  door: 'signedIn',
  scope: 'assets.write',
  params: idParams,
  responses: { 200: ShownAsset },
  errors: ['not-found', 'not-owner'],
});

export const setAssetPoster = operation({
  id: 'setAssetPoster',
  method: 'PUT',
  path: '/assets/{id}/poster',
  tag: 'Assets',
  summary: 'Choose the poster of a video',
  description:
    'Renders the poster and all previews again from the frame at `seconds`. Requires the right to edit the first asset with these bytes.',
  door: 'signedIn',
  scope: 'assets.write',
  params: idParams,
  body: closed({ seconds: Type.Number({ minimum: 0 }) }),
  responses: { 202: ShownAsset },
  errors: ['not-found', 'not-owner', 'poster-not-yours', 'poster-past-end', 'poster-without-video'],
});

export const AssetType = closed({ ref: Type.Integer(), code: Type.String(), label: Type.String() });

export const listAssetTypes = operation({
  id: 'listAssetTypes',
  method: 'GET',
  path: '/asset-types',
  tag: 'Assets',
  summary: 'List asset types',
  description: 'Lists the kinds of asset: image, document, video, audio, model, font and other.',
  door: 'public',
  scope: 'read',
  replica: true,
  responses: { 200: Type.Array(AssetType) },
  errors: [],
});
