import type { Check } from '@vitrine/contract/doctor';
import { backupExaminations } from './backup.ts';
import { type DoctorDeps, type Examination, type Finding, problem } from './check.ts';
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

const examinations: readonly Examination[] = [
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
    () => resolve(problem('the check timed out', 'See the log, and run the check again.')),
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
    const why = error instanceof Error && error.message !== '' ? error.message : String(error);
    return problem(`the check failed: ${why}`, 'See the log.');
  } finally {
    patience.cancel();
  }
}

/** Runs checks one by one, by default all, so that a busy library keeps connections for its users. */
export async function examineAll(
  deps: DoctorDeps,
  chosen: readonly Examination[] = examinations,
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const examination of chosen) {
    const { code, title } = examination;
    checks.push({ code, title, ...(await lookAt(examination, deps)) });
  }
  return checks;
}
