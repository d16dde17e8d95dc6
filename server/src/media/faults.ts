import { statfs } from 'node:fs/promises';

/** A library that a decoder needs is missing or cannot be loaded. */
export class InstallationFault extends Error {
  /** Identifies the error after IPC, which does not preserve the class. */
  readonly code = 'INSTALLATION_FAULT';
}

/** Node's error codes for a module that is missing or incompatible. */
const moduleCodes =
  /^(?:INSTALLATION_FAULT|MODULE_NOT_FOUND|ERR_(?:MODULE_NOT_FOUND|DLOPEN_FAILED|REQUIRE_ESM|UNSUPPORTED_DIR_IMPORT|UNKNOWN_BUILTIN_MODULE|(?:INVALID|PACKAGE)_[A-Z_]*(?:PACKAGE|MODULE|IMPORT|PATH)[A-Z_]*))$/;

/** Error codes of the system for offsets and lengths that a damaged file declares, and that no disk has. */
const impossible: ReadonlySet<string> = new Set(['EINVAL', 'EFBIG', 'EOVERFLOW', 'ERR_OUT_OF_RANGE']);

/** Messages of libraries when an allocation fails. */
const outOfMemory = /out of memory|unable to allocate/i;

/**
 * Returns whether a decoder failed because of the machine or the installation (disk, memory, a missing library) and
 * not because of its file.
 */
export function isFaultOfTheMachine(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isWriting = 'syscall' in error && error.syscall === 'write';
  if (impossible.has(code) && !isWriting) return false;
  // A Blob reports errors of the disk by this name.
  if ('syscall' in error || error.name === 'NotReadableError') return true;
  return outOfMemory.test(error.message) || moduleCodes.test(code);
}

/** Matches absolute paths and file addresses, also quoted ones. */
const serverPaths = /(?:file:\/\/|(?<![\w./:<])\/(?=[\w.@-]+\/))[^\s'"`:,;)\]]*/g;

/** Returns a message without paths of the server, which must not be disclosed. */
export function withoutPaths(message: string): string {
  return message.replaceAll(serverPaths, 'the file');
}

/**
 * Loads a library that reads untrusted files. An error while loading is not caused by a file: rejects with
 * InstallationFault, or with the error itself if the machine is at fault.
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

/** A volume with less free space than this counts as full, because nothing useful could be written. */
const FULL_BYTES = 1024 ** 2;

/**
 * Rejects with ENOSPC if the volume of this directory is full. Call it when a file seems damaged after a library
 * wrote to disk, because some libraries report a full disk as a decoding error.
 */
export async function requireRoomIn(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize >= FULL_BYTES) return;
  throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC', syscall: 'write' });
}
