import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

/** The steps of an import, in their order. */
export const ImportStep = Type.Enum(['definitions', 'people', 'resources', 'others', 'finished']);
export type ImportStep = Static<typeof ImportStep>;

/** IMPORT-11: `interrupted` is a run that was killed; another one goes on where it was. */
export const ImportState = Type.Enum(['running', 'done', 'stopped', 'failed', 'interrupted']);
export type ImportState = Static<typeof ImportState>;

/** Things with the same kind and reason. */
export const ImportGroup = closed({
  kind: Type.String(),
  /** What the kind is called in the reader's language. */
  label: Type.String(),
  /** In the reader's language, unless an earlier version has stored it (LANGUAGE-8). */
  reason: Type.String(),
  count: Count,
  /** The first old ids. */
  ids: Type.Array(Type.String()),
});
export type ImportGroup = Static<typeof ImportGroup>;

/** A run of an import from another system. */
export const ImportRun = closed({
  id: Uuid,
  system: Type.String(),
  state: ImportState,
  step: ImportStep,
  /** Resources that are done, and all of them once they are counted. */
  done: Count,
  total: nullable(Count),
  /** Why it failed. */
  error: nullable(Type.String()),
  started_at: Timestamp,
  finished_at: nullable(Timestamp),
});
export type ImportRun = Static<typeof ImportRun>;

const groups = Type.Array(ImportGroup);

/** A run with its report, as far as it has come. Addresses and passwords of links are only in the file of the report. */
export const ImportRunReport = closed({
  ...ImportRun.properties,
  counts: Type.Record(Type.String(), Count),
  /** What is counted, in the reader's language, by the same names. */
  count_labels: Type.Record(Type.String(), Type.String()),
  hashes: closed({ compared: Count, equal: Count, different: Type.Array(Type.String()) }),
  /** What was not imported. */
  left_out: groups,
  /** What was imported in another form. */
  changed: groups,
  /** What an earlier run imported and no longer exists. */
  vanished: groups,
  /** How many new links are in the file of the report. */
  link_count: Count,
});
export type ImportRunReport = Static<typeof ImportRunReport>;

export const listImports = operation({
  id: 'listImports',
  method: 'GET',
  path: '/admin/imports',
  tag: 'System',
  summary: 'List imports from other systems',
  description: 'Lists the runs of `vitrine import-resourcespace` and `vitrine import-immich`, newest first.',
  door: { holds: 'system.admin' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(ImportRun) },
  errors: [],
});

export const getImport = operation({
  id: 'getImport',
  method: 'GET',
  path: '/admin/imports/{id}',
  tag: 'System',
  summary: 'Get an import and its report',
  description:
    'Returns a run with its progress and its report so far: counts, compared checksums, and what was left out, imported in another form or has vanished, grouped by kind and reason.',
  door: { holds: 'system.admin' },
  scope: 'read',
  params: closed({ id: Uuid }),
  responses: { 200: ImportRunReport },
  errors: ['not-found'],
});
