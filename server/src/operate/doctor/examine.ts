import type { Check } from '@vitrine/contract/doctor';
import type { Language } from '@vitrine/contract/languages';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { backupExaminations } from './backup.ts';
import { type DoctorDeps, type Examination, type Finding, problem, sayFinding } from './check.ts';
import { databaseExaminations } from './database.ts';
import { directoryExaminations } from './directories.ts';
import { jobExaminations } from './jobs.ts';
import { nameExaminations } from './names.ts';
import { programExaminations } from './programs.ts';
import { siteExaminations } from './site.ts';
import { storageExaminations } from './storage.ts';
import { telemetryExaminations } from './telemetry.ts';

/** Timeout of one check. */
const PATIENCE_MS = 10_000;

/** All checks, in the order in which they are shown. */
export const examinations: readonly Examination[] = [
  ...databaseExaminations,
  ...storageExaminations,
  ...backupExaminations,
  ...jobExaminations,
  ...siteExaminations,
  ...nameExaminations,
  ...directoryExaminations,
  ...programExaminations,
  ...telemetryExaminations,
];

function afterAWhile(): { finding: Promise<Finding>; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const timer = setTimeout(
    () =>
      resolve(problem(sentence('the check timed out'), sentence('See the log, and run the check again.'))),
    PATIENCE_MS,
  );
  return { finding: promise, cancel: () => clearTimeout(timer) };
}

/** A check that fails is reported as a problem and does not stop the others. */
async function lookAt(examination: Examination, deps: DoctorDeps): Promise<Finding> {
  const patience = afterAWhile();
  try {
    return await Promise.race([examination.look(deps), patience.finding]);
  } catch (error) {
    return problem(
      sentence('the check failed: {reason}', { reason: sentenceOfError(error) }),
      sentence('See the log.'),
    );
  } finally {
    patience.cancel();
  }
}

/**
 * Runs checks one by one, by default all, so that a busy library keeps connections for its users. Returns the findings in
 * a language.
 */
export async function examineAll(
  deps: DoctorDeps,
  language: Language,
  chosen: readonly Examination[] = examinations,
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const examination of chosen)
    checks.push(sayFinding(language, examination, await lookAt(examination, deps)));
  return checks;
}
