import { readSetting, writeSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { S3Settings } from '../../platform/storage/s3-settings.ts';
import { NoSuchObject, type Storage } from '../../platform/storage/storage.ts';

/** A bucket that the library has used; without its key. */
interface KnownBucket {
  endpoint: string | null;
  bucket: string;
  prefix: string;
}

function isKnownBucket(value: unknown): value is KnownBucket {
  return (
    typeof value === 'object' &&
    value !== null &&
    'endpoint' in value &&
    'bucket' in value &&
    typeof value.bucket === 'string' &&
    'prefix' in value
  );
}

/** The endpoint may change without the files, for example by another name of the same service. */
const isSame = (bucket: KnownBucket, s3: KnownBucket | null) =>
  s3 !== null && bucket.bucket === s3.bucket && bucket.prefix === s3.prefix;

async function readBuckets(db: Database): Promise<KnownBucket[]> {
  const value = await readSetting(db, 'buckets');
  const list = typeof value === 'object' && value !== null && 'list' in value ? value.list : null;
  return Array.isArray(list) ? list.filter(isKnownBucket) : [];
}

/** Records the configured bucket, so that its files can be told from lost ones when it is no longer configured. */
export async function rememberBucket(db: Database, s3: S3Settings | null): Promise<void> {
  if (s3 === null) return;
  const known = await readBuckets(db);
  if (known.some((bucket) => isSame(bucket, s3))) return;
  const { endpoint, bucket, prefix } = s3;
  await writeSetting(db, 'buckets', { list: [...known, { endpoint, bucket, prefix }] });
}

/** Forgets a bucket from which all files have been moved. */
export async function forgetBucket(db: Database, s3: S3Settings): Promise<void> {
  const known = await readBuckets(db);
  await writeSetting(db, 'buckets', { list: known.filter((bucket) => !isSame(bucket, s3)) });
}

/** Returns the names of buckets that the library has used, that are not configured now and may still have files. */
export async function formerBuckets(db: Database, s3: S3Settings | null): Promise<string[]> {
  return (await readBuckets(db)).filter((known) => !isSame(known, s3)).map(({ bucket }) => bucket);
}

/** Returns the storage; what it does not find may be in a bucket that is no longer configured, if there is one. */
export async function withFormerBuckets(
  db: Database,
  storage: Storage,
  s3: S3Settings | null,
): Promise<Storage> {
  if ((await formerBuckets(db, s3)).length === 0) return storage;
  const named = async <T>(read: Promise<T>): Promise<T> => {
    try {
      return await read;
    } catch (error) {
      throw error instanceof NoSuchObject ? new NoSuchObject(error.key, 'bucket-not-configured') : error;
    }
  };
  return {
    ...storage,
    get: (key, sizeBytes, range) => named(storage.get(key, sizeBytes, range)),
    addressOf: (key, sizeBytes, headers) => named(storage.addressOf(key, sizeBytes, headers)),
    withLocalFile: (key, use) => named(storage.withLocalFile(key, use)),
  };
}
