import { type Static, Type } from 'typebox';
import { AssetSelection } from './batches.ts';
import { mostNamed } from './limits.ts';
import { bytes, noContent, operation } from './operation.ts';
import { Count, closed, Timestamp, Uuid } from './values.ts';

/** ARCHIVE-1: the most files of an archive. */
export const mostPacked = 100_000;
/** ARCHIVE-5: the name of the list of files that an archive leaves out. */
export const leftOutName = '_left-out.txt';

/** What to pack: exactly one of them. */
export const ArchiveCreate = closed({
  ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: mostNamed })),
  query: Type.Optional(AssetSelection),
  collection_id: Type.Optional(Uuid),
  post_id: Type.Optional(Uuid),
  /** The form of each file (`GET /downloads`); without it, files are packed as they are. */
  preset: Type.Optional(Type.String({ maxLength: 100 })),
});
export type ArchiveCreate = Static<typeof ArchiveCreate>;

export const Archive = closed({
  id: Uuid,
  /** The address of the ZIP, for the account that made it. */
  url: Type.String(),
  expires_at: Timestamp,
  /** The number of files that it will have. */
  files: Count,
  /** The length of the ZIP, if it is known beforehand. Then it can be read in ranges. */
  bytes: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type Archive = Static<typeof Archive>;

/** How far the download of an archive is. */
export const ArchiveProgress = closed({
  id: Uuid,
  /** `prepared` before the first download, `stopped` when the download was broken off. */
  state: Type.Enum(['prepared', 'running', 'done', 'stopped']),
  /** The number of files that it will have. */
  files: Count,
  /** The files that are packed or, with a preset, made in their form, including those that were left out. */
  made: Count,
  /** The files that were left out since the archive was prepared. */
  left_out: Count,
});
export type ArchiveProgress = Static<typeof ArchiveProgress>;

export const createArchive = operation({
  id: 'createArchive',
  method: 'POST',
  path: '/archives',
  tag: 'Archives',
  summary: 'Prepare a ZIP of files',
  description:
    'Prepares a ZIP of the assets named by `ids` or matched by `query`, or of all files of a collection or post that the caller is given. Nothing is packed before it is downloaded. Assets that the caller is not given are left out and listed in the ZIP. With `preset`, each file is converted when it is packed; what cannot be is left out.',
  door: 'signedIn',
  scope: 'read',
  example: { ids: ['3f1c9a52-5d0e-4b6f-9a3e-0d6a1f2b7c48'] },
  body: ArchiveCreate,
  responses: { 201: Archive },
  errors: [
    'archive-of-one',
    'archive-too-large',
    'filter-field-not-found',
    'filter-malformed',
    'filter-operator-not-for-type',
    'filter-value-invalid',
    'not-found',
  ],
});

export const getArchive = operation({
  id: 'getArchive',
  method: 'GET',
  path: '/archives/{id}',
  tag: 'Archives',
  summary: 'Download a ZIP of files',
  description:
    'Streams the ZIP for the account that prepared it, for a day. Each file is checked when it is packed; what is left out is listed in `_left-out.txt`. Supports `Range` if the length was known beforehand and nothing has changed since.',
  door: 'signedIn',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  params: closed({ id: Uuid }),
  responses: { 200: bytes('application/zip'), 206: bytes('application/zip') },
  errors: ['not-found', 'range-not-satisfiable'],
});

export const getArchiveProgress = operation({
  id: 'getArchiveProgress',
  method: 'GET',
  path: '/archives/{id}/progress',
  tag: 'Archives',
  summary: 'How far the download of a ZIP is',
  description:
    'Returns how many files of an archive are packed or made in the form of its preset. The download reports it about twice a second. For the account that prepared the archive.',
  door: 'signedIn',
  scope: 'read',
  params: closed({ id: Uuid }),
  responses: { 200: ArchiveProgress },
  errors: ['not-found'],
});

export const cancelArchive = operation({
  id: 'cancelArchive',
  method: 'DELETE',
  path: '/archives/{id}',
  tag: 'Archives',
  summary: 'Cancel a ZIP of files',
  description:
    'Removes the archive of the account that prepared it. A download that runs is broken off within a second or when the file that is being made is ready, and no further files are made.',
  door: 'signedIn',
  scope: 'read',
  params: closed({ id: Uuid }),
  responses: { 204: noContent },
  errors: ['not-found'],
});
