import { secondsOf } from '#lib/viewer/clock.ts';

/** What is said during a period of a film or sound. */
export interface Passage {
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const times = /^((?:\d+:)?\d+:\d+\.\d+)[ \t]+-->[ \t]+((?:\d+:)?\d+:\d+\.\d+)/;
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  lrm: '',
  rlm: '',
};

/** Returns the words of a cue without its markup. */
const wordsOf = (payload: string): string =>
  payload
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Reads the cues of a WebVTT file in the order of their times. Cues that repeat the words before them extend that passage. */
export function readTranscript(vtt: string): Passage[] {
  const found: Passage[] = [];
  for (const block of vtt.replaceAll(/\r\n?/g, '\n').split(/\n{2,}/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => times.test(line));
    const [, from, to] = times.exec(lines[at] ?? '') ?? [];
    const text = wordsOf(lines.slice(at + 1).join('\n'));
    if (from === undefined || to === undefined || text === '') continue;
    found.push({ start: secondsOf(from), end: secondsOf(to), text });
  }
  const passages: Passage[] = [];
  for (const passage of found.toSorted((a, b) => a.start - b.start)) {
    const last = passages.at(-1);
    if (last?.text === passage.text && passage.start - last.end < 1)
      passages[passages.length - 1] = { ...last, end: passage.end };
    else passages.push(passage);
  }
  return passages;
}

/** Returns the passages that contain the words, in any case and without regard to accents; all without words. */
export function passagesWith(passages: readonly Passage[], words: string): readonly Passage[] {
  const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const wanted = plain(words.trim());
  return wanted === '' ? passages : passages.filter(({ text }) => plain(text).includes(wanted));
}
