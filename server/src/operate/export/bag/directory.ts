import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { lockInstance } from '../../../platform/database/instance-lock.ts';
import { sentenceOfError } from '../../../platform/faults/worded-errors.ts';
import { syncDirectory } from '../../../platform/files/directory-tree.ts';
import { makeDirectory } from '../../../platform/files/make-directory.ts';
import { type Sentence, sentence } from '../../../platform/language/sentence.ts';
import { isOutOfRoom } from '../../../platform/storage/room.ts';
import { DamagedObject, NoSuchObject } from '../../../platform/storage/storage.ts';
import { inOrder } from '../../backup/copy-files.ts';
import { linesOf } from '../../backup/manifest.ts';
import { type Description, formatDescription, readDescription } from './description.ts';
import type { Entry, LostFile, WrittenFile } from './entry.ts';
import { measured } from './measured.ts';
import { ExportError, isPayloadPath, openPlaceOf, type Place } from './paths.ts';
import { formatLine, joinLists, type Lookup, openLookup, readList } from './state.ts';
import { bagInfo, declaration, decodePath, manifestLine, ownFolder } from './tag-files.ts';

const own = (name: string) => `${ownFolder}/${name}`;

/** What earlier runs have written, what an interrupted one has, and what this one has and is about to write. */
const lists = {
  complete: own('files.jsonl'),
  before: own('files.before.jsonl'),
  present: own('files.present.jsonl'),
  planned: own('files.planned.jsonl'),
};
const removedList = own('removed.txt');
export const descriptionFile = own('export.json');
/** The tag files of a complete export. */
const tagFiles = [
  'bagit.txt',
  'bag-info.txt',
  'manifest-sha256.txt',
  lists.complete,
  removedList,
  descriptionFile,
];

/** What a run did. */
export interface Written {
  files: number;
  bytes: number;
  written: number;
  unchanged: number;
  removed: number;
  lost: LostFile[];
}

/** An entry with what earlier runs have written for it. */
interface Planned {
  entry: Entry;
  before: WrittenFile | undefined;
}

const hashOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

function sourceOf({ content }: Entry): Promise<Readable> | Readable {
  if (content.kind === 'file') return content.open();
  return Readable.from(content.kind === 'text' ? [Buffer.from(content.text)] : toBuffers(content.open()));
}

async function* toBuffers(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) yield Buffer.from(text);
}

/** Returns why a stored file cannot be exported; throws what has another cause. */
function whyLost(error: unknown): Sentence {
  if (error instanceof NoSuchObject) return sentence('the library does not have its bytes');
  if (error instanceof DamagedObject) return sentenceOfError(error);
  throw error;
}

/** Throws ExportError unless the directory is new, empty, or has an earlier export of the same content. */
async function requireOwn(place: Place, of: Pick<Description, 'kind' | 'user'>): Promise<void> {
  const names = await readdir(place.root);
  if (names.length === 0) return;
  const earlier = await readDescription(place, descriptionFile).catch(() => null);
  if (earlier === null)
    throw new ExportError(
      sentence('{directory} is not empty and has no earlier export; name another directory', {
        directory: place.root,
      }),
    );
  if (earlier.kind !== of.kind || earlier.user !== of.user)
    throw new ExportError(
      sentence('{directory} has the export of something else; name another directory', {
        directory: place.root,
      }),
    );
}

/** Writes a file of the export as a whole or not at all. */
async function replaceFile(place: Place, path: string, content: Iterable<string> | AsyncIterable<string>) {
  const target = await place.resolve(path, true);
  const temporary = await place.resolve(own(`temporary-${randomUUID()}`));
  const measure = measured();
  try {
    await pipeline(Readable.from(content), measure.stream, createWriteStream(temporary, { flags: 'wx' }));
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return measure.result();
}

/** Removes what a killed run has left half-written. */
async function removeTemporary(place: Place): Promise<void> {
  const folder = join(place.root, ownFolder);
  for (const name of await readdir(folder))
    if (name.startsWith('temporary-')) await rm(join(folder, name), { force: true });
}

/** Joins what interrupted runs have written and planned to one list. */
async function keepInterrupted(place: Place): Promise<void> {
  const paths = await Promise.all(
    [lists.present, lists.before, lists.planned].map((list) => place.resolve(list)),
  );
  const known = joinLists(paths.map(readList));
  const lines = async function* () {
    for await (const { files } of known) for (const file of files) yield formatLine(file);
  };
  await replaceFile(place, lists.before, lines());
  for (const list of [lists.present, lists.planned]) await rm(await place.resolve(list), { force: true });
}

/** Returns whether a file is as an earlier run has written it. */
async function isUntouched(place: Place, { path, bytes, modified }: WrittenFile): Promise<boolean> {
  const found = await place.look(path);
  return found !== null && found.size === bytes && found.mtimeMs === modified;
}

/** Writes an entry unless an earlier run has; null: its stored file is lost. */
async function writeEntry(
  place: Place,
  { entry, before }: Planned,
): Promise<{ file: WrittenFile; isNew: boolean } | { lost: LostFile; before: WrittenFile | undefined }> {
  const { key, path, content } = entry;
  const same = before !== undefined && (await isUntouched(place, before)) ? before : null;
  const known =
    content.kind === 'text' ? hashOf(content.text) : content.kind === 'file' ? content.sha256 : null;
  if (same !== null && same.sha256 === known) return { file: { ...same, key }, isNew: false };
  const temporary = await place.resolve(own(`temporary-${randomUUID()}`));
  try {
    const measure = measured();
    try {
      const options = { flags: 'wx', flush: content.kind === 'file' };
      await pipeline(await sourceOf(entry), measure.stream, createWriteStream(temporary, options));
    } catch (error) {
      return { lost: { path, reason: whyLost(error) }, before };
    }
    const { sha256, bytes } = measure.result();
    if (known !== null && sha256 !== known)
      return { lost: { path, reason: sentence('its stored bytes have another hash') }, before };
    if (same !== null && same.sha256 === sha256) return { file: { ...same, key }, isNew: false };
    await rename(temporary, await place.resolve(path, true));
    const { mtimeMs: modified } = await stat(join(place.root, path));
    return { file: { key, path, sha256, bytes, modified }, isNew: true };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Appends lines to a list of this run. */
async function openList(place: Place, path: string): Promise<FileHandle> {
  return open(await place.resolve(path), 'wx');
}

/** Looks up what is known of each entry, and records those that will be written. */
async function* plan(
  entries: AsyncIterable<Entry>,
  lookup: Lookup,
  planned: FileHandle,
  onMoved: (files: readonly WrittenFile[]) => Promise<void>,
): AsyncGenerator<Planned> {
  for await (const entry of entries) {
    const { key, path } = entry;
    const known = await lookup.find(key);
    const before = known.find((file) => file.path === path);
    await onMoved(known.filter((file) => file.path !== path));
    if (before === undefined)
      await planned.writeFile(formatLine({ key, path, sha256: '', bytes: -1, modified: 0 }));
    yield { entry, before };
  }
}

/** Removes the files of the export that are no longer in the library. Returns their number. */
async function removeFiles(place: Place, list: string): Promise<number> {
  let removed = 0;
  const gone = async function* () {
    for await (const { path } of readList(list)) {
      if ((await place.look(path)) === null) continue;
      await rm(await place.resolve(path), { force: true });
      removed += 1;
      yield `${path}\n`;
    }
  };
  await replaceFile(place, removedList, gone());
  return removed;
}

/** Writes what makes a directory with files a bag; the declaration comes last. */
async function seal(
  place: Place,
  description: Description,
  totals: { files: number; bytes: number },
  at: Date,
) {
  const complete = await place.resolve(lists.complete);
  const manifest = async function* () {
    for await (const { sha256, path } of readList(complete)) yield manifestLine(sha256, path);
  };
  const hashes = new Map<string, string>();
  const write = async (path: string, content: Iterable<string> | AsyncIterable<string>) => {
    hashes.set(path, (await replaceFile(place, path, content)).sha256);
  };
  await write('manifest-sha256.txt', manifest());
  await write('bag-info.txt', [bagInfo({ ...totals, title: description.title, at })]);
  await write(descriptionFile, [formatDescription(description)]);
  for (const list of [lists.complete, removedList]) {
    const measure = measured();
    measure.stream.resume();
    await pipeline(await place.read(list), measure.stream);
    hashes.set(list, measure.result().sha256);
  }
  hashes.set('bagit.txt', hashOf(declaration));
  await replaceFile(
    place,
    'tagmanifest-sha256.txt',
    tagFiles.map((path) => manifestLine(hashes.get(path) ?? '', path)),
  );
  await replaceFile(place, 'bagit.txt', [declaration]);
  await syncDirectory(place.root);
}

async function makeRoot(path: string): Promise<Place> {
  const root = resolve(path);
  await makeDirectory(root, 0o700);
  const found = await lstat(root);
  if (!found.isDirectory())
    throw new ExportError(sentence('{directory} is not a directory', { directory: root }));
  return openPlaceOf(root);
}

/**
 * Writes entries, which come in the order of their keys, as a bag (RFC 8493) into a directory. An earlier or interrupted
 * export there is continued: only what has changed is written. Until it is complete, the directory is not a bag.
 */
export async function writeBag(
  path: string,
  entries: AsyncIterable<Entry>,
  {
    describe,
    at,
    onWritten = () => {},
  }: {
    /** What the export is; called again when all entries are written. */
    describe: () => Description;
    at: Date;
    onWritten?: (written: Written) => void;
  },
): Promise<Written> {
  const place = await makeRoot(path);
  await requireOwn(place, describe());
  await place.resolve(own('export.json'), true);
  const lock = lockInstance(join(place.root, ownFolder));
  try {
    await rm(join(place.root, 'bagit.txt'), { force: true });
    await replaceFile(place, descriptionFile, [formatDescription({ ...describe(), complete: false })]);
    await removeTemporary(place);
    await keepInterrupted(place);
    return await writeInto(place, entries, { describe, at, onWritten });
  } catch (error) {
    if (!isOutOfRoom(error)) throw error;
    throw new ExportError(
      sentence('the disk of {directory} is full; make room and run the export again', {
        directory: place.root,
      }),
      {
        cause: error,
      },
    );
  } finally {
    lock.release();
    await rm(join(place.root, ownFolder, 'instance.lock'), { force: true });
  }
}

async function writeInto(
  place: Place,
  entries: AsyncIterable<Entry>,
  {
    describe,
    at,
    onWritten,
  }: { describe: () => Description; at: Date; onWritten: (written: Written) => void },
): Promise<Written> {
  const written: Written = { files: 0, bytes: 0, written: 0, unchanged: 0, removed: 0, lost: [] };
  const goneList = await place.resolve(own(`temporary-${randomUUID()}`));
  const [present, planned, gone] = await Promise.all([
    openList(place, lists.present),
    openList(place, lists.planned),
    open(goneList, 'wx'),
  ]);
  const before = await Promise.all([lists.before, lists.complete].map((list) => place.resolve(list)));
  const remove = async (files: readonly WrittenFile[]) => {
    for (const file of files) await gone.writeFile(formatLine(file));
  };
  const lookup = openLookup(joinLists(before.map(readList)), remove);
  try {
    const results = inOrder(plan(entries, lookup, planned, remove), (item) => writeEntry(place, item));
    for await (const result of results) {
      if ('lost' in result) {
        written.lost.push(result.lost);
        if (result.before !== undefined) await remove([result.before]);
        continue;
      }
      await present.writeFile(formatLine(result.file));
      written.files += 1;
      written.bytes += result.file.bytes;
      if (result.isNew) written.written += 1;
      else written.unchanged += 1;
      onWritten(written);
    }
    await lookup.end();
  } finally {
    await Promise.all([lookup.close(), present.close(), planned.close(), gone.close()]);
  }
  written.removed = await removeFiles(place, goneList);
  await rm(goneList, { force: true });
  await rename(await place.resolve(lists.present), await place.resolve(lists.complete));
  for (const list of [lists.before, lists.planned]) await rm(await place.resolve(list), { force: true });
  await seal(place, describe(), written, at);
  return written;
}

/** Yields the paths and hashes of a manifest; throws ExportError for a line that names nothing below `data/`. */
export async function* readManifest(place: Place): AsyncGenerator<{ path: string; sha256: string }> {
  for await (const line of linesOf(await place.read('manifest-sha256.txt'))) {
    if (line === '') continue;
    const [, sha256 = '', encoded = ''] = /^([0-9a-fA-F]{64})[ \t]+\*?(.+)$/.exec(line) ?? [];
    const path = decodePath(encoded);
    if (!isPayloadPath(path))
      throw new ExportError(
        sentence('a line of the manifest is not valid: {line}', { line: line.slice(0, 200) }),
      );
    yield { path, sha256: sha256.toLowerCase() };
  }
}
