import type { DownloadPreset } from '@vitrine/contract/downloads';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { servedWithReviews } from '../../access/reviews.ts';
import type { Deps, StoredRendition } from '../../core/deps.ts';
import type { Conversion } from '../../media/convert.ts';
import { kindOf } from '../../media/sniff.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { divideName } from '../assets/file-name.ts';
import { extensionOfFormat } from './conversions.ts';
import { tagsFor } from './tags.ts';

/** A file that the caller is given, as needed to make any form of it. */
export interface Downloadable
  extends Columns<'assets', 'id' | 'file_hash' | 'file_name'>,
    Columns<'files', 'size_bytes' | 'mime' | 'extension' | 'pixel_width' | 'pixel_height'> {
  renditions: Record<string, StoredRendition>;
}

const columns = sql<Downloadable>`a.id, f.hash as file_hash, a.file_name, f.size_bytes, f.mime, f.extension,
  f.pixel_width, f.pixel_height, f.renditions`;

/** Returns a version of an asset, with its own name, that the caller has been found to be given; null if it is gone. */
export async function readDownloadable(
  db: Database,
  id: string,
  { file_hash, file_name }: Pick<Downloadable, 'file_hash' | 'file_name'>,
): Promise<Downloadable | null> {
  const { rows } = await sql<Downloadable>`
    select ${columns} from assets a join files f on f.hash = ${file_hash} where a.id = ${id}`.execute(db);
  const [row] = rows;
  return row === undefined ? null : { ...row, file_name };
}

/** Returns an asset under the content rule; null for any other. */
export async function findDownloadable(
  db: Database,
  caller: Caller,
  id: string,
): Promise<Downloadable | null> {
  const { rows } = await sql<Downloadable>`
    select ${columns}
    from assets a join files f on f.hash = a.file_hash where a.id = ${id} and ${servedWithReviews(caller)}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** A file in the form of a preset: what to send, and the extension of its name. */
export interface Form extends StoredRendition {
  extension: string | null;
}

const DEFAULT_QUALITY = 85;

/** The streams of a film, which are playable files, from large to small, with their shorter edges. */
const films = [
  ['hls/1080p.mp4', 1080],
  ['hls/720p.mp4', 720],
  ['hls/360p.mp4', 360],
] as const;

function originalOf({ file_hash, size_bytes, mime, extension, file_name }: Downloadable): Form {
  return {
    object: originalKey(file_hash),
    type: mime,
    bytes: size_bytes,
    extension: divideName(file_name).extension ?? extension,
  };
}

/**
 * Returns the largest stream of a film within the longest edge. An MP4 without streams is sent as it is, unless its metadata
 * must not be sent along: streams have none.
 */
function filmOf(file: Downloadable, maxDim: number | undefined, keepsMetadata: boolean): Form {
  const { pixel_width: width, pixel_height: height, renditions } = file;
  const ratio =
    width === null || height === null || width * height === 0
      ? 16 / 9
      : Math.max(width, height) / Math.min(width, height);
  const made = films.flatMap(([key, edge]) => {
    const rendition = renditions[key];
    return rendition === undefined ? [] : [{ rendition, edge }];
  });
  const fitting = made.find(({ edge }) => maxDim === undefined || edge * ratio <= maxDim) ?? made.at(-1);
  if (fitting !== undefined) return { ...fitting.rendition, type: 'video/mp4', extension: 'mp4' };
  if (file.mime === 'video/mp4' && maxDim === undefined && keepsMetadata) return originalOf(file);
  throw refuse('preset-not-for-kind', { format: 'mp4', reason: sentence('its streams are not made yet') });
}

/**
 * Returns a file in the form of a preset, made now if it was not made before (DOWNLOAD-3). Throws 409 for a kind of file
 * that cannot be made into it.
 */
export async function formOf(
  deps: Pick<Deps, 'db' | 'conversions'>,
  caller: Caller,
  file: Downloadable,
  preset: DownloadPreset,
): Promise<Form> {
  const { format, max_dim, quality = DEFAULT_QUALITY, colour = 'keep', metadata = 'keep' } = preset;
  const kind = kindOf(file.mime);
  const unfit = (reason: Sentence) => refuse('preset-not-for-kind', { format, reason });
  const keepsMetadata = metadata === 'keep';
  if (format === 'original' && keepsMetadata) return originalOf(file);
  if (format === 'pdf') {
    if (file.mime !== 'application/pdf') throw unfit(sentence('it is not a PDF'));
    // DOWNLOAD-4: nothing here removes the metadata of a PDF.
    if (!keepsMetadata) throw unfit(sentence('its metadata cannot be changed'));
    return originalOf(file);
  }
  if (format === 'mp4') {
    if (kind !== 'video') throw unfit(sentence('it is not a film'));
    return filmOf(file, max_dim, keepsMetadata);
  }
  if (kind !== 'image') throw unfit(sentence('it is not a picture'));
  const form: Conversion = {
    format,
    maxDim: max_dim ?? null,
    quality,
    colour,
    metadata,
    tags: metadata === 'fields' ? await tagsFor(deps.db, caller, file.id) : [],
  };
  const made = await deps.conversions.find(
    { hash: file.file_hash, mime: file.mime, extension: file.extension },
    form,
  );
  return {
    ...made,
    extension: format === 'original' ? originalOf(file).extension : extensionOfFormat(format),
  };
}
