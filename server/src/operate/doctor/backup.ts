import { sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { readLastBackup } from '../metrics/last-backup.ts';
import { type Examination, type Finding, passed, warning } from './check.ts';

const HOUR_MS = 3600 * 1000;
/** A nightly backup is at most this old, with a margin. */
const OLD_HOURS = 48;

/** How long ago the last backup was made, in milliseconds; null: never. */
function judgeBackup(ageMs: number | null): Finding {
  const remedy = sentence('Run `vitrine backup` every night; see docs/operations.md.');
  if (ageMs === null) return warning(sentence('no backup was made with `vitrine backup` yet'), remedy);
  const hours = Math.floor(ageMs / HOUR_MS);
  const detail = sentenceCount(hours, [
    'the last one was made # hour ago',
    'the last one was made # hours ago',
  ]);
  return hours < OLD_HOURS ? passed(detail) : warning(detail, remedy);
}

const backup: Examination = {
  code: 'backup',
  title: sentence('Backup'),
  async look({ db }) {
    const at = await readLastBackup(db);
    return judgeBackup(at === null ? null : Date.now() - at);
  },
};

export const backupExaminations = [backup];
