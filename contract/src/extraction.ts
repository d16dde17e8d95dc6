import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

const FileHash = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** The extraction pass over the stored files that is running, or the latest one. */
export const Extraction = closed({
  running: Type.Boolean(),
  /** `none` before the first pass. */
  state: Type.Enum(['none', 'running', 'finished', 'cancelled', 'failed']),
  /** Files processed, files at the start of the pass, and files that could not be read. */
  done: Count,
  total: Count,
  failed: Count,
  /** The only field to fill; null for all fields that have a source. */
  field_id: nullable(Uuid),
  only_failed: Type.Boolean(),
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  /** The program that reads metadata on the server, and the reason if it is not ExifTool. */
  reader: closed({
    name: Type.Enum(['exiftool', 'fallback']),
    version: Type.String(),
    reason: nullable(Type.String()),
  }),
});
export type Extraction = Static<typeof Extraction>;

export const getExtraction = operation({
  id: 'getExtraction',
  method: 'GET',
  path: '/admin/system/extraction',
  tag: 'Extraction',
  summary: 'Get the extraction pass',
  description: 'Returns the progress of the running pass over stored files, or the result of the latest one.',
  door: { holds: 'fields.admin' },
  scope: 'read',
  responses: { 200: Extraction },
  errors: [],
});

export const startBackfill = operation({
  id: 'startBackfill',
  method: 'POST',
  path: '/admin/system/extraction/backfill',
  tag: 'Extraction',
  summary: 'Start an extraction pass',
  description:
    'Fills fields from the metadata of stored files, for all fields with extraction or one of them. Returns 409 while a pass is running.',
  door: { holds: 'fields.admin' },
  scope: 'fields.admin',
  example: { only_failed: true },
  body: closed({
    field_id: Type.Optional(nullable(Uuid)),
    only_failed: Type.Optional(nullable(Type.Boolean())),
  }),
  bodyOptional: true,
  responses: { 201: Extraction },
  errors: ['backfill-in-progress', 'field-not-wired', 'not-found'],
});

export const cancelBackfill = operation({
  id: 'cancelBackfill',
  method: 'DELETE',
  path: '/admin/system/extraction/backfill',
  tag: 'Extraction',
  summary: 'Stop the extraction pass',
  description: 'Idempotent. Values that were written are kept.',
  door: { holds: 'fields.admin' },
  scope: 'fields.admin',
  responses: { 204: noContent },
  errors: [],
});

/** Stored bytes that could not be read. The asset is named only if the caller may see it. */
export const ExtractionFailure = closed({
  hash: FileHash,
  asset_id: nullable(Uuid),
  file_name: nullable(Type.String()),
  reason: Type.String(),
  failed_at: Timestamp,
});
export type ExtractionFailure = Static<typeof ExtractionFailure>;

export const listExtractionFailures = operation({
  id: 'listExtractionFailures',
  method: 'GET',
  path: '/admin/system/extraction/failures',
  tag: 'Extraction',
  summary: 'List extraction failures',
  description:
    'Lists files whose metadata could not be read, latest first. The asset is named only if the caller may see it.',
  door: { holds: 'fields.admin' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(ExtractionFailure) },
  errors: [],
});

export const retryExtraction = operation({
  id: 'retryExtraction',
  method: 'POST',
  path: '/admin/system/extraction/failures/{hash}/retry',
  tag: 'Extraction',
  summary: 'Retry a failed extraction',
  description: 'Reads the metadata of one file again in the background.',
  door: { holds: 'fields.admin' },
  scope: 'fields.admin',
  params: closed({ hash: FileHash }),
  responses: { 204: noContent },
  errors: ['not-found'],
});
