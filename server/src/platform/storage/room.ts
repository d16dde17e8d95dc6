import { type Storage, StorageUnavailable } from './storage.ts';

/** The volume is full, or only the reserve for the database is left. */
export class NoRoom extends Error {
  constructor() {
    super('the disk of the library is full');
  }
}

/** Returns whether files may be stored: the reserve is untouched. */
export async function hasRoom(storage: Pick<Storage, 'room'>): Promise<boolean> {
  const { freeBytes, reserveBytes } = await storage.room();
  return freeBytes > reserveBytes;
}

/** Rejects with NoRoom when storing this many bytes would use the reserve. */
export async function requireRoom(storage: Pick<Storage, 'room'>, bytes: number): Promise<void> {
  const { freeBytes, reserveBytes } = await storage.room();
  if (freeBytes - bytes < reserveBytes) throw new NoRoom();
}

/** Codes of the operating system and of PostgreSQL (`disk_full`) for a full disk and an exceeded quota. */
const fullCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', '53100'];

/** Returns whether a job failed only because files cannot be stored or read at the moment. */
export function isStorageOutage(error: unknown): boolean {
  return isOutOfRoom(error) || error instanceof StorageUnavailable;
}

/** Returns whether a write failed for lack of disk space, in the library or in the database. */
export function isOutOfRoom(error: unknown): boolean {
  if (error instanceof NoRoom) return true;
  return error instanceof Error && 'code' in error && fullCodes.includes(error.code);
}
