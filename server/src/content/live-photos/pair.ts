import { isFilmName, isPhotoName, stemOf } from '@vitrine/contract/sidecars';
import type { MetadataReader } from '../../media/metadata/reader.ts';

/** A file that may be the photo or the film of a live photo. */
interface Candidate {
  name: string;
}

/** A film without an identifier that lasts longer than this is one by itself, in seconds. */
const LONGEST_FILM = 4;

/** The film of a live photo is smaller. */
export const MOST_FILM_BYTES = 256 * 1024 * 1024;

/** Phones that write both formats store the film of the HEIC. */
const formatRank = ({ name }: Candidate) => (/\.hei[cf]$/i.test(name) ? 0 : 1);

/** Orders photos by their formats: those that get the film first. */
export const byFormat = (a: Candidate, b: Candidate) => formatRank(a) - formatRank(b);

/** The metadata that shows whether a film and a photo belong together. */
export interface Marks {
  /** Apple's devices write it into both files. */
  identifier: string | null;
  seconds: number | null;
}

export const noMarks: Marks = { identifier: null, seconds: null };

/** Reads the marks of the file at a path. A file that cannot be read has none. */
export async function readMarks({ read }: Pick<MetadataReader, 'read'>, path: string): Promise<Marks> {
  const found = await read(path);
  if (found.outcome === 'failed') return noMarks;
  const [, raw] = Object.entries(found.raw).find(([key]) => key.endsWith(':ContentIdentifier')) ?? [];
  const identifier = (Array.isArray(raw) ? raw[0] : raw)?.trim() ?? '';
  const seconds = found.sources.duration_seconds?.value;
  return {
    identifier: identifier === '' ? null : identifier,
    seconds: typeof seconds === 'number' ? seconds : null,
  };
}

type MarksOf<File> = (file: File) => Promise<Marks>;

/** Files of a folder, and how their marks are read. */
interface Candidates<File> {
  files: readonly File[];
  marksOf: MarksOf<File>;
}

/** Returns a function that reads the marks of each file once. */
function marksOnce<File>(read: MarksOf<File>): MarksOf<File> {
  const marks = new Map<File, Promise<Marks>>();
  return (file) => {
    const known = marks.get(file) ?? read(file);
    marks.set(file, known);
    return known;
  };
}

/** Returns whether a film without an identifier may be that of a photo. */
export function isShortFilm(seconds: number | null): boolean {
  return seconds !== null && seconds <= LONGEST_FILM;
}

/** Returns the photo of a film among photos of its name: with the same identifier, or if one has none and the film is short. */
async function findNamed<File extends Candidate>(
  marksOf: MarksOf<File>,
  { identifier, seconds }: Marks,
  photos: readonly File[],
): Promise<File | undefined> {
  const isShort = isShortFilm(seconds);
  for (const photo of photos) {
    const { identifier: ofPhoto } = await marksOf(photo);
    const isSame = identifier === null || ofPhoto === null ? isShort : identifier === ofPhoto;
    if (isSame) return photo;
  }
  return undefined;
}

/** Groups photos by their identifiers. */
async function byIdentifier<File extends Candidate>(
  marksOf: MarksOf<File>,
  photos: readonly File[],
): Promise<ReadonlyMap<string | null, File[]>> {
  const identifiers = new Map<File, string | null>();
  for (const photo of photos) identifiers.set(photo, (await marksOf(photo)).identifier);
  return Map.groupBy(photos, (photo) => identifiers.get(photo) ?? null);
}

/**
 * Finds the photo of each film in a folder: with the same identifier, or with the same name and a short film (ADMIN-32). Files
 * without the name of a photo or of a film are left out.
 */
export async function pairFolder<Photo extends Candidate, Film extends Candidate>(
  photos: Candidates<Photo>,
  films: Candidates<Film>,
): Promise<[photo: Photo, film: Film][]> {
  const ordered = photos.files.filter(({ name }) => isPhotoName(name)).sort(byFormat);
  const marksOf = marksOnce(photos.marksOf);
  const named = Map.groupBy(ordered, ({ name }) => stemOf(name));
  const pairs = new Map<Photo, Film>();
  const isFree = (photo: Photo) => !pairs.has(photo);
  let identified: ReadonlyMap<string | null, Photo[]> | null = null;
  for (const film of ordered.length === 0 ? [] : films.files.filter(({ name }) => isFilmName(name))) {
    const marks = await films.marksOf(film);
    let photo = await findNamed(marksOf, marks, named.get(stemOf(film.name))?.filter(isFree) ?? []);
    if (photo === undefined && marks.identifier !== null) {
      identified ??= await byIdentifier(marksOf, ordered);
      photo = identified.get(marks.identifier)?.find(isFree);
    }
    if (photo !== undefined) pairs.set(photo, film);
  }
  return [...pairs];
}
