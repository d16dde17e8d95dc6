import { randomBytes } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { damagedRenditions, hasOriginal, type KnownFile } from '../../content/assets/repair.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, sentence, sentenceCount, verbatim } from '../../platform/language/sentence.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { formerBuckets } from '../storage/buckets.ts';
import { readDisk } from '../storage/overview.ts';
import { type DoctorDeps, type Examination, type Finding, passed, problem, warning } from './check.ts';

const GIB = 1024 ** 3;
/** Number of files checked on the disk. */
const SAMPLE = 100;
/** Number checked concurrently: storage may be remote. */
const AT_ONCE = 8;

/** Returns a size in the decimal unit of the pages. */
const gigabytes = (bytes: number): Sentence =>
  sentence('{gigabytes} GB', { gigabytes: Math.round(bytes / 1e8) / 10 });

/** Free space for originals, renditions and the database; PostgreSQL stops on a full disk. */
export function judgeDisk({ free_bytes, total_bytes }: { free_bytes: number; total_bytes: number }): Finding {
  const detail = sentence('{free} of {total} are free', {
    free: gigabytes(free_bytes),
    total: gigabytes(total_bytes),
  });
  const remedy = sentence('Make room on the volume of the data directory, or move it to a larger one.');
  if (free_bytes < GIB) return problem(detail, remedy);
  return free_bytes < 5 * GIB || free_bytes < total_bytes * 0.05 ? warning(detail, remedy) : passed(detail);
}

const diskSpace: Examination = {
  code: 'disk_space',
  title: sentence('Disk space'),
  look: async ({ config }) => judgeDisk(await readDisk(config.dataDir)),
};

const dataDirectory: Examination = {
  code: 'data_directory',
  title: sentence('Data directory'),
  async look({ config, storage }) {
    const library = join(config.dataDir, 'library');
    const probe = join(storage.incomingDir, `doctor-${randomBytes(6).toString('hex')}`);
    try {
      await writeFile(probe, '');
      await rm(probe);
    } catch (error) {
      return problem(
        sentence('{directory} cannot be written to: {reason}', {
          directory: storage.incomingDir,
          reason: sentenceOfError(error),
        }),
        sentence('Make the user that Vitrine runs as the owner of the directory.'),
      );
    }
    const { mode, gid } = await stat(library);
    // The group of decoders may pass through.
    const closed = gid === config.decoderUid ? 0o067 : 0o077;
    if ((mode & closed) !== 0) {
      return warning(
        sentence('other users of this machine can read {directory} directly, bypassing all access rules', {
          directory: library,
        }),
        verbatim(`chmod 700 ${library}`),
      );
    }
    return passed(
      sentence('{directory} can be written to, and is closed to other users', { directory: config.dataDir }),
    );
  },
};

const bucket: Examination = {
  code: 'bucket',
  title: sentence('Bucket'),
  async look({ config, storage }) {
    const { s3 } = config;
    if (s3 === null) return passed(sentence('files are stored in the data directory'));
    try {
      await storage.checkReady();
    } catch (error) {
      return problem(
        sentence('{bucket} cannot be used: {reason}', {
          bucket: JSON.stringify(s3.bucket),
          reason: sentenceOfError(error),
        }),
        sentence(
          'Check the service and the settings VITRINE_S3_*. Meanwhile uploads are refused, and jobs wait.',
        ),
      );
    }
    return passed(sentence('{bucket} can be used', { bucket: JSON.stringify(s3.bucket) }));
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
  title: sentence('Files'),
  async look({ db, storage, config }) {
    const files = await sample({ db });
    const limit = pLimit(AT_ONCE);
    const losses = await Promise.all(files.map((file) => limit(() => lossOf({ storage }, file))));
    const lost = losses.filter(({ original }) => original);
    const former = lost.length === 0 ? [] : await formerBuckets(db, config.s3);
    if (former.length > 0) {
      return problem(
        sentenceCount(
          files.length,
          [
            'not here: {lost} of # file checked; it may be in the bucket {bucket}, which is no longer configured',
            'not here: {lost} of # files checked; they may be in the bucket {bucket}, which is no longer configured',
          ],
          { lost: lost.length, bucket: former },
        ),
        sentence(
          'Set VITRINE_S3_* to that bucket again. To leave it, run `vitrine storage move` with VITRINE_S3_WRITES=off first.',
        ),
      );
    }
    if (lost.length > 0) {
      const named = lost.slice(0, 3).map(({ hash }) => originalKey(hash));
      return problem(
        sentenceCount(
          files.length,
          [
            'missing or truncated: {lost} of # file checked, among them {names}',
            'missing or truncated: {lost} of # files checked, among them {names}',
          ],
          { lost: lost.length, names: named },
        ),
        sentence(
          'Restore them from a backup: they are below library/ in the data directory. `vitrine doctor --bytes` names every lost file and its assets.',
        ),
      );
    }
    const renditions = losses.reduce((sum, loss) => sum + loss.renditions, 0);
    if (renditions > 0) {
      return warning(
        sentenceCount(
          renditions,
          ['# preview missing or damaged ({checked})', '# previews missing or damaged ({checked})'],
          { checked: sentenceCount(files.length, ['# file checked', '# files checked']) },
        ),
        sentence('Run `vitrine doctor --bytes --repair`, which renders them again.'),
      );
    }
    return passed(
      files.length === 0
        ? sentence('there are no files yet')
        : sentenceCount(files.length, ['# file checked, complete', '# files checked, all complete']),
    );
  },
};

/** What a start examines: whether the files are where the settings say. */
export const startExaminations = [bucket, filesOnDisk];

export const storageExaminations = [diskSpace, dataDirectory, bucket, filesOnDisk];
