/** One subtitle. Times are in milliseconds; `text` is escaped WebVTT cue text without empty lines. */
export interface Cue {
  start: number;
  end: number;
  text: string;
  /** WebVTT cue settings such as `line:0 align:start`, or ''. */
  settings: string;
}

/** The markup that the text of a cue may contain. ASS and SBV have none after their own codes are removed. */
export type Dialect = 'srt' | 'vtt' | 'plain';

/** Tags kept in SRT and WebVTT; those left open are closed. */
const styles: readonly string[] = ['b', 'i', 'u'];
/** Known SRT tags that WebVTT lacks; they are removed. Anything else in angle brackets is text: `<gasps>`. */
const dropped: readonly string[] = ['font', 's', 'span', 'c', 'v', 'lang', 'ruby', 'rt', 'br'];

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
  quot: '"',
};

function decodeEntities(text: string): string {
  return text.replace(/&([a-z]{2,4});/g, (whole, name: string) => entities[name] ?? whole);
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Opens and closes style tags so that the result is always balanced. */
function openTags() {
  const open: string[] = [];
  return {
    begin(name: string): string {
      if (open.includes(name)) return '';
      open.push(name);
      return `<${name}>`;
    },
    end(name: string): string {
      const at = open.lastIndexOf(name);
      return at === -1 ? '' : closing(open.splice(at));
    },
    endAll: () => closing(open.splice(0)),
  };
}

function closing(names: readonly string[]): string {
  return names
    .toReversed()
    .map((name) => `</${name}>`)
    .join('');
}

/** Returns the text of a cue as WebVTT, or '' if there is nothing to show. */
export function cueText(source: string, dialect: Dialect): string {
  // Removes all control characters except line feed and tab.
  const clean = source
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .toWellFormed()
    .trim();
  const plain = (text: string) => escapeText(dialect === 'vtt' ? decodeEntities(text) : text);
  const tags = openTags();
  // Removes ASS codes such as `{\an8}`, which SRT files contain as well.
  const text = dialect === 'srt' ? clean.replace(/\{\\[^{}]*\}/g, '') : clean;
  let made = '';
  let at = 0;
  for (const found of dialect === 'plain' ? [] : text.matchAll(/<(\/?)([a-z][a-z0-9]*|[\d:.]+)?[^<>]*>/gi)) {
    const [whole, slash, name = ''] = found;
    const tag = name.toLowerCase();
    if (dialect === 'srt' && !styles.includes(tag) && !dropped.includes(tag)) continue;
    made += plain(text.slice(at, found.index));
    at = found.index + whole.length;
    if (styles.includes(tag)) made += slash === '/' ? tags.end(tag) : tags.begin(tag);
  }
  made += plain(text.slice(at)) + tags.endAll();
  const lines = made.split('\n').map((line) => line.trim());
  const isEmpty = made.replace(/<\/?[biu]>/g, '').trim() === '';
  // An empty line would end the cue.
  return isEmpty ? '' : lines.filter((line) => line !== '').join('\n');
}

/** Returns the parts of a timestamp in milliseconds; null if minutes or seconds are out of range. */
export function readTime(
  hours: string | undefined,
  minutes: string,
  seconds: string,
  fraction = '0',
): number | null {
  if (Number(minutes) > 59 || Number(seconds) > 59) return null;
  const whole = (Number(hours ?? 0) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

function timestamp(milliseconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(milliseconds / 1000);
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${clock}.${String(milliseconds % 1000).padStart(3, '0')}`;
}

/**
 * Returns a WebVTT file of these cues in order of time. Leaves out cues that have no text or that end before they
 * begin. Returns null if none remains.
 */
export function writeVtt(cues: readonly Cue[]): string | null {
  const shown = cues.filter(({ start, end, text }) => end > start && text !== '');
  if (shown.length === 0) return null;
  const blocks = shown
    .toSorted((a, b) => a.start - b.start)
    .map(({ start, end, text, settings }) => {
      const line = `${timestamp(start)} --> ${timestamp(end)}`;
      return `${settings === '' ? line : `${line} ${settings}`}\n${text}\n`;
    });
  return `WEBVTT\n\n${blocks.join('\n')}`;
}
