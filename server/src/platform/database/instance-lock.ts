import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Another process of ours holds the library. */
export class LibraryInUse extends Error {
  constructor(dataDir: string) {
    super(`another Vitrine is using ${dataDir}`);
  }
}

export interface InstanceLock {
  release(): void;
}

/** Node still announces node:sqlite as a release candidate at every start; nobody running us can act on that. */
async function loadSqlite() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error) => {
    if (!String(warning).includes('SQLite')) emitWarning.call(process, warning);
  };
  try {
    return await import('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

/**
 * Holds `<dataDir>/instance.lock` until released or until this process is gone, however it goes; throws
 * LibraryInUse when another one holds it. It is the file lock of a SQLite database, which the kernel drops with the
 * process and which is seen by other containers on the same volume.
 */
export async function lockInstance(dataDir: string): Promise<InstanceLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const { DatabaseSync } = await loadSqlite();
  const file = new DatabaseSync(join(dataDir, 'instance.lock'));
  try {
    file.exec('begin exclusive');
  } catch (error) {
    file.close();
    if (isBusy(error)) throw new LibraryInUse(dataDir);
    throw error;
  }
  return { release: () => file.close() };
}
