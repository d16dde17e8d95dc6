import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { DamagedObject, NoSuchObject, type Storage } from '../../platform/storage/storage.ts';
import {
  type BackupFile,
  fileName,
  formatFile,
  linesOf,
  type Manifest,
  partName,
  readFiles,
  writeCompressed,
} from './manifest.ts';
import { type Content, drain, type Repository, whyDamaged } from './repository.ts';
import { BackupError } from './target.ts';

/** Files in progress at the same time. */
const AT_ONCE = 8;
/** Maximum number of lost files that a backup names; `vitrine doctor --bytes` names all. */
const MOST_NAMED = 20;

export interface CopyProgress {
  files: number;
  bytes: number;
}

/** Which older files of a place were read again, and which of them were damaged. */
export interface Recheck extends CopyProgress {
  damaged: { key: string; reason: Sentence }[];
}

type Copied = Pick<Manifest, 'files' | 'lost' | 'resized'> & {
  rechecked: Recheck;
  /** Files that this backup added to the target. */
  added: CopyProgress;
};

interface FileToCopy {
  key: string;
  bytes: number;
}

/** Kinds of files whose keys contain the hash of their content. */
function hashInKey(key: string): string | null {
  return (
    /^(?:(?:originals|subtitles)\/[0-9a-f]{2}\/[0-9a-f]{2}|logos)\/([0-9a-f]{64})$/.exec(key)?.[1] ?? null
  );
}

/** Applies `work` to several items concurrently, and yields the results in the order of the items. */
export async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
): AsyncIterable<R> {
  const running: Promise<R>[] = [];
  for await (const item of items) {
    const result = work(item);
    // Prevents an unhandled rejection if another item fails before this one is awaited.
    result.catch(() => {});
    running.push(result);
    const first = running.length < AT_ONCE ? undefined : running.shift();
    if (first !== undefined) yield await first;
  }
  for (const result of running) yield await result;
}

/** Pairs each wanted file with its entry in the previous backup; both are ordered by key. */
async function* withPrevious(
  wanted: AsyncIterable<FileToCopy>,
  previous: AsyncIterable<BackupFile>,
): AsyncIterable<FileToCopy & { before: BackupFile | null }> {
  const others = previous[Symbol.asyncIterator]();
  let other = await others.next();
  for await (const file of wanted) {
    while (other.done !== true && other.value.key < file.key) other = await others.next();
    const isSame = other.done !== true && other.value.key === file.key;
    yield { ...file, before: isSame ? other.value : null };
  }
  await others.return?.();
}

async function* readFilesToCopy(path: string): AsyncIterable<FileToCopy> {
  for await (const line of linesOf(createReadStream(path))) {
    const [key = '', bytes] = line.split('\t');
    yield { key, bytes: Number(bytes) };
  }
}

async function hashOf(storage: Storage, key: string, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of await storage.get(key, bytes)) hash.update(chunk);
  return hash.digest('hex');
}

/** Returns why a stored file cannot be read, or null for an unrelated error. */
function whyLost(error: unknown): string | null {
  if (error instanceof NoSuchObject) return 'it is missing';
  if (error instanceof DamagedObject) return error.message;
  return null;
}

/** A stored file whose content does not match its hash. */
class WrongContent extends Error {}

async function* checked(content: AsyncIterable<Uint8Array>, sha256: string) {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw new WrongContent();
}

/** A backup reads about this many older files again, at random, and begins no more after this many bytes. */
const RECHECKED_FILES = 200;
const RECHECKED_BYTES = 2 * 1024 ** 3;

/** Returns whether a place holds intact content, for a file of the library with this key. */
type Holds = (key: string, content: Content) => Promise<boolean>;

/**
 * Returns a check of what the place holds, which reads a random sample again: damage would otherwise remain unnoticed
 * until a restore, as later backups do not copy the file (RUN-33).
 */
function openRecheck(repository: Repository, previous: Manifest | null): { holds: Holds; found: Recheck } {
  const found: Recheck = { files: 0, bytes: 0, damaged: [] };
  const share = previous === null ? 0 : RECHECKED_FILES / Math.max(1, previous.files.count);
  return {
    found,
    async holds(key, content) {
      const name = fileName(content.sha256);
      if (!(await repository.has(name, content.bytes))) return false;
      if (Math.random() >= share || found.bytes >= RECHECKED_BYTES) return true;
      found.files += 1;
      found.bytes += content.bytes;
      const reason = await whyDamaged(drain(repository.read(name, content)));
      if (reason !== null) found.damaged.push({ key, reason });
      return reason === null;
    },
  };
}

type Outcome = { file: BackupFile; isNew: boolean } | { lost: string };

/**
 * Copies the content of a file unless the place has it. Originals in the place are not read again, so a file that the
 * library has lost since stays in its backups.
 */
async function copyOne(
  repository: Repository,
  storage: Storage,
  { key, bytes, before }: FileToCopy & { before: BackupFile | null },
  holds: Holds,
): Promise<Outcome> {
  const known = hashInKey(key);
  if (known !== null && (await holds(key, { bytes, sha256: known }))) {
    return { file: { key, bytes, modifiedAt: 0, sha256: known }, isNew: false };
  }
  try {
    const head = await storage.head(key);
    if (head === null) throw new NoSuchObject(key);
    // A preview may have been rendered again since the snapshot.
    const size = known === null ? head.sizeBytes : bytes;
    const modifiedAt = known === null ? Math.trunc(head.modifiedAt) : 0;
    const isUnchanged = before !== null && before.bytes === size && before.modifiedAt === modifiedAt;
    if (known === null && isUnchanged) {
      if (await holds(key, before)) return { file: { ...before, key }, isNew: false };
    }
    const sha256 = known ?? (await hashOf(storage, key, size));
    const file = { key, bytes: size, modifiedAt, sha256 };
    // Content that was just found damaged is written again.
    const isOther = known === null && !(isUnchanged && before.sha256 === sha256);
    if (isOther && (await holds(key, file))) return { file, isNew: false };
    const content = checked(await storage.get(key, size), sha256);
    await repository.write(fileName(sha256), content, size);
    return { file, isNew: true };
  } catch (error) {
    const why = error instanceof WrongContent ? 'its content has changed' : whyLost(error);
    if (why === null) throw error;
    return { lost: why };
  }
}

/**
 * Copies the files that `listPath` names to the place, if they are not there, and stores the list of them. Files that
 * cannot be read are counted as lost. The caller forbids removing files.
 */
export async function copyFiles(
  repository: Repository,
  storage: Storage,
  { id, listPath, previous }: { id: string; listPath: string; previous: Manifest | null },
  progress: (done: CopyProgress) => void,
): Promise<Copied> {
  const copied: Omit<Copied, 'files' | 'rechecked'> = {
    lost: { count: 0, first: [] },
    resized: [],
    added: { files: 0, bytes: 0 },
  };
  const done: CopyProgress = { files: 0, bytes: 0 };
  const { holds, found: rechecked } = openRecheck(repository, previous);
  const before = previous === null ? none() : readFiles(repository, previous);
  const lines = async function* () {
    const results = inOrder(withPrevious(readFilesToCopy(listPath), before), async (wanted) => ({
      wanted,
      outcome: await copyOne(repository, storage, wanted, holds),
    }));
    for await (const { wanted, outcome } of results) {
      if ('lost' in outcome) {
        copied.lost.count += 1;
        if (copied.lost.count <= MOST_NAMED) {
          copied.lost.first.push({ key: wanted.key, reason: outcome.lost });
        }
        continue;
      }
      const { file, isNew } = outcome;
      done.files += 1;
      done.bytes += file.bytes;
      if (isNew) {
        copied.added.files += 1;
        copied.added.bytes += file.bytes;
      }
      if (file.bytes !== wanted.bytes) copied.resized.push({ key: file.key, bytes: file.bytes });
      progress(done);
      yield Buffer.from(formatFile(file));
    }
  };
  const content: Content = await writeCompressed(repository, partName(id, 'files'), lines());
  return { ...copied, rechecked, files: { count: done.files, bytes: done.bytes, content } };
}

async function* none(): AsyncIterable<never> {}

/** Reads a file of a backup and throws BackupError when its content is not the one that was stored. */
export function readFileOf(repository: Repository, { key, bytes, sha256 }: BackupFile) {
  return rename(repository.read(fileName(sha256), { bytes, sha256 }), key);
}

async function* rename(content: AsyncIterable<Uint8Array>, key: string) {
  try {
    yield* content;
  } catch (error) {
    throw error instanceof BackupError
      ? new BackupError(sentence('{file}: {reason}', { file: key, reason: sentenceOfError(error) }))
      : error;
  }
}
