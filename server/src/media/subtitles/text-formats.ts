import { type Cue, cueText, type Dialect, readTime } from './cue.ts';

export type TextSubtitles = 'srt' | 'vtt' | 'ass' | 'ssa' | 'sbv';

const arrow =
  /^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,9}))?\s*-->\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,9}))?(?=\s|$)(.*)$/;
const sbvTimes = /^(\d{1,4}):(\d{1,2}):(\d{1,2})\.(\d{1,9}),(\d{1,4}):(\d{1,2}):(\d{1,2})\.(\d{1,9})\s*$/;

/** Number of characters in which the format is detected; headers and notes before the first cue are shorter. */
const HEAD_CHARACTERS = 64 * 1024;

/** Returns the subtitle format of a text, detected from its content alone; null if it is none of them. */
export function subtitleFormat(text: string): TextSubtitles | null {
  const head = text.slice(0, HEAD_CHARACTERS);
  if (/^WEBVTT(?:[ \t\n]|$)/.test(head)) return 'vtt';
  if (/^\[(?:script info|v4\+? styles|events)\]\s*$/im.test(head)) {
    const isOld = /^\[v4 styles\]/im.test(head) || /^scripttype:\s*v4\.00\s*$/im.test(head);
    return isOld && !/^\[v4\+ styles\]/im.test(head) ? 'ssa' : 'ass';
  }
  const lines = head.split('\n');
  if (lines.some((line) => sbvTimes.test(line))) return 'sbv';
  return lines.some((line) => arrow.test(line)) ? 'srt' : null;
}

interface Times {
  start: number;
  end: number;
  rest: string;
}

function readTimes(line: string, pattern: RegExp): Times | null {
  const [, h1, m1, s1, f1, h2, m2, s2, f2, rest = ''] = pattern.exec(line) ?? [];
  if (m1 === undefined || s1 === undefined || m2 === undefined || s2 === undefined) return null;
  const start = readTime(h1, m1, s1, f1);
  const end = readTime(h2, m2, s2, f2);
  // An invalid time still separates two cues. It is given a time at which it is never shown, so that it is left out.
  return { start: start ?? 0, end: start === null || end === null ? 0 : end, rest };
}

/** WebVTT cue settings that are kept. Regions are dropped, because their definitions are. */
function readSettings(rest: string): string {
  return rest
    .trim()
    .split(/\s+/)
    .filter((setting) => /^(?:vertical|line|position|size|align):[\w.,%-]{1,40}$/.test(setting))
    .join(' ');
}

/** Reads the cues of a format in which a line with times precedes the lines of text. */
function readTimed(text: string, pattern: RegExp, dialect: Dialect): Cue[] {
  const cues: Cue[] = [];
  let current: { times: Times; lines: string[] } | null = null;
  const finish = () => {
    if (current === null) return;
    const { times, lines } = current;
    const settings = dialect === 'vtt' ? readSettings(times.rest) : '';
    cues.push({ start: times.start, end: times.end, text: cueText(lines.join('\n'), dialect), settings });
  };
  for (const line of text.split('\n')) {
    const times = line.length > 200 ? null : readTimes(line, pattern);
    if (times !== null) {
      // The number of the next SRT cue follows an empty line, which some files lack. SRT text may itself contain empty
      // lines.
      const { lines = [] } = current ?? {};
      const last = (lines.at(-1) ?? '').trim();
      const isNext = Number(last) === cues.length + 2;
      if (dialect === 'srt' && /^\d+$/.test(last) && (isNext || (lines.at(-2) ?? '').trim() === ''))
        lines.pop();
      finish();
      current = { times, lines: [] };
    } else if (dialect === 'vtt' && line.trim() === '') {
      // An empty line ends a WebVTT cue; identifiers, notes and styles may follow.
      finish();
      current = null;
    } else {
      current?.lines.push(line);
    }
  }
  finish();
  return cues;
}

const assTime = /^\s*(\d{1,4}):(\d{1,2}):(\d{1,2})[.:](\d{1,9})\s*$/;

/**
 * The default columns of `Dialogue` lines without a preceding `Format` line. `Marked` and `Layer` are in the same
 * position.
 */
const usualColumns = 'layer,start,end,style,name,marginl,marginr,marginv,effect,text'.split(',');

/**
 * Returns the text of a dialogue without override codes in braces and without drawings, which `\p1` starts and `\p0`
 * ends.
 */
function wordsOf(text: string): string {
  let words = '';
  let isDrawing = false;
  for (const [, codes, plain] of text.matchAll(/\{([^{}]*)\}|([^{]+|\{)/g)) {
    for (const [, level] of (codes ?? '').matchAll(/\\p(\d+)/g)) isDrawing = level !== '0';
    if (!isDrawing) words += plain ?? '';
  }
  return words.replace(/\\[Nn]/g, '\n').replaceAll('\\h', ' ');
}

/**
 * Reads the cues of ASS and SSA. Needs only times and text. ass-compiler parses everything else too, throws for a
 * single malformed line, and takes minutes for maliciously nested codes.
 */
function readAss(text: string): Cue[] {
  const cues: Cue[] = [];
  let columns = usualColumns;
  for (const line of text.split('\n')) {
    const [, kind, rest = ''] = /^(format|dialogue):\s?(.*)$/i.exec(line) ?? [];
    if (kind === undefined) continue;
    // Styles have a format line too. The format of events ends with the text, which may contain commas.
    const named =
      kind.toLowerCase() === 'format' ? rest.toLowerCase().replaceAll(/\s/g, '').split(',') : null;
    if (named !== null) {
      if (named.at(-1) === 'text') columns = named;
      continue;
    }
    const parts = rest.split(',');
    const [start, end] = ['start', 'end'].map((name) => {
      const [, h, m = '', s = '', f] = assTime.exec(parts[columns.indexOf(name)] ?? '') ?? [];
      return h === undefined ? null : readTime(h, m, s, f);
    });
    if (start == null || end == null) continue;
    const words = wordsOf(parts.slice(columns.length - 1).join(','));
    cues.push({ start, end, text: cueText(words, 'plain'), settings: '' });
  }
  return cues;
}

/** Returns the cues of a text whose line breaks are line feeds. Leaves out broken cues and never throws. */
export function readCues(text: string, format: TextSubtitles): Cue[] {
  if (format === 'ass' || format === 'ssa') return readAss(text);
  if (format === 'sbv') {
    const lines = text.replaceAll('[br]', '\n');
    return readTimed(lines, sbvTimes, 'plain');
  }
  return readTimed(text, arrow, format);
}
