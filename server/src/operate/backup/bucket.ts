import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { Bucket } from '../../platform/storage/s3-bucket.ts';
import { DamagedObject, NoSuchObject } from '../../platform/storage/storage.ts';
import { BackupError, type BackupTarget } from './target.ts';

/** The prefix of lock objects; each writer renews its own. */
const WRITERS = 'writers/';
/** A lock object that was not renewed for this long belongs to a killed writer. */
const LEASE_MS = 5 * 60_000;

/** Describes a fault of stored content; all other errors are faults of the service. */
function asDamage(place: string, key: string, error: unknown): unknown {
  if (error instanceof NoSuchObject)
    return new BackupError(sentence('{file} is missing', { file: `${place}/${key}` }));
  return error instanceof DamagedObject ? new BackupError(sentenceOfError(error)) : error;
}

/**
 * Uses a bucket as a place for backups. A bucket has no locks: a writer stores a lock object, then looks for others.
 * Those of killed writers expire after `leaseMs`, by the clock of the service. While the service is unavailable, every
 * call fails with StorageUnavailable.
 */
export function openBucketTarget(bucket: Bucket, place: string, { leaseMs = LEASE_MS } = {}): BackupTarget {
  /** When the lock object of this writer was last renewed; null if it has none. */
  let renewedAt: number | null = null;

  return {
    place,
    write: (key, content, sizeBytes) => bucket.send(key, content, sizeBytes ?? null),
    async read(key) {
      try {
        const { stream } = await bucket.read(key, null, null);
        const watched = async function* () {
          try {
            yield* stream;
          } catch (error) {
            throw asDamage(place, key, error);
          }
        };
        return Readable.from(watched(), { objectMode: false });
      } catch (error) {
        throw asDamage(place, key, error);
      }
    },
    async size(key) {
      return (await bucket.find(key))?.sizeBytes ?? null;
    },
    async *list(directory) {
      for await (const { key } of bucket.list(directory)) yield key;
    },
    remove: (key) => bucket.delete(key),
    async sync() {
      if (renewedAt !== null && performance.now() - renewedAt > leaseMs)
        throw new BackupError(
          sentence(
            '{place} could not be reached for too long; earlier backups are complete, this one is not',
            {
              place,
            },
          ),
        );
    },
    async lock() {
      const name = `${WRITERS}${randomUUID()}`;
      const renew = async () => {
        const at = performance.now();
        await bucket.send(name, Readable.from([Buffer.from('a writer of backups\n')]), null);
        renewedAt = at;
      };
      await renew();
      // By the clock of the service.
      const now = (await bucket.find(name))?.modifiedAt ?? 0;
      for await (const other of bucket.list(WRITERS)) {
        if (other.key === name) continue;
        if (now - other.modifiedAt < leaseMs) {
          await bucket.delete(name);
          throw new BackupError(
            sentence('another backup is writing to {place}, or was killed in the last {minutes} minutes', {
              place,
              minutes: Math.ceil(leaseMs / 60_000),
            }),
          );
        }
        await bucket.delete(other.key);
      }
      await bucket.removeUnfinished(Date.now());
      let renewing = Promise.resolve();
      const timer = setInterval(() => {
        renewing = renew().catch(() => {});
      }, leaseMs / 5);
      return {
        async release() {
          clearInterval(timer);
          await renewing;
          renewedAt = null;
          await bucket.delete(name).catch(() => {});
        },
      };
    },
  };
}
