import { statfs } from 'node:fs/promises';

/** A library that a decoder needs is missing or cannot be loaded. */
export class InstallationFault extends Error {
  /** Survives the way out of a decoder process, which the class does not. */
  readonly code = 'INSTALLATION_FAULT';
}

/** How Node says that a module is missing, or is not the one that was installed. */
const moduleCodes =
  /^(?:INSTALLATION_FAULT|MODULE_NOT_FOUND|ERR_(?:MODULE_NOT_FOUND|DLOPEN_FAILED|REQUIRE_ESM|UNSUPPORTED_DIR_IMPORT|UNKNOWN_BUILTIN_MODULE|(?:INVALID|PACKAGE)_[A-Z_]*(?:PACKAGE|MODULE|IMPORT|PATH)[A-Z_]*))$/;

/** What libraries say when an allocation fails. */
const outOfMemory = /out of memory|unable to allocate/i;

/** Whether a decoder failed because of the machine or the installation (the disk, memory, a missing library) rather than its file. */
export function isFaultOfTheMachine(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('syscall' in error || outOfMemory.test(error.message)) return true;
  return 'code' in error && typeof error.code === 'string' && moduleCodes.test(error.code);
}

/**
 * Loads a library that reads untrusted files. What goes wrong before it has seen a file is not the fault of the file: rejects
 * with InstallationFault, or with the error itself if the machine is at fault.
 */
export async function loadLibrary<T>(name: string, load: () => T | Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    throw new InstallationFault(
      `${name} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** A volume with less room than this is full: nothing of use could be written. */
const FULL_BYTES = 1024 ** 2;

/**
 * Rejects with ENOSPC when the volume of this directory is full. To be asked when a file seems damaged and a library has
 * written meanwhile: not all of them tell a full disk from a file that they cannot decode.
 */
export async function requireRoomIn(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= FULL_BYTES) return;
  throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC', syscall: 'write' });
}
