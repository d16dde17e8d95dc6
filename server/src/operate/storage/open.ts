import { join } from 'node:path';
import { type Config, ConfigError } from '../../core/config.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type FileOperations, onThreads } from '../../platform/files/operations.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { openStorage } from '../../platform/storage/open.ts';
import type { Storage } from '../../platform/storage/storage.ts';

/** Opens the library's files, in its data directory or its bucket. Throws a ConfigError if the directory cannot be used. */
export async function openLibraryStorage(
  config: Config,
  operations: FileOperations = onThreads,
): Promise<Storage> {
  try {
    return await openStorage(join(config.dataDir, 'library'), config.reserveBytes, config.s3, operations);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new ConfigError(
      sentence('{setting}: {reason}', { setting: 'VITRINE_DATA', reason: sentenceOfError(error) }),
    );
  }
}
