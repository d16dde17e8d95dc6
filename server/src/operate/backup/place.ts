import { type Config, ConfigError } from '../../core/config.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { openBucketTarget } from './bucket.ts';
import { openDirectory } from './directory.ts';
import type { BackupTarget } from './target.ts';

/**
 * Opens the place that a command names: a directory, or a bucket as `s3://bucket/prefix`. `create` makes a directory that
 * does not exist. Throws a ConfigError for a wrong name, or a bucket without settings.
 */
export async function openPlace(config: Config, name: string, create: boolean): Promise<BackupTarget> {
  if (!/^s3:/i.test(name)) return openDirectory(name, create);
  const [, bucket, , prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(\/((?:\w[\w.-]*\/)*\w[\w.-]*)?\/?)?$/.exec(name) ?? [];
  if (bucket === undefined)
    throw new ConfigError(
      sentence('{name} is not an address in a bucket, such as {example}', {
        name,
        example: 's3://backups/vitrine',
      }),
    );
  const service = config.backupS3 ?? config.s3;
  if (service === null)
    throw new ConfigError(
      sentence(
        'a backup in a bucket needs VITRINE_BACKUP_S3_ACCESS_KEY_ID and VITRINE_BACKUP_S3_SECRET_ACCESS_KEY',
      ),
    );
  // Only backups in a bucket load the client.
  const { openBucket } = await import('../../platform/storage/s3-bucket.ts');
  const own = { writes: true, redirectSeconds: 0, publicEndpoint: null };
  const settings = { ...service, ...own, bucket, prefix: prefix === '' ? '' : `${prefix}/` };
  return openBucketTarget(openBucket(settings), name.replace(/\/+$/, ''));
}
