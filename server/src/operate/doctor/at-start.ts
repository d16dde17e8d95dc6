import type { Deps } from '../../core/deps.ts';
import { examineAll } from './examine.ts';
import { startExaminations } from './storage.ts';

/** Logs what is wrong with the storage of files, which no request may have shown yet (STORAGE-6). */
export async function reportAtStart({ db, storage, config, log }: Deps): Promise<void> {
  const checks = await examineAll({ db, storage, config, searchPath: '' }, 'en', startExaminations);
  for (const { code, title, detail, status, remedy } of checks) {
    if (status === 'problem') log.error({ check: code, remedy }, `${title}: ${detail}`);
  }
}
