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
function loadSqlite() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (...args: unknown[]) => {
    if (!String(args[0]).includes('SQLite')) Reflect.apply(emitWarning, process, args);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** SQLITE_BUSY, whatever its extended code says of the circumstances. */
function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    (error.errcode & 0xff) === 5
  );
}

function lockFile(path: string): InstanceLock {
  const { DatabaseSync } = loadSqlite();
  const file = new DatabaseSync(path);
  try {
    // Nothing is ever written, so there is nothing for a journal to lie beside the lock for.
    file.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    file.close();
    throw error;
  }
  return { release: () => file.close() };
}

/**
 * Holds `<dataDir>/instance.lock` until released or until this process is gone, however it goes; throws
 * LibraryInUse when another one holds it. It is the file lock of a SQLite database, which the kernel drops with the
 * process and which is seen by other containers on the same volume.
 */
export function lockInstance(dataDir: string): InstanceLock {
  const path = join(dataDir, 'instance.lock');
  try {
    return lockFile(path);
  } catch (error) {
    if (isBusy(error)) throw new LibraryInUse(dataDir);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot lock ${path}: ${reason}`, { cause: error });
  }
}
