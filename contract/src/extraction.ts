import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

const FileHash = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** A pass over the stored files: the one under way, or the latest. */
export const Extraction = closed({
  running: Type.Boolean(),
  /** `none` before the first pass. */
  state: Type.Enum(['none', 'running', 'finished', 'cancelled', 'failed']),
  /** Files dealt with, of how many there were at the start, and how many of them could not be read. */
  done: Count,
  total: Count,
  failed: Count,
  /** The only field that is filled; null for every wired one. */
  field_id: nullable(Uuid),
  only_failed: Type.Boolean(),
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  /** What reads metadata on the server, and why it is not ExifTool when it is not. */
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
  summary: 'How the pass over stored files is getting on',
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
  summary: 'Read the metadata of stored files into wired fields',
  door: { holds: 'fields.admin' },
  scope: 'fields.admin',
  body: closed({
    field_id: Type.Optional(nullable(Uuid)),
    only_failed: Type.Optional(nullable(Type.Boolean())),
  }),
  bodyOptional: true,
  responses: { 201: Extraction },
  errors: [404, 409],
});

export const cancelBackfill = operation({
  id: 'cancelBackfill',
  method: 'DELETE',
  path: '/admin/system/extraction/backfill',
  tag: 'Extraction',
  summary: 'Stop the pass that is under way; what it wrote stays',
  door: { holds: 'fields.admin' },
  scope: 'fields.admin',
  responses: { 204: noContent },
  errors: [],
});

/** Stored bytes that could not be read. The asset is named only to whom it is shown. */
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
  summary: 'Files whose metadata could not be read, latest first',
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
  summary: 'Read one of these files again',
  door: { holds: 'fields.admin' },
  scope: 'fields.admin',
  params: closed({ hash: FileHash }),
  responses: { 204: noContent },
  errors: [404],
});
