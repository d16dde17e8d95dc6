import type { Operation } from '@vitrine/contract/operation';
import type { FastifyRequest } from 'fastify';
import type { Deps } from '../core/deps.ts';
import { releaseReserve } from '../platform/database/embedded-reserve.ts';
import { NoRoom, requireRoom } from '../platform/storage/room.ts';

/**
 * Throws NoRoom before a request's body is read when the disk is too full. Files must not use the reserve. Other
 * changes may use a quarter of it when the embedded database shares the volume, since PostgreSQL stops when it cannot
 * write. Requests that free space, and signing in for them, always pass; on a full disk they use PostgreSQL's own reserve
 * (RUN-44).
 */
export async function checkRoom(
  { storage, config }: Pick<Deps, 'storage' | 'config'>,
  operation: Operation,
  { headers }: Pick<FastifyRequest, 'headers'>,
): Promise<void> {
  if (operation.method === 'GET') return;
  if (operation.method === 'DELETE' || operation.worksWhenFull === true) {
    if (config.databaseUrl === null) await releaseReserve(config.dataDir);
    return;
  }
  const takesFile = operation.form !== undefined || operation.raw !== undefined || operation.tus === true;
  const isJson = /^application\/json/i.test(headers['content-type'] ?? '');
  if (takesFile && !isJson) return requireRoom(storage, Number(headers['content-length'] ?? 0));
  if (config.databaseUrl !== null) return;
  const { freeBytes, reserveBytes } = await storage.room();
  if (freeBytes < reserveBytes / 4) throw new NoRoom();
}
