import { getImport, type ImportRun, type ImportRunReport, listImports } from '@vitrine/contract/imports';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import type { StoredReport } from './runs.ts';

/** Columns of ImportRun for `import_runs r`. A run that has not been seen for a minute was killed. */
const columns = sql<ImportRun>`r.id, r.system, r.step, r.done, r.total, r.error, r.started_at, r.finished_at,
  case when r.state = 'running' and r.seen_at < now() - interval '1 minute' then 'interrupted' else r.state end as state`;

/** `GET /admin/imports` (IMPORT-11). */
export const list = handle(listImports, async ({ db }, { query }) => {
  const page = newestFirst(query, 'r.started_at', 'r.id');
  const { rows } = await sql<ImportRun>`
    select ${columns} from import_runs r where ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, ({ started_at, id }) => ({ at: started_at, id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

/** `GET /admin/imports/{id}` (IMPORT-11). */
export const get = handle(getImport, async ({ db }, { params }) => {
  const { rows } = await sql<ImportRun & { report: Partial<StoredReport> }>`
    select ${columns}, r.report from import_runs r where r.id = ${params.id}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw notFound();
  const { report, ...run } = row;
  const body: ImportRunReport = { ...run, ...noReport, ...report };
  return { status: 200, body };
});

const noReport: StoredReport = {
  counts: {},
  hashes: { compared: 0, equal: 0, different: [] },
  left_out: [],
  changed: [],
  vanished: [],
  link_count: 0,
};
