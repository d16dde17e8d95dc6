import { type Static, Type } from 'typebox';
import { Sensitivity } from './assets.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Ref, Removal, Timestamp, Uuid } from './values.ts';

/** Folders whose files are assets and stay where they are (ROOT-1). */

const Path = Type.String({ minLength: 1, maxLength: 2000, pattern: '^[^\\u0000]+$' });

/**
 * Whether XMP files beside the files describe them (ROOT-13). `write`: edits of assets are also written to `a.jpg.xmp`
 * beside the file (ROOT-15).
 */
const SidecarUse = Type.Enum(['off', 'read', 'write']);

/** A pattern with `*`, `?` and `**`, compared with the name, or with the path below the root if it has a `/`. */
const Skip = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 });

/** A field and the pattern of paths that gives its value, as `vitrine import --field` takes it (ADMIN-31). */
export const PathField = closed({
  field_code: Type.String({ minLength: 1, maxLength: 100 }),
  pattern: Type.String({ minLength: 1, maxLength: 500 }),
});
export type PathField = Static<typeof PathField>;

const Fields = Type.Array(PathField, { maxItems: 50 });

/** `unavailable`: the folder is not mounted or cannot be read, so nothing was changed (ROOT-8). */
const ScanState = Type.Enum(['never', 'waiting', 'running', 'done', 'unavailable', 'failed']);

/** The scan that runs, or ran last. */
export const RootScan = closed({
  id: nullable(Uuid),
  state: ScanState,
  /** Files that were found. */
  files: Count,
  added: Count,
  changed: Count,
  moved: Count,
  missing: Count,
  returned: Count,
  /** Files and folders that could not be read, of which `failures` names some. */
  failed: Count,
  failures: Type.Array(closed({ path: Type.String(), reason: Type.String() })),
  /** Why it failed or the root is unavailable. */
  reason: nullable(Type.String()),
  /** When it ended or was requested. */
  at: nullable(Timestamp),
});
export type RootScan = Static<typeof RootScan>;

export const Root = closed({
  id: Uuid,
  path: Type.String(),
  /** Null for a deleted account: such a root is not scanned. */
  owner_ref: nullable(Ref),
  owner_name: nullable(Type.String()),
  team_id: nullable(Uuid),
  sensitivity: Sensitivity,
  writable: Type.Boolean(),
  sidecars: SidecarUse,
  skip: Type.Array(Type.String()),
  fields: Type.Array(PathField),
  assets: Count,
  /** Assets whose file is gone. */
  missing: Count,
  scan: RootScan,
  created_at: Timestamp,
});
export type Root = Static<typeof Root>;

export const RootCreate = closed({
  path: Path,
  owner_ref: Ref,
  team_id: Type.Optional(nullable(Uuid)),
  sensitivity: Sensitivity,
  writable: Type.Optional(nullable(Type.Boolean())),
  sidecars: Type.Optional(nullable(SidecarUse)),
  skip: Type.Optional(nullable(Skip)),
  fields: Type.Optional(nullable(Fields)),
});
export type RootCreate = Static<typeof RootCreate>;

export const RootChange = closed({
  path: Type.Optional(nullable(Path)),
  owner_ref: Type.Optional(nullable(Ref)),
  team_id: Type.Optional(nullable(Uuid)),
  clear_team_id: Removal,
  sensitivity: Type.Optional(nullable(Sensitivity)),
  writable: Type.Optional(nullable(Type.Boolean())),
  sidecars: Type.Optional(nullable(SidecarUse)),
  skip: Type.Optional(nullable(Skip)),
  fields: Type.Optional(nullable(Fields)),
});
export type RootChange = Static<typeof RootChange>;

const rootParams = closed({ id: Uuid });

const pathErrors = [
  'root-field-not-found',
  'root-overlaps-library',
  'root-overlaps-root',
  'root-path-not-absolute',
  'root-path-not-folder',
  'root-path-of-system',
  'root-pattern-invalid',
  'team-not-found',
  'user-not-found',
] as const;

export const listRoots = operation({
  id: 'listRoots',
  method: 'GET',
  path: '/admin/roots',
  tag: 'Roots',
  summary: 'List the folders left in place',
  description: 'Lists the roots by path, with the scan that runs or ran last.',
  door: { holds: 'system.admin' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Root) },
  errors: [],
});

export const createRoot = operation({
  id: 'createRoot',
  method: 'POST',
  path: '/admin/roots',
  tag: 'Roots',
  summary: 'Name a folder whose files become assets',
  description:
    'The files stay where they are, and are never written; with `sidecars: write`, edits are written to XMP files beside them. Its rules hold for new files. Scans the folder in the background. A folder inside, above or equal to the data directory or another root returns 400.',
  door: { holds: 'system.admin' },
  scope: 'admin',
  example: { path: '/srv/photos', owner_ref: 1, sensitivity: 'org', skip: ['*.tmp', 'cache/**'] },
  body: RootCreate,
  responses: { 201: Root },
  errors: pathErrors,
});

export const updateRoot = operation({
  id: 'updateRoot',
  method: 'PATCH',
  path: '/admin/roots/{id}',
  tag: 'Roots',
  summary: 'Change the rules of a root',
  description:
    'The rules hold for files that are found from now on; assets keep what they have. Another path is for a folder that was moved or is mounted elsewhere.',
  door: { holds: 'system.admin' },
  scope: 'admin',
  params: rootParams,
  example: { skip: ['*.tmp'] },
  body: RootChange,
  responses: { 200: Root },
  errors: [...pathErrors, 'exclusive-properties', 'not-found'],
});

export const deleteRoot = operation({
  id: 'deleteRoot',
  method: 'DELETE',
  path: '/admin/roots/{id}',
  tag: 'Roots',
  summary: 'Forget a root',
  description:
    'Deletes no file and no asset. Its assets are missing from then on and keep their previews; a root with the same files gives them back.',
  door: { holds: 'system.admin' },
  scope: 'admin',
  params: rootParams,
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const scanRoot = operation({
  id: 'scanRoot',
  method: 'POST',
  path: '/admin/roots/{id}/scan',
  tag: 'Roots',
  summary: 'Scan a root',
  description:
    'Compares the whole folder with the library in the background. Returns the id of the scan; while one waits, its id.',
  door: { holds: 'system.admin' },
  scope: 'admin',
  params: rootParams,
  responses: { 202: closed({ job_id: Uuid }) },
  errors: ['not-found'],
});
