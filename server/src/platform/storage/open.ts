import { type FileOperations, onThreads } from '../files/operations.ts';
import { openDiskStorage } from './disk.ts';
import { joinStorages } from './joined.ts';
import type { S3Settings } from './s3-settings.ts';
import type { Storage } from './storage.ts';

/** Both places of a library that has a bucket. */
export interface DiskAndBucket {
  disk: Storage;
  bucket: Storage;
}

/** Opens the directory and the bucket of a library separately. */
export async function openDiskAndBucket(
  root: string,
  reserveBytes: number,
  s3: S3Settings,
  operations: FileOperations = onThreads,
): Promise<DiskAndBucket> {
  const disk = await openDiskStorage(root, reserveBytes, operations);
  // Only libraries with a bucket load the client.
  const { openS3Storage } = await import('./s3.ts');
  return { disk, bucket: openS3Storage(s3, disk) };
}

/**
 * Opens the files of a library. With a bucket, new files go there, or to the disk if the bucket is only read; what is
 * in the other place remains readable, so that files can be moved while the library is in use.
 */
export async function openStorage(
  root: string,
  reserveBytes: number,
  s3: S3Settings | null,
  operations: FileOperations = onThreads,
): Promise<Storage> {
  if (s3 === null) return openDiskStorage(root, reserveBytes, operations);
  const { disk, bucket } = await openDiskAndBucket(root, reserveBytes, s3, operations);
  return s3.writes ? joinStorages(bucket, disk) : joinStorages(disk, bucket);
}
