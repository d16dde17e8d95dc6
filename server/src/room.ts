import type { Operation } from '@vitrine/contract/operation';
import type { FastifyRequest } from 'fastify';
import type { Deps } from './deps.ts';
import { NoRoom, requireRoom } from './platform/storage/room.ts';

/**
 * Throws NoRoom when the disk is too full for a request, before its body is read. Files must leave the reserve alone.
 * Other changes may use it up to a quarter when the embedded database shares the volume: PostgreSQL stops altogether
 * when it cannot write. What makes room, and signing in for it, is always let through.
 */
export async function checkRoom(
  { storage, config }: Pick<Deps, 'storage' | 'config'>,
  operation: Operation,
  { headers }: Pick<FastifyRequest, 'headers'>,
): Promise<void> {
  if (operation.method === 'GET' || operation.method === 'DELETE' || operation.worksWhenFull === true) return;
  const takesFile = operation.form !== undefined || operation.raw !== undefined || operation.tus === true;
  const isJson = /^application\/json/i.test(headers['content-type'] ?? '');
  if (takesFile && !isJson) return requireRoom(storage, Number(headers['content-length'] ?? 0));
  if (config.databaseUrl !== null) return;
  const { freeBytes, reserveBytes } = await storage.room();
  if (freeBytes < reserveBytes / 4) throw new NoRoom();
}
