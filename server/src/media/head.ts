import { open } from 'node:fs/promises';

/**
 * Returns the first bytes of a file, at most `length` of them, and the size of the file. Rejects only on disk errors.
 */
export async function readHead(path: string, length: number): Promise<{ head: Buffer; fileSize: number }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const room = Buffer.alloc(Math.min(length, size));
    const { bytesRead } = await file.read(room, 0, room.length, 0);
    return { head: room.subarray(0, bytesRead), fileSize: size };
  } finally {
    await file.close();
  }
}

/** Returns the last bytes of a file, at most `length` of them. Rejects only on disk errors. */
export async function readTail(path: string, length: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const room = Buffer.alloc(Math.min(length, size));
    const { bytesRead } = await file.read(room, 0, room.length, size - room.length);
    return room.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
