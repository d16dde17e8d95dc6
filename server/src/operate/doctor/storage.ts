import { randomBytes } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { damagedRenditions, hasOriginal, type KnownFile } from '../../content/assets/repair.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { formerBuckets } from '../storage/buckets.ts';
import { readDisk } from '../storage/overview.ts';
import {
  type DoctorDeps,
  type Examination,
  type Finding,
  passed,
  problem,
  several,
  warning,
} from './check.ts';

const GIB = 1024 ** 3;
/** Number of files checked on the disk. */
const SAMPLE = 100;
/** Number checked concurrently: storage may be remote. */
const AT_ONCE = 8;

/** Formats a size in the decimal unit of the pages. */
function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Free space for originals, renditions and the database; PostgreSQL stops on a full disk. */
export function judgeDisk({ free_bytes, total_bytes }: { free_bytes: number; total_bytes: number }): Finding {
  const detail = `${gigabytes(free_bytes)} of ${gigabytes(total_bytes)} are free`;
  const remedy = 'Make room on the volume of the data directory, or move it to a larger one.';
  if (free_bytes < GIB) return problem(detail, remedy);
  return free_bytes < 5 * GIB || free_bytes < total_bytes * 0.05 ? warning(detail, remedy) : passed(detail);
}

const diskSpace: Examination = {
  code: 'disk_space',
  title: 'Disk space',
  look: async ({ config }) => judgeDisk(await readDisk(config.dataDir)),
};

const dataDirectory: Examination = {
  code: 'data_directory',
  title: 'Data directory',
  async look({ config, storage }) {
    const library = join(config.dataDir, 'library');
    const probe = join(storage.incomingDir, `doctor-${randomBytes(6).toString('hex')}`);
    try {
      await writeFile(probe, '');
      await rm(probe);
    } catch (error) {
      return problem(
        `${storage.incomingDir} cannot be written to: ${error instanceof Error ? error.message : error}`,
        'Make the user that Vitrine runs as the owner of the directory.',
      );
    }
    const { mode, gid } = await stat(library);
    // The group of decoders may pass through.
    const closed = gid === config.decoderUid ? 0o067 : 0o077;
    if ((mode & closed) !== 0) {
      return warning(
        `other users of this machine can read ${library} directly, bypassing all access rules`,
        `chmod 700 ${library}`,
      );
    }
    return passed(`${config.dataDir} can be written to, and is closed to other users`);
  },
};

const bucket: Examination = {
  code: 'bucket',
  title: 'Bucket',
  async look({ config, storage }) {
    const { s3 } = config;
    if (s3 === null) return passed('files are stored in the data directory');
    try {
      await storage.checkReady();
    } catch (error) {
      return problem(
        `${JSON.stringify(s3.bucket)} cannot be used: ${error instanceof Error ? error.message : error}`,
        'Check the service and the settings VITRINE_S3_*. Meanwhile uploads are refused, and jobs wait.',
      );
    }
    return passed(`${JSON.stringify(s3.bucket)} can be used`);
  },
};

/**
 * Returns files from a random start, wrapping around, so that every file is checked eventually and small libraries
 * completely.
 */
async function sample({ db }: Pick<DoctorDeps, 'db'>): Promise<KnownFile[]> {
  const from = randomBytes(32).toString('hex');
  const { rows } = await sql<KnownFile>`
    (select hash, size_bytes, mime, renditions from files where hash >= ${from} order by hash limit ${SAMPLE})
    union all
    (select hash, size_bytes, mime, renditions from files where hash < ${from} order by hash limit ${SAMPLE})
    limit ${SAMPLE}`.execute(db);
  return rows;
}

/** Returns the files of these bytes that are missing or differ in size. */
async function lossOf({ storage }: Pick<DoctorDeps, 'storage'>, file: KnownFile) {
  return {
    hash: file.hash,
    original: !(await hasOriginal(storage, file.hash, file.size_bytes)),
    renditions: (await damagedRenditions(storage, file)).length,
  };
}

const filesOnDisk: Examination = {
  code: 'files_on_disk',
  title: 'Files',
  async look({ db, storage, config }) {
    const files = await sample({ db });
    const limit = pLimit(AT_ONCE);
    const losses = await Promise.all(files.map((file) => limit(() => lossOf({ storage }, file))));
    const lost = losses.filter(({ original }) => original);
    const checked = `${several(files.length, 'file')} checked`;
    const former = lost.length === 0 ? [] : await formerBuckets(db, config.s3);
    if (former.length > 0) {
      return problem(
        `${lost.length} of ${checked} are not here: they may be in the bucket ${former.join(', ')}, which is no longer configured`,
        'Set VITRINE_S3_* to that bucket again. To leave it, run `vitrine storage move` with VITRINE_S3_WRITES=off first.',
      );
    }
    if (lost.length > 0) {
      const named = lost.slice(0, 3).map(({ hash }) => originalKey(hash));
      return problem(
        `missing or truncated: ${lost.length} of ${checked}, among them ${named.join(', ')}`,
        'Restore them from a backup: they are below library/ in the data directory. `vitrine doctor --bytes` names every lost file and its assets.',
      );
    }
    const renditions = losses.reduce((sum, loss) => sum + loss.renditions, 0);
    if (renditions > 0) {
      return warning(
        `${several(renditions, 'preview')} missing or damaged (${checked})`,
        'Run `vitrine doctor --bytes --repair`, which renders them again.',
      );
    }
    return passed(files.length === 0 ? 'there are no files yet' : `${checked}, all complete`);
  },
};

/** What a start examines: whether the files are where the settings say. */
export const startExaminations = [bucket, filesOnDisk];

export const storageExaminations = [diskSpace, dataDirectory, bucket, filesOnDisk];
