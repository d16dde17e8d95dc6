/** Subtitles that lie beside a video file; web app, import and server match them by the same rule. */

const subtitleName = /^(.+)\.(?:srt|vtt|ass|ssa|sbv|sup|sub|idx)$/i;

/** A primary language with optional subtags, as players write them: `de`, `pt-BR`, `pt_BR`, `zh-Hans`. */
const languageSegment = /^(.+)\.([a-z]{2,3}(?:[-_][a-z0-9]{2,8})*)$/i;

export interface SidecarMatch {
  /** The name of the video without its extension. */
  stem: string;
  /** A canonical BCP 47 tag, or `und`. */
  lang: string;
}

/** A file name without its extension, in lower case: what two names are compared by. */
export function stemOf(fileName: string): string {
  return fileName.replace(/\.[^.]*$/, '').toLowerCase();
}

/** Whether the name is that of a subtitle file. The content decides later. */
export function isSubtitleName(fileName: string): boolean {
  return subtitleName.test(fileName);
}

/** The canonical form of a BCP 47 tag; null when it is none. */
export function canonicalLanguage(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

/** Whether the language has a name, which tells `movie.de.srt` from `movie.cut.srt`. */
function isKnownLanguage(tag: string): boolean {
  return new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(tag) !== undefined;
}

/**
 * Which videos a subtitle file may belong to, the best match first: `movie.de.srt` belongs to `movie.de.*` without a
 * known language, else to `movie.*` in German. Empty when the name is not that of a subtitle file.
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
