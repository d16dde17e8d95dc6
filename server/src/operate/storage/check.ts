import { sql } from 'kysely';
import pLimit from 'p-limit';
import { hashOfObject } from '../../content/assets/repair.ts';
import type { Deps } from '../../core/deps.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { hashOfLogo, logoKey, originalKey, subtitlesKey } from '../../platform/storage/object-key.ts';
import { DamagedObject, NoSuchObject, type StoredObject } from '../../platform/storage/storage.ts';
import { unreferenced } from './sweep/orphans.ts';

type CheckDeps = Pick<Deps, 'db' | 'storage'>;

export interface CheckOptions {
  /** Whether the bytes of originals, subtitles and logos are read and hashed. */
  content: boolean;
  /**
   * Objects without a row count as orphans if they were modified before this time; newer ones may belong to an upload
   * in progress.
   */
  olderThan: number;
  signal: AbortSignal;
  tell(line: Sentence): void;
  progress(report: CheckReport): void;
}

export interface CheckReport {
  /** Objects that rows refer to. */
  objects: number;
  bytes: number;
  missing: number;
  /** Objects whose size or content differs from their row. */
  wrong: number;
  orphans: number;
  orphanBytes: number;
}

/** An object that a row refers to. */
interface Expected {
  key: string;
  sizeBytes: number;
  /** The SHA-256 of its content; null when it is not recorded. */
  hash: string | null;
}

/** Libraries with more files are compared in parts, so that memory does not grow with them. */
const MOST_AT_ONCE = 10_000;
const READ_AT_ONCE = 4;

/** Watermarked previews are made on request; no row names them, and the sweep removes them after a day. */
const isWatermark = (key: string) => /\/marked-[0-9a-f]{64}\.webp$/.test(key);

/** Returns the prefixes of hashes that divide the library into parts; a small library is one part. */
async function partsOf({ db }: CheckDeps): Promise<string[]> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from files`.execute(db);
  if ((rows[0]?.count ?? 0) <= MOST_AT_ONCE) return [''];
  return Array.from({ length: 256 }, (_, part) => part.toString(16).padStart(2, '0'));
}

/** Returns the objects that rows refer to and whose hash has this prefix. */
async function expectedOf({ db }: CheckDeps, part: string): Promise<Expected[]> {
  // Hashes are hexadecimal digits, so `g` is after all of them.
  const inPart = (column: string) =>
    sql`${sql.ref(column)} >= ${part} and ${sql.ref(column)} < ${`${part}g`}`;
  const { rows: files } = await sql<{
    hash: string;
    size_bytes: number;
    is_remote: boolean;
    is_here: boolean;
    renditions: Record<string, { object: string; bytes: number }>;
  }>`select f.hash, f.size_bytes, f.origin_peer_id is not null as is_remote, f.renditions,
      (f.origin_peer_id is null or f.fetched_at is not null) and not f.in_place as is_here
    from files f where ${inPart('f.hash')}`.execute(db);
  const { rows: tracks } = await sql<{ hash: string; size_bytes: number }>`
    select s.file_hash as hash, min(s.size_bytes) as size_bytes from subtitles s
    where ${inPart('s.file_hash')} group by s.file_hash`.execute(db);
  const { rows: logos } = await sql<{ hash: string; size_bytes: number }>`
    select l.hash, l.size_bytes from logos l where ${inPart('l.hash')}`.execute(db);
  const made = files.flatMap(({ renditions }) =>
    Object.values(renditions).map(({ object, bytes }) => ({ key: object, sizeBytes: bytes, hash: null })),
  );
  const originals = files
    .filter(({ is_here }) => is_here)
    // Mirrored objects are stored under a random key instead of their hash.
    .map(({ hash, size_bytes, is_remote }) => ({
      key: originalKey(hash),
      sizeBytes: size_bytes,
      hash: is_remote ? null : hash,
    }));
  return [
    ...originals,
    // Renditions with the same picture share an object.
    ...new Map(made.map((rendition) => [rendition.key, rendition])).values(),
    ...tracks.map(({ hash, size_bytes }) => ({ key: subtitlesKey(hash), sizeBytes: size_bytes, hash })),
    ...logos.map(({ hash, size_bytes }) => ({ key: logoKey(hash), sizeBytes: size_bytes, hash })),
  ];
}

/** Returns the objects of a part by key. */
async function objectsOf({ storage }: CheckDeps, part: string): Promise<Map<string, StoredObject>> {
  const found = new Map<string, StoredObject>();
  const below = (kind: string) => (part === '' ? kind : `${kind}/${part}`);
  for (const prefix of [below('originals'), below('renditions'), below('subtitles')]) {
    for await (const object of storage.list(prefix)) found.set(object.key, object);
  }
  // Logos are few, so all of them are listed for each part.
  for await (const object of storage.list('logos')) {
    if (hashOfLogo(object.key)?.startsWith(part) === true) found.set(object.key, object);
  }
  return found;
}

/** Returns the line about an object that no row refers to. */
export const orphanLine = (key: string, sizeBytes: number): Sentence =>
  sentence('ORPHAN   {file} ({size})', {
    file: key,
    size: sentenceCount(sizeBytes, ['# byte', '# bytes']),
  });

/** Returns what is wrong with the content of an object of the right size, or null. */
async function faultOf({ storage }: CheckDeps, { key, sizeBytes, hash }: Expected): Promise<Sentence | null> {
  if (hash === null) return null;
  try {
    return (await hashOfObject(storage, key, sizeBytes)) === hash
      ? null
      : sentence('its content has changed');
  } catch (error) {
    if (error instanceof DamagedObject || error instanceof NoSuchObject) return sentenceOfError(error);
    throw error;
  }
}

/** Compares one part. Checks each difference twice, because the library may have changed meanwhile. */
async function checkPart(
  deps: CheckDeps,
  part: string,
  { content, olderThan, signal, tell }: CheckOptions,
  report: CheckReport,
): Promise<void> {
  const objects = await objectsOf(deps, part);
  const expected = await expectedOf(deps, part);
  const limit = pLimit(READ_AT_ONCE);
  await limit.map(expected, async (object) => {
    signal.throwIfAborted();
    const { key, sizeBytes } = object;
    report.objects += 1;
    report.bytes += sizeBytes;
    const listed = objects.get(key);
    objects.delete(key);
    const isIntact = listed?.sizeBytes === sizeBytes;
    if (isIntact && !content) return;
    const found = isIntact ? listed : await deps.storage.head(key);
    const isMissed = async () => {
      const rows = await expectedOf(deps, /\/([0-9a-f]{64})/.exec(key)?.[1] ?? '');
      return rows.some((row) => row.key === key && row.sizeBytes === sizeBytes);
    };
    if (found === null) {
      if (!(await isMissed())) return;
      report.missing += 1;
      return tell(sentence('MISSING  {file}', { file: key }));
    }
    const fault =
      found.sizeBytes === sizeBytes
        ? content && (await faultOf(deps, object))
        : sentenceCount(sizeBytes, ['has {found} of # byte', 'has {found} of # bytes'], {
            found: found.sizeBytes,
          });
    if (fault === false || fault === null || !(await isMissed())) return;
    report.wrong += 1;
    tell(sentence('WRONG    {file}: {reason}', { file: key, reason: fault }));
  });
  const rest = [...objects.values()].filter(
    (object) => object.modifiedAt < olderThan && !isWatermark(object.key),
  );
  const orphans = await unreferenced(
    deps.db,
    rest.map(({ key }) => key),
  );
  for (const { key, sizeBytes } of rest) {
    if (!orphans.has(key)) continue;
    report.orphans += 1;
    report.orphanBytes += sizeBytes;
    tell(orphanLine(key, sizeBytes));
  }
}

/**
 * Compares what rows refer to with the stored objects, and with `content` also their bytes, and prints a line for each
 * difference. The library may be in use. Rejects when the signal is aborted.
 */
export async function checkStorage(deps: CheckDeps, options: CheckOptions): Promise<CheckReport> {
  const report = { objects: 0, bytes: 0, missing: 0, wrong: 0, orphans: 0, orphanBytes: 0 };
  for (const part of await partsOf(deps)) {
    options.signal.throwIfAborted();
    await checkPart(deps, part, options, report);
    options.progress(report);
  }
  return report;
}
