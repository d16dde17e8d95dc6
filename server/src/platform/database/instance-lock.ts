import { join } from 'node:path';
import { sentence, WordedError } from '../language/sentence.ts';

/** Another Vitrine process holds the library. */
export class LibraryInUse extends WordedError {
  constructor(dataDir: string) {
    super(sentence('another Vitrine is using {directory}', { directory: dataDir }));
  }
}

export interface InstanceLock {
  release(): void;
}

/** Suppresses Node's warning about node:sqlite, which an operator cannot act on. */
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

/** SQLITE_BUSY, whatever the extended code. */
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
    // Nothing is ever written, so no journal file is needed beside the lock.
    file.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    file.close();
    throw error;
  }
  return { release: () => file.close() };
}

/**
 * Holds `<dataDir>/instance.lock` until released or until this process exits for any reason; throws LibraryInUse when
 * another process holds it. It is the file lock of a SQLite database: the kernel releases it with the process, and
 * other containers on the same volume see it.
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
