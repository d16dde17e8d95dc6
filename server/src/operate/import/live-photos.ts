import { stemOf } from '@vitrine/contract/sidecars';
import pLimit from 'p-limit';
import type { MetadataReader } from '../../media/metadata/reader.ts';
import type { ImportPlan } from './plan.ts';
import type { FoundFile } from './walk.ts';

/** A film without an identifier that lasts longer than this is one by itself, in seconds. */
const LONGEST_FILM = 4;

/** Files that are read concurrently. */
const AT_ONCE = 4;

const isPhoto = ({ name }: FoundFile) => /\.(?:heic|heif|jpe?g|avif)$/i.test(name);
const isFilm = ({ name }: FoundFile) => /\.(?:mov|mp4)$/i.test(name);
/** Phones that write both formats store the film of the HEIC. */
const byFormat = (file: FoundFile) => (/\.hei[cf]$/i.test(file.name) ? 0 : 1);

/** What tells whether a film and a photo belong together. */
interface Marks {
  /** That Apple's devices write into both. */
  identifier: string | null;
  seconds: number | null;
}

const noMarks: Marks = { identifier: null, seconds: null };

async function readMarks({ read }: Pick<MetadataReader, 'read'>, { source }: FoundFile): Promise<Marks> {
  // The reader cannot open a path that is not UTF-8.
  if (typeof source !== 'string') return noMarks;
  const found = await read(source);
  if (found.outcome === 'failed') return noMarks;
  const [, raw] = Object.entries(found.raw).find(([key]) => key.endsWith(':ContentIdentifier')) ?? [];
  const identifier = (Array.isArray(raw) ? raw[0] : raw)?.trim() ?? '';
  const seconds = found.sources.duration_seconds?.value;
  return {
    identifier: identifier === '' ? null : identifier,
    seconds: typeof seconds === 'number' ? seconds : null,
  };
}

/** Finds the photo of each film in a folder: with the same identifier, or with the same name and a short film (ADMIN-32). */
async function pairFolder(
  marksOf: (file: FoundFile) => Promise<Marks>,
  files: readonly FoundFile[],
): Promise<[photo: FoundFile, film: FoundFile][]> {
  const photos = files.filter(isPhoto).sort((a, b) => byFormat(a) - byFormat(b));
  const pairs = new Map<FoundFile, FoundFile>();
  for (const film of photos.length === 0 ? [] : files.filter(isFilm)) {
    const named = photos.filter((photo) => stemOf(photo.name) === stemOf(film.name));
    const { identifier, seconds } = await marksOf(film);
    if (identifier === null && named.length === 0) continue;
    const isShort = seconds !== null && seconds <= LONGEST_FILM;
    const others = identifier === null ? [] : photos.filter((photo) => !named.includes(photo));
    for (const photo of [...named, ...others]) {
      if (pairs.has(photo)) continue;
      const its = (await marksOf(photo)).identifier;
      const isSame = identifier !== null && its === identifier;
      const isAlike = (identifier === null || its === null) && isShort && named.includes(photo);
      if (!isSame && !isAlike) continue;
      pairs.set(photo, film);
      break;
    }
  }
  return [...pairs];
}

/** A plan with the films of live photos, by the paths of the photos. */
export type LivePlan = ImportPlan & { films: ReadonlyMap<string, FoundFile> };

/**
 * Finds films of live photos among the files of a plan, and takes them out of it. Their sidecars describe
 * the photos.
 */
export async function pairLivePhotos(
  reader: Pick<MetadataReader, 'read'>,
  plan: ImportPlan,
): Promise<LivePlan> {
  const limit = pLimit(AT_ONCE);
  const marks = new Map<FoundFile, Promise<Marks>>();
  const marksOf = (file: FoundFile) => {
    const known = marks.get(file) ?? readMarks(reader, file);
    marks.set(file, known);
    return known;
  };
  const folders = [...Map.groupBy(plan.files, ({ folder }) => folder).values()];
  const found = await limit.map(folders, (files) => pairFolder(marksOf, files));
  const films = new Map(found.flat().map(([photo, film]) => [photo.path, film]));
  const taken = new Set(films.values());
  const metadata = new Map(plan.metadata);
  for (const [photo, { path }] of films) {
    const own = metadata.get(photo) ?? [];
    const more = (metadata.get(path) ?? []).filter(({ kind }) => !own.some((one) => one.kind === kind));
    if (more.length > 0) metadata.set(photo, [...own, ...more]);
    metadata.delete(path);
  }
  return { ...plan, metadata, films, files: plan.files.filter((file) => !taken.has(file)) };
}
