import type { Storage } from './storage.ts';

/** The volume of the library is full, or what is left of it is kept for the database. */
export class NoRoom extends Error {
  constructor() {
    super('the disk of the library is full');
  }
}

/** Whether files may be stored at all: less than the reserve is in use. */
export async function hasRoom(storage: Pick<Storage, 'room'>): Promise<boolean> {
  const { freeBytes, reserveBytes } = await storage.room();
  return freeBytes > reserveBytes;
}

/** Rejects with NoRoom when storing this many bytes would leave less than the reserve. */
export async function requireRoom(storage: Pick<Storage, 'room'>, bytes: number): Promise<void> {
  const { freeBytes, reserveBytes } = await storage.room();
  if (freeBytes - bytes < reserveBytes) throw new NoRoom();
}

/** Codes of the operating system and of PostgreSQL (`disk_full`) for a full disk and an exceeded quota. */
const fullCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', '53100'];

/** Whether a write failed for want of disk space, in the library or in the database. */
export function isOutOfRoom(error: unknown): boolean {
  if (error instanceof NoRoom) return true;
  return error instanceof Error && 'code' in error && fullCodes.includes(error.code);
}
