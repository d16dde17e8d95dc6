import { getImport, type ImportRun, type ImportRunReport, listImports } from '@vitrine/contract/imports';
import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { saySentence, sayStored } from '../../platform/language/sentence.ts';
import { sayCounted, sayThing } from './report-words.ts';
import type { StoredGroup, StoredReport } from './runs.ts';

/** Columns of ImportRun for `import_runs r`. A run that has not been seen for a minute was killed. */
const columns = sql<ImportRun>`r.id, r.system, r.step, r.done, r.total, r.error, r.started_at, r.finished_at,
  case when r.state = 'running' and r.seen_at < now() - interval '1 minute' then 'interrupted' else r.state end as state`;

/** Returns a run with the reason of its failure in a language (LANGUAGE-8). */
const runIn = (language: Language, run: ImportRun): ImportRun => ({
  ...run,
  error: run.error === null ? null : sayStored(language, run.error),
});

/** `GET /admin/imports` (IMPORT-11). */
export const list = handle(listImports, async ({ db }, { caller, http, query }) => {
  const language = readerLanguage(caller, http);
  const page = newestFirst(query, 'r.started_at', 'r.id');
  const { rows } = await sql<ImportRun>`
    select ${columns} from import_runs r where ${page.after} ${page.order}`.execute(db);
  const cut = page.cut(rows, ({ started_at, id }) => ({ at: started_at, id }));
  return { status: 200, body: { items: cut.rows.map((run) => runIn(language, run)), next_cursor: cut.next } };
});

/** Returns a stored report in a language; reasons that an earlier version has stored are as they are (LANGUAGE-8). */
function inLanguage(
  language: Language,
  { left_out, changed, vanished, ...report }: StoredReport,
): Omit<ImportRunReport, keyof ImportRun> {
  const inWords = (groups: readonly StoredGroup[]) =>
    groups.map(({ told, ...group }) => ({
      ...group,
      label: sayThing(language, group.kind),
      reason: told === undefined ? group.reason : saySentence(language, told),
    }));
  const names = Object.keys(report.counts);
  return {
    ...report,
    count_labels: Object.fromEntries(names.map((name) => [name, sayCounted(language, name)])),
    left_out: inWords(left_out),
    changed: inWords(changed),
    vanished: inWords(vanished),
  };
}

/** `GET /admin/imports/{id}` (IMPORT-11). */
export const get = handle(getImport, async ({ db }, { caller, http, params }) => {
  const { rows } = await sql<ImportRun & { report: Partial<StoredReport> }>`
    select ${columns}, r.report from import_runs r where r.id = ${params.id}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw notFound();
  const { report, ...run } = row;
  const language = readerLanguage(caller, http);
  return {
    status: 200,
    body: { ...runIn(language, run), ...inLanguage(language, { ...noReport, ...report }) },
  };
});

const noReport: StoredReport = {
  counts: {},
  hashes: { compared: 0, equal: 0, different: [] },
  left_out: [],
  changed: [],
  vanished: [],
  link_count: 0,
};
