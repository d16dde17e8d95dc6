import type { Language } from '@vitrine/contract/languages';
import type { MediaKind } from '../../media/sniff.ts';
import { say, sayCount } from '../../platform/language/say.ts';
import { listed, saySentence } from '../../platform/language/sentence.ts';
import { type SkippedEntry, whySkipped } from './walk.ts';

/** What an import finds in one folder. */
export interface FolderSummary {
  files: number;
  bytes: number;
  kinds: Map<MediaKind, number>;
  sidecars: number;
  /** Films of live photos, which become part of the photos. */
  films: number;
  /** Stacks that would be made. */
  stacks: number;
  skipped: SkippedEntry[];
  /** How many files give each field a value, and some of the values. */
  fields: Map<string, { files: number; values: Set<string> }>;
}

/** Values of a field that a summary names. */
const SHOWN_VALUES = 3;

export function emptySummary(): FolderSummary {
  return {
    files: 0,
    bytes: 0,
    kinds: new Map(),
    sidecars: 0,
    films: 0,
    stacks: 0,
    skipped: [],
    fields: new Map(),
  };
}

/** Counts a value that the path of a file gives. */
export function countValue({ fields }: FolderSummary, code: string, text: string): void {
  const counted = fields.get(code) ?? { files: 0, values: new Set<string>() };
  counted.files += 1;
  counted.values.add(text);
  fields.set(code, counted);
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a size for people: `1.5 MiB`. */
export function sizeText(language: Language, bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** power;
  const digits = power === 0 ? 0 : 1;
  const number = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(size);
  return power === 0 ? sayCount(language, size, ['# byte', '# bytes']) : `${number} ${units[power]}`;
}

/** Counts skipped names by their reason. */
function skippedText(language: Language, skipped: readonly SkippedEntry[]): string {
  const reasons = Map.groupBy(skipped, ({ reason }) => reason);
  return [...reasons]
    .map(([reason, entries]) => `${entries.length} ${saySentence(language, whySkipped[reason])}`)
    .join(', ');
}

/** Returns the lines of a folder in the summary: what is in it, and what its paths say. */
export function folderLines(language: Language, folder: string, summary: FolderSummary): string[] {
  const kinds = [...summary.kinds].map(([kind, count]) => `${count} ${kind}`).join(', ');
  const parts = [
    `${sayCount(language, summary.files, ['# file', '# files'])}${kinds === '' ? '' : ` (${kinds})`}`,
    sizeText(language, summary.bytes),
    ...(summary.films === 0
      ? []
      : [sayCount(language, summary.films, ['# film of live photos', '# films of live photos'])]),
    ...(summary.stacks === 0 ? [] : [sayCount(language, summary.stacks, ['# stack', '# stacks'])]),
    ...(summary.sidecars === 0 ? [] : [sayCount(language, summary.sidecars, ['# sidecar', '# sidecars'])]),
    ...(summary.skipped.length === 0
      ? []
      : [say(language, 'skipped: {names}', { names: skippedText(language, summary.skipped) })]),
  ];
  const byCode = [...summary.fields].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const fields = byCode.map(([code, { files, values }]) => {
    const shown = [...values].slice(0, SHOWN_VALUES).join(', ');
    return `    ${code} = ${shown}${values.size > SHOWN_VALUES ? ', …' : ''} (${sayCount(language, files, ['# file', '# files'])})`;
  });
  return [`  ${folder === '' ? '.' : folder}: ${listed(language, parts)}`, ...fields];
}
