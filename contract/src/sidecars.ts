/** Matches subtitle files to the videos beside them. The web app, the import and the server use the same rule. */

const subtitleName = /^(.+)\.(?:srt|vtt|ass|ssa|sbv|sup|sub|idx)$/i;

/** A primary language with optional subtags, as video players write it: `de`, `pt-BR`, `pt_BR`, `zh-Hans`. */
const languageSegment = /^(.+)\.([a-z]{2,3}(?:[-_][a-z0-9]{2,8})*)$/i;

export interface SidecarMatch {
  /** The file name of the video without its extension. */
  stem: string;
  /** A canonical BCP 47 tag, or `und`. */
  lang: string;
}

/** Returns a file name without its extension, in lower case, for comparison. */
export function stemOf(fileName: string): string {
  return fileName.replace(/\.[^.]*$/, '').toLowerCase();
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
  const stem = subtitleName.exec(fileName)?.[1];
  if (stem === undefined) return [];
  const matches = [{ stem: stem.toLowerCase(), lang: 'und' }];
  const [, shorter, segment] = languageSegment.exec(stem) ?? [];
  const lang = segment === undefined ? null : canonicalLanguage(segment.replaceAll('_', '-'));
  if (shorter !== undefined && lang !== null && isKnownLanguage(lang))
    matches.push({ stem: shorter.toLowerCase(), lang });
  return matches;
}
