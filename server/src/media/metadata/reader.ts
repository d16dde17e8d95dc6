import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import type { Decoders } from '../decoding/decoders.ts';
import { DecoderLost, DecodingStopped } from '../decoding/process.ts';
import { isFaultOfTheMachine, withoutPaths } from '../faults.ts';
import { sniff } from '../sniff.ts';
import { isWebFont } from './font-names.ts';
import { MAPPING_VERSION, readSources } from './mapping.ts';
import { personEntries } from './people.ts';
import type { ExtractedValues } from './source.ts';
import { boundedRaw, indexTags } from './tags.ts';
import { readAsUnicode } from './unicode-copy.ts';

/** Maximum time for one file. */
const TIMEOUT_MS = 20_000;

/** The reader in use, as reported to operators. */
type ReaderInUse =
  | { name: 'exiftool'; version: string }
  | { name: 'fallback'; version: string; reason: string };

export interface Metadata {
  outcome: 'read';
  /** The reader with its version and that of the mapping; a different one may find more. */
  reader: string;
  sources: ExtractedValues;
  /** The tags as read, shortened. */
  raw: Record<string, string | string[]>;
  /** The fault of a file that could be read in part. */
  fault: string | null;
}

export interface Unread {
  outcome: 'failed';
  reader: string;
  reason: Sentence;
}

/** Reads the metadata of files. The first file starts the reader. */
export interface MetadataReader {
  inUse(): Promise<ReaderInUse>;
  /** Returns the reader's name and version, which are stored with its results. */
  name(): Promise<string>;
  /**
   * Resolves to a failure for a file that cannot be read. Rejects only on faults of the machine, which are retryable.
   */
  read(path: string): Promise<Metadata | Unread>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** Decoders for files that ExifTool does not read. */
  decoders: Decoders;
  /** Null to run without perl even if it is installed. */
  perl?: string | null;
  timeoutMs?: number;
}

/** Messages of ExifTool for files without metadata, which are not errors. */
const nothingToRead = /^(?:unknown file type|file is empty|file format not supported|.*\bbinary zeros$)/i;

type Entries = readonly (readonly [string, unknown])[];

interface Program {
  inUse: ReaderInUse;
  read(path: string): Promise<Entries>;
  close(): Promise<void>;
}

/** All reads share one owner, because jobs already share the readers fairly among owners. */
const TURN = 'metadata';

function readFallback(reason: string, decoders: Decoders): Program {
  return {
    inUse: { name: 'fallback', version: '1', reason },
    read: (path) => decoders.run('metadata', TURN, 'entries', { path }),
    close: async () => {},
  };
}

/** Starts ExifTool if a perl can run it, otherwise the fallback reader with the reason. */
async function startReader({ decoders, perl, timeoutMs = TIMEOUT_MS }: ReaderOptions): Promise<Program> {
  // Imported with the first file, because the library is large.
  const { exifToolVersion, findPerl, openExifTool } = await import('./exiftool.ts');
  const found = perl === undefined ? await findPerl(process.env.PATH ?? '') : perl;
  if (found === null) return readFallback('no perl was found to run ExifTool', decoders);
  try {
    const version = await exifToolVersion(found);
    const pool = openExifTool(found, timeoutMs, decoders.confine);
    return {
      inUse: { name: 'exiftool', version },
      read: async (path) => {
        if (await isWebFont(path)) return decoders.run('metadata', TURN, 'fontNames', { path });
        const entries = await pool.read(path);
        const isDrawing = entries.some(([key, value]) => key.endsWith(':FileType') && value === 'SVG');
        return (isDrawing ? await readAsUnicode(path, pool.read) : null) ?? entries;
      },
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

/** Returns a message of the reader without the path of the file. */
function remark(entries: Entries, kind: 'Error' | 'Warning'): string {
  const found = entries.find(([key]) => key === `ExifTool:${kind}`);
  const text: unknown = Array.isArray(found?.[1]) ? found[1][0] : found?.[1];
  return typeof text === 'string' ? withoutPaths(text.replace(/\s+-\s+\/.*$/, '')).slice(0, 300) : '';
}

/**
 * Returns the reader's message about a file that it could not read, or that has no metadata and is broken. Ignores
 * warnings if metadata was found.
 */
function faultOf(entries: Entries, sources: ExtractedValues): string | null {
  const error = remark(entries, 'Error');
  if (error !== '' && !nothingToRead.test(error)) return error;
  const warning = Object.keys(sources).length === 0 ? remark(entries, 'Warning') : '';
  return warning === '' || warning.startsWith('[minor]') ? null : warning;
}

/** Sounds that are a row of frames, of which ExifTool estimates the duration or reads none. */
const framed: readonly string[] = ['audio/mpeg', 'audio/aac'];

/** Replaces the duration of such a sound by that of its frames. */
async function withDuration(entries: Entries, path: string, decoders: Decoders): Promise<Entries> {
  if (!framed.includes((await sniff(path)).mime)) return entries;
  const seconds = await decoders.run('metadata', TURN, 'secondsOfFrames', { path }).catch(() => null);
  if (seconds === null) return entries;
  return [...entries.filter(([key]) => !/:Duration$/.test(key)), ['Media:Duration', seconds]];
}

/** Converts what was read to the form that is stored. */
function metadataIn(entries: Entries, reader: string): Metadata {
  const read = entries.filter(([key]) => key.includes(':') && !key.startsWith('ExifTool:'));
  const tags = [...read, ...personEntries(read)];
  const sources = readSources(indexTags(tags));
  return { outcome: 'read', reader, sources, raw: boundedRaw(tags), fault: faultOf(entries, sources) };
}

/** Returns why a program failed on a file, without messages of intermediate libraries. */
function reasonOf(error: unknown): Sentence {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof DecodingStopped) return sentence('the file {reason}', { reason: error.sentence });
  if (/timeout|timed out|took too long/i.test(text)) return sentence('the file took too long to read');
  const detail = withoutPaths(text.split('\n')[0] ?? '').slice(0, 200);
  return sentence('the reader ended over the file: {detail}', { detail });
}

/**
 * Opens the metadata reader. If ExifTool reports a broken file, the fallback reader is tried as well, because it can
 * read the tags of a picture that is truncated right after them.
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
        entries = await withDuration(await read(path), path, options.decoders);
      } catch (error) {
        // The error does not depend on the file; a retry may succeed.
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
