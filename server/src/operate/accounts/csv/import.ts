import type { Language } from '@vitrine/contract/languages';
import {
  importUsers,
  mostUserCsvBytes,
  mostUserCsvRows,
  type UserCsvResult,
} from '@vitrine/contract/user-csv';
import type { SignedIn } from '../../../access/caller.ts';
import { csvForm } from '../../../content/csv/form.ts';
import { withCsvFile } from '../../../content/csv/read.ts';
import { handleForm } from '../../../core/handle.ts';
import { readerLanguage } from '../../../core/reader-language.ts';
import { callerUnderLock } from '../../../people/roles/last-administrator.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { saySentence } from '../../../platform/language/sentence.ts';
import { type Decision, decide } from './decide.ts';
import { readKnown } from './known.ts';
import { type AccountLine, readLines } from './read-rows.ts';
import { writeDecisions } from './write.ts';

function resultOf(decisions: readonly Decision[], language: Language): UserCsvResult {
  const refused = decisions.flatMap(({ row, username, reason }) =>
    reason === null
      ? []
      : [{ row, ...(username === '' ? {} : { username }), reason: saySentence(language, reason) }],
  );
  const changing = decisions.filter(({ changes }) => changes.length > 0);
  const created = changing.filter(({ account }) => account === null).length;
  return {
    rows: decisions.length,
    created,
    changed: changing.length - created,
    unchanged: decisions.length - changing.length - refused.length,
    changes: changing.flatMap(({ row, username, account, changes }) =>
      changes.map((change) => ({
        row,
        username,
        ...(account === null ? {} : { ref: account.ref }),
        ...change,
      })),
    ),
    refused,
    refused_count: refused.length,
  };
}

/** Compares rows with the accounts, and writes what differs unless it is a dry run, in one transaction (CSV-13). */
function run(
  db: Database,
  asked: SignedIn,
  lines: readonly AccountLine[],
  { isDryRun, language }: { isDryRun: boolean; language: Language },
): Promise<UserCsvResult> {
  return db.transaction().execute(async (tx) => {
    const caller = isDryRun ? asked : await callerUnderLock(tx, asked, 'users.write');
    const known = await readKnown(tx, caller, lines, isDryRun);
    const decisions = await decide(tx, caller, lines, known);
    return resultOf(isDryRun ? decisions : await writeDecisions(tx, caller, decisions, known), language);
  });
}

/** `POST /admin/users/import.csv`. */
export const importCsv = handleForm(
  importUsers,
  csvForm(mostUserCsvBytes),
  async ({ db }, { caller, http, query, form }) => {
    if (form === null) throw refuse('form-required');
    const lines = await withCsvFile(form.path, (file) => readLines(caller, file), mostUserCsvRows);
    const options = { isDryRun: query.dry_run === true, language: readerLanguage(caller, http) };
    return { status: 200, body: await run(db, caller, lines, options) };
  },
);
