import { createReadStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Entry } from '@zip.js/zip.js';
import { extract, type Header } from 'tar-stream';
import { sentence } from '../../platform/language/sentence.ts';
import { namesOf, namesOfTar } from '../archives/entry-names.ts';
import { zipEntries } from '../archives/zip-entries.ts';
import { isFaultOfTheMachine } from '../faults.ts';
import { BrokenFile, type MadeRendition, NotDrawable, type StillMaker } from '../still.ts';

/** A file in an archive, as listed in its directory. */
interface ArchiveEntry {
  path: string;
  size_bytes: number;
  /** ISO 8601. */
  modified_at?: string;
}

interface Contents {
  entries: ArchiveEntry[];
  /** Whether the archive has more entries or bytes than were read. */
  truncated: boolean;
}

/** Maximum number of listed entries. */
const MOST_ENTRIES = 10_000;
/** Maximum length of a listed path, in characters. */
const MOST_PATH = 1000;
/** Maximum number of unpacked bytes of a tar archive that are read, because it has no directory. */
const MOST_BYTES = 2 * 1024 ** 3;
/** Bytes of a tar archive that are read or unpacked at once: the usual 16 kB of zlib take three times as long. */
const CHUNK_BYTES = 256 * 1024;

function timeOf(time: Date | undefined): { modified_at?: string } {
  return time === undefined || !(time.getTime() > 0) ? {} : { modified_at: time.toISOString() };
}

function pathOf(path: string): string {
  return path.replaceAll('\0', '').slice(0, MOST_PATH).toWellFormed();
}

/** Leaves out directories, which the paths of files already imply. */
function isFolder(path: string): boolean {
  return path.endsWith('/');
}

async function readZip(path: string): Promise<Contents> {
  const found: Entry[] = [];
  let truncated = false;
  for await (const entry of zipEntries(path)) {
    if (entry.directory || isFolder(entry.filename)) continue;
    truncated = found.length === MOST_ENTRIES;
    if (truncated) break;
    found.push(entry);
  }
  const names = namesOf(found);
  const entries = found.map((entry, index) => ({
    path: pathOf(names[index] ?? entry.filename),
    size_bytes: entry.uncompressedSize,
    ...timeOf(entry.lastModDate),
  }));
  return { entries, truncated };
}

/** Ends a pipeline after enough bytes have been read. */
class Enough extends Error {}

/** Passes on bytes up to a limit. */
function upTo(limit: number): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback) {
      passed += chunk.length;
      if (passed > limit) done(new Enough());
      else done(null, chunk);
    },
  });
}

async function readTar(path: string, packed: boolean): Promise<Contents> {
  const found: (Omit<ArchiveEntry, 'path'> & { name: string | Uint8Array })[] = [];
  // Every byte is a character in Latin-1; names in extended headers are UTF-8 by definition.
  const options = { filenameEncoding: 'latin1' };
  // The declared types lack this option.
  const tar = extract(options as object);
  let wasTar = false;
  tar.on('entry', ({ name, size = 0, mtime, type, pax }: Header, body, next) => {
    wasTar = true;
    body.on('end', next);
    // The pipeline rejects with the same error.
    body.on('error', () => {});
    body.resume();
    if (type === 'directory' || isFolder(name)) return;
    if (found.length === MOST_ENTRIES) tar.destroy(new Enough());
    else {
      const { path: extended }: { path?: string } = pax ?? {};
      const written = extended === name ? name : Buffer.from(name, 'latin1');
      found.push({ name: written, size_bytes: size, ...timeOf(mtime) });
    }
  });
  const contents = (truncated: boolean): Contents => {
    const names = namesOfTar(found.map(({ name }) => name));
    const entries = found.map(({ name: _, ...entry }, index) => ({
      path: pathOf(names[index] ?? ''),
      ...entry,
    }));
    return { entries, truncated };
  };
  const limited = upTo(MOST_BYTES);
  const source = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const unpack = () => createGunzip({ chunkSize: CHUNK_BYTES });
  try {
    await (packed ? pipeline(source, unpack(), limited, tar) : pipeline(source, limited, tar));
    return contents(false);
  } catch (error) {
    if (error instanceof Enough) return contents(true);
    if (isFaultOfTheMachine(error)) throw error;
    // A compressed file need not be an archive.
    if (packed && !wasTar) throw new NotDrawable(sentence('it holds a single file'));
    throw new BrokenFile(sentence('the archive is damaged'), { cause: error });
  }
}

async function keepContents(contents: Contents, outDir: string): Promise<MadeRendition> {
  const path = join(outDir, 'contents.json');
  await writeFile(path, JSON.stringify(contents));
  const { size: sizeBytes } = await stat(path);
  return { key: 'contents.json', path, contentType: 'application/json', sizeBytes };
}

/**
 * Lists the contents of ZIP and tar archives in `contents.json`. Reads only the directory of a ZIP archive. Reads all
 * of a tar archive, but stores nothing of it.
 */
export const archive: StillMaker = async ({ path, mime }, outDir) => {
  const contents =
    mime === 'application/zip'
      ? await readZip(path).catch((error: unknown) => {
          if (isFaultOfTheMachine(error)) throw error;
          throw new BrokenFile(sentence('the archive is damaged'), { cause: error });
        })
      : await readTar(path, mime === 'application/gzip');
  return { picture: null, extras: [await keepContents(contents, outDir)] };
};
