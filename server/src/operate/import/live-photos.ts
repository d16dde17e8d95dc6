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

/** The metadata that shows whether a film and a photo belong together. */
interface Marks {
  /** Apple's devices write it into both files. */
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

type MarksOf = (file: FoundFile) => Promise<Marks>;

/** Returns the photo of a film among photos of its name: with the same identifier, or if one has none and the film is short. */
async function findNamed(
  marksOf: MarksOf,
  { identifier, seconds }: Marks,
  photos: readonly FoundFile[],
): Promise<FoundFile | undefined> {
  const isShort = seconds !== null && seconds <= LONGEST_FILM;
  for (const photo of photos) {
    const its = (await marksOf(photo)).identifier;
    if (identifier === null || its === null ? isShort : identifier === its) return photo;
  }
  return undefined;
}

/** Groups photos by their identifiers. */
async function byIdentifier(
  marksOf: MarksOf,
  photos: readonly FoundFile[],
): Promise<ReadonlyMap<string | null, FoundFile[]>> {
  const identifiers = new Map<FoundFile, string | null>();
  for (const photo of photos) identifiers.set(photo, (await marksOf(photo)).identifier);
  return Map.groupBy(photos, (photo) => identifiers.get(photo) ?? null);
}

/** Finds the photo of each film in a folder: with the same identifier, or with the same name and a short film (ADMIN-32). */
async function pairFolder(
  marksOf: MarksOf,
  files: readonly FoundFile[],
): Promise<[photo: FoundFile, film: FoundFile][]> {
  const photos = files.filter(isPhoto).sort((a, b) => byFormat(a) - byFormat(b));
  const named = Map.groupBy(photos, ({ name }) => stemOf(name));
  const pairs = new Map<FoundFile, FoundFile>();
  const isFree = (photo: FoundFile) => !pairs.has(photo);
  let identified: ReadonlyMap<string | null, FoundFile[]> | null = null;
  for (const film of photos.length === 0 ? [] : files.filter(isFilm)) {
    const marks = await marksOf(film);
    let photo = await findNamed(marksOf, marks, named.get(stemOf(film.name))?.filter(isFree) ?? []);
    if (photo === undefined && marks.identifier !== null) {
      identified ??= await byIdentifier(marksOf, photos);
      photo = identified.get(marks.identifier)?.find(isFree);
    }
    if (photo !== undefined) pairs.set(photo, film);
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
