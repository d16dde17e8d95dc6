import type { Decoders } from '../decoding/decoders.ts';
import { DecoderLost, DecodingStopped } from '../decoding/process.ts';
import { isFaultOfTheMachine } from '../faults.ts';
import { isWebFont } from './font-names.ts';
import { MAPPING_VERSION, readSources } from './mapping.ts';
import type { FoundSources } from './source.ts';
import { boundedRaw, indexTags } from './tags.ts';

/** Most time one file may take. */
const TIMEOUT_MS = 20_000;

/** What reads metadata here, for whoever looks after the library. */
export type ReaderInUse =
  | { name: 'exiftool'; version: string }
  | { name: 'fallback'; version: string; reason: string };

export interface Metadata {
  outcome: 'read';
  /** The reader with its version and that of the mapping; another one may find more. */
  reader: string;
  sources: FoundSources;
  /** What was read as it stood, shortened. */
  raw: Record<string, string | string[]>;
  /** What was wrong with the file although something could be read. */
  fault: string | null;
}

export interface Unread {
  outcome: 'failed';
  reader: string;
  reason: string;
}

/** Reads what files tell of themselves. Nothing is started before the first file. */
export interface MetadataReader {
  inUse(): Promise<ReaderInUse>;
  /** The name under which what is read now is kept. */
  name(): Promise<string>;
  /** Rejects only for faults of the machine, which may pass; a file that cannot be read is told as such. */
  read(path: string): Promise<Metadata | Unread>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** Where files are read that ExifTool does not read. */
  decoders: Decoders;
  /** Null to do without, whatever the machine has. */
  perl?: string | null;
  timeoutMs?: number;
}

/** What ExifTool says of files that it has nothing to say about; that is no failure. */
const nothingToRead = /^(?:unknown file type|file is empty|file format not supported|.*\bbinary zeros$)/i;

type Entries = readonly (readonly [string, unknown])[];

interface Program {
  inUse: ReaderInUse;
  read(path: string): Promise<Entries>;
  close(): Promise<void>;
}

/** Every reading has the same turn: jobs share readers out among owners before they come here. */
const TURN = 'metadata';

function readFallback(reason: string, decoders: Decoders): Program {
  return {
    inUse: { name: 'fallback', version: '1', reason },
    read: (path) => decoders.run('metadata', TURN, 'entries', { path }),
    close: async () => {},
  };
}

/** ExifTool where a perl can run it, else what works without, and why. */
async function startReader({ decoders, perl, timeoutMs = TIMEOUT_MS }: ReaderOptions): Promise<Program> {
  // A large library, for the first file.
  const { exifToolVersion, findPerl, openExifTool } = await import('./exiftool.ts');
  const found = perl === undefined ? await findPerl(process.env.PATH ?? '') : perl;
  if (found === null) return readFallback('no perl was found to run ExifTool', decoders);
  try {
    const version = await exifToolVersion(found);
    const pool = openExifTool(found, timeoutMs);
    return {
      inUse: { name: 'exiftool', version },
      read: async (path) =>
        (await isWebFont(path)) ? decoders.run('metadata', TURN, 'fontNames', { path }) : pool.read(path),
      close: pool.close,
    };
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return readFallback(`ExifTool did not start: ${reason.slice(0, 300)}`, decoders);
  }
}

function nameOf({ name, version }: ReaderInUse): string {
  return `${name} ${version}/${MAPPING_VERSION}`;
}

/** A remark of the reader, without the path of the file. */
function remark(entries: Entries, kind: 'Error' | 'Warning'): string {
  const found = entries.find(([key]) => key === `ExifTool:${kind}`);
  const text: unknown = Array.isArray(found?.[1]) ? found[1][0] : found?.[1];
  return typeof text === 'string' ? text.replace(/\s+-\s+\/.*$/, '').slice(0, 300) : '';
}

/**
 * What is wrong with a file, in the reader's words: it could not be read, or it told nothing and the reader saw that
 * it is broken. A warning beside what was found is none of ours.
 */
function faultOf(entries: Entries, sources: FoundSources): string | null {
  const error = remark(entries, 'Error');
  if (error !== '' && !nothingToRead.test(error)) return error;
  const warning = Object.keys(sources).length === 0 ? remark(entries, 'Warning') : '';
  return warning === '' || warning.startsWith('[minor]') ? null : warning;
}

/** What was read, as it is kept. */
function metadataIn(entries: Entries, reader: string): Metadata {
  const told = entries.filter(([key]) => key.includes(':') && !key.startsWith('ExifTool:'));
  const sources = readSources(indexTags(told));
  return { outcome: 'read', reader, sources, raw: boundedRaw(told), fault: faultOf(entries, sources) };
}

/** Why a program gave a file up, without the words of the libraries in between. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof DecodingStopped) return `the file ${text}`;
  if (/timeout|timed out|took too long/i.test(text)) return 'the file took too long to read';
  return `the reader ended over the file: ${text.split('\n')[0]?.slice(0, 200) ?? ''}`;
}

/**
 * Opens the reader of this machine. Of a file that ExifTool finds broken and says nothing of, the other reader is asked
 * as well: a picture cut off right behind its tags tells it what it does not tell ExifTool.
 */
export function openMetadataReader(options: ReaderOptions): MetadataReader {
  let started: Promise<Program> | undefined;
  const program = () => {
    started ??= startReader(options);
    return started;
  };
  return {
    inUse: async () => (await program()).inUse,
    name: async () => nameOf((await program()).inUse),
    async read(path) {
      const { inUse, read } = await program();
      const reader = nameOf(inUse);
      let entries: Entries;
      try {
        entries = await read(path);
      } catch (error) {
        // Says nothing about the file; another try may succeed.
        if (error instanceof DecoderLost || isFaultOfTheMachine(error)) throw error;
        return { outcome: 'failed', reader, reason: reasonOf(error) };
      }
      const made = metadataIn(entries, reader);
      if (made.fault === null || inUse.name === 'fallback') return made;
      const second = await options.decoders
        .run('metadata', TURN, 'entries', { path })
        .catch((): Entries => []);
      const other = metadataIn(second, reader);
      return Object.keys(other.sources).length === 0 ? made : other;
    },
    async close() {
      await (await started)?.close();
      started = undefined;
    },
  };
}
