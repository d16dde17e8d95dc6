/** Matches sidecars to the files beside them. The web app, the import and the server use the same rules. */

const subtitleName = /^(.+)\.(?:srt|vtt|ass|ssa|sbv|sup|sub|idx)$/i;

/** A primary language with optional subtags, as video players write it: `de`, `pt-BR`, `pt_BR`, `zh-Hans`. */
const languageSegment = /^(.+)\.([a-z]{2,3}(?:[-_][a-z0-9]{2,8})*)$/i;

/** What players add to the language: forced subtitles, and those for people who do not hear. */
const flagSegment = /\.(?:forced|sdh|cc|hi|default)$/i;

/** Some programs keep the extension of the video: `film.mp4.srt`. */
const videoExtension = /\.(?:mp4|m4v|mov|mkv|webm|avi|mpe?g|ts|m2ts|wmv|flv|ogv|3gp)$/i;

export interface SidecarMatch {
  /** The file name of the video without its extension. */
  stem: string;
  /** A canonical BCP 47 tag, or `und`. */
  lang: string;
}

/** Returns a file name without its extension, in lower case, for comparison. */
export function stemOf(fileName: string): string {
  return fileName
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .normalize('NFC');
}

/** Returns whether the name is that of a subtitle file. The content is checked later. */
export function isSubtitleName(fileName: string): boolean {
  return subtitleName.test(fileName);
}

/** Returns the canonical form of a BCP 47 tag, or null if it is invalid. */
export function canonicalLanguage(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

/** Returns whether the language has a name, which distinguishes `movie.de.srt` from `movie.cut.srt`. */
function isKnownLanguage(tag: string): boolean {
  return new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(tag) !== undefined;
}

/**
 * Returns the videos that a subtitle file may belong to, the best match first: `movie.de.srt` belongs to `movie.de.*`
 * without a known language, otherwise to `movie.*` in German. Empty if the name is not that of a subtitle file.
 */
export function sidecarMatches(fileName: string): SidecarMatch[] {
  const stem = subtitleName.exec(fileName.normalize('NFC'))?.[1];
  if (stem === undefined) return [];
  const matches = [{ stem: stem.toLowerCase(), lang: 'und' }];
  const plain = stem.replace(flagSegment, '');
  if (plain !== stem) matches.push({ stem: plain.toLowerCase(), lang: 'und' });
  const [, shorter, segment] = languageSegment.exec(plain) ?? [];
  const lang = segment === undefined ? null : canonicalLanguage(segment.replaceAll('_', '-'));
  if (shorter !== undefined && lang !== null && isKnownLanguage(lang))
    matches.push({ stem: shorter.toLowerCase(), lang });
  const withExtension = matches.filter((match) => videoExtension.test(match.stem));
  const without = withExtension.map((match) => ({ ...match, stem: match.stem.replace(videoExtension, '') }));
  return [...matches, ...without];
}

/** Returns whether a file has the name of a photo that may have a film. */
export function isPhotoName(fileName: string): boolean {
  return /\.(?:heic|heif|jpe?g|avif)$/i.test(fileName);
}

/** Returns whether a file has the name of a film that may be that of a photo. */
export function isFilmName(fileName: string): boolean {
  return /\.(?:mov|mp4)$/i.test(fileName);
}

/** The maximum size of a file with metadata of another one. */
export const mostSidecarBytes = 16 * 1024 * 1024;

/** Returns whether a file name is that of an XMP sidecar, such as `a.jpg.xmp` or `a.xmp`. */
export function isMetadataName(fileName: string): boolean {
  return /.\.xmp$/i.test(fileName);
}

/**
 * Returns a file name in the form in which sidecars are matched: composed (NFC), with the ASCII letters in lower case. An
 * index has the same form.
 */
export function foldedFileName(fileName: string): string {
  return fileName.normalize('NFC').replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns a folded file name without its extension. */
export function foldedStem(fileName: string): string {
  return foldedFileName(fileName).replace(/\.[^.]*$/, '');
}

/** The raw files of cameras, to which `a.xmp` belongs if there are several files with the name `a`. */
const cameraRaw =
  /\.(?:3fr|arw|cr2|cr3|crw|dcr|dng|erf|fff|iiq|kdc|mef|mos|mrw|nef|nrw|orf|pef|raf|raw|rw2|rwl|sr2|srf|srw|x3f)$/;

/** Returns whether a file has the name of a raw file of a camera. */
export function isRawName(fileName: string): boolean {
  return cameraRaw.test(foldedFileName(fileName));
}

/** How a sidecar names its file: with the extension (`a.jpg.xmp`), or without it (`a.xmp`). */
export type SidecarKind = 'named' | 'stem';

export interface MetadataMatch<T> {
  file: T;
  kind: SidecarKind;
}

/**
 * Returns the file to which an XMP sidecar belongs, of files in the order of preference; null if there is none. `a.xmp`
 * belongs to the raw file of a camera before its JPEG, into which programs write themselves (SIDECAR-2).
 */
export function metadataMatch<T extends { readonly name: string }>(
  sidecarName: string,
  files: readonly T[],
): MetadataMatch<T> | null {
  const base = foldedStem(sidecarName);
  const others = files.filter(({ name }) => !isMetadataName(name));
  const named = others.find(({ name }) => foldedFileName(name) === base);
  if (named !== undefined) return { file: named, kind: 'named' };
  const sharing = others.filter(({ name }) => foldedStem(name) === base);
  const file = sharing.find(({ name }) => isRawName(name)) ?? sharing[0];
  return file === undefined ? null : { file, kind: 'stem' };
}
