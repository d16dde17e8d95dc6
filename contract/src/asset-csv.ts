import { type Static, Type } from 'typebox';
import { AssetQuery } from './assets.ts';
import { StartedBatch } from './batches.ts';
import { bytes, operation } from './operation.ts';
import { Count, closed, nullable, Uuid } from './values.ts';

/** CSV-5: the largest file and the most rows that an import takes. */
export const mostCsvBytes = 50 * 1024 * 1024;
export const mostCsvRows = 1_000_000;
/** CSV-9: the most changes and refusals that a dry run lists; it counts all. */
export const mostCsvListed = 100_000;

const {
  limit: _limit,
  cursor: _cursor,
  stacks: _stacks,
  include_deleted: _deleted,
  ...filters
} = AssetQuery.properties;

export const AssetExportQuery = Type.Object({
  /** Only these, in this order. */
  ids: Type.Optional(Type.Array(Uuid, { maxItems: 1000 })),
  ...filters,
  /** Begins the file with a byte order mark, without which Excel reads it in the encoding of the system. */
  bom: Type.Optional(Type.Boolean()),
});

export const exportAssets = operation({
  id: 'exportAssets',
  method: 'GET',
  path: '/assets/export.csv',
  tag: 'Assets',
  summary: 'Export metadata as CSV',
  description:
    'Returns a row for each asset whose columns the caller may see, of those named by `ids` or matched by the filters of `GET /assets`. The columns are `id`, `file_name`, `file_hash` and the codes of the fields that the caller may read. Several terms are joined by `|`. A text that a spreadsheet would run as a formula begins with an apostrophe.',
  door: 'signedIn',
  scope: 'read',
  query: AssetExportQuery,
  responses: { 200: bytes('text/csv') },
  errors: [
    'filter-field-not-found',
    'filter-malformed',
    'filter-operator-not-for-type',
    'filter-value-invalid',
  ],
});

/** The column by which rows are matched with assets. */
export const CsvMatch = Type.Enum(['id', 'hash', 'filename']);
export type CsvMatch = Static<typeof CsvMatch>;

/** What an import would do. `rows` is `changed` + `unchanged` + `refused_count`. */
export const CsvPreview = closed({
  /** The rows that are not empty, without the header. */
  rows: Count,
  /** The cells that would change. Null means no value. */
  changes: Type.Array(
    closed({
      id: Uuid,
      /** The code of the field. */
      field: Type.String(),
      from: nullable(Type.String()),
      to: nullable(Type.String()),
    }),
    { maxItems: mostCsvListed },
  ),
  /** The number of rows that would change something. */
  changed: Count,
  /** The number of cells that would change. */
  change_count: Count,
  unchanged: Count,
  refused: Type.Array(
    closed({
      /** Its place in the file, as spreadsheets count; the header is row 1. */
      row: Count,
      id: Type.Optional(Uuid),
      reason: Type.String(),
    }),
    { maxItems: mostCsvListed },
  ),
  refused_count: Count,
});
export type CsvPreview = Static<typeof CsvPreview>;

export const importAssets = operation({
  id: 'importAssets',
  method: 'POST',
  path: '/assets/import.csv',
  tag: 'Assets',
  summary: 'Import metadata from CSV',
  description:
    'Changes the fields of assets as the part `file` says, a row for each asset. An empty cell leaves the value, `!clear` removes it. With `dry_run`, returns the differences and writes nothing; otherwise a job writes them, checking rights for each asset, which `GET /jobs/{id}` shows and `POST /jobs/{id}/undo` undoes. An unknown column, a repeated row or a cell that its field does not allow is 422 and nothing is written.',
  door: 'signedIn',
  scope: 'assets.write',
  query: Type.Object({
    dry_run: Type.Optional(Type.Boolean()),
    match: Type.Optional(CsvMatch),
  }),
  body: closed({}),
  form: 'only',
  responses: { 200: CsvPreview, 202: StartedBatch },
  errors: [
    'csv-cell-invalid',
    'csv-column-missing',
    'csv-column-repeated',
    'csv-column-unknown',
    'csv-row-repeated',
    'csv-row-too-long',
    'csv-too-many-rows',
    'csv-unreadable',
    'file-part-missing',
    'file-part-strict',
    'received-too-large',
  ],
});
