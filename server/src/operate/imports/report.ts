import { createHash } from 'node:crypto';
import type { Language } from '@vitrine/contract/languages';
import { say, sayCount } from '../../platform/language/say.ts';
import { type Sentence, saySentence } from '../../platform/language/sentence.ts';
import { type CountName, sayCounted, sayThing, type ThingKind } from './report-words.ts';

/** Something of the earlier system, and what became of it. */
export interface ReportEntry {
  kind: ThingKind;
  id: string;
  reason: Sentence;
}

/** The result of an import. It contains no passwords of accounts and no hashes of them. */
export interface Report {
  counts: Record<string, number>;
  hashes: { compared: number; equal: number; different: string[] };
  /** What was not imported. */
  left_out: ReportEntry[];
  /** What was imported in another form. */
  changed: ReportEntry[];
  /** What an earlier run imported and no longer exists. */
  vanished: ReportEntry[];
  links: { old_key: string; url: string; password?: string }[];
}

export interface Reporter {
  report: Report;
  count(name: CountName, more?: number): void;
  leaveOut(kind: ThingKind, id: number | string, reason: Sentence): void;
  change(kind: ThingKind, id: number | string, reason: Sentence): void;
  vanish(kind: ThingKind, id: number | string, reason: Sentence): void;
}

export function createReporter(): Reporter {
  const report: Report = {
    counts: {},
    hashes: { compared: 0, equal: 0, different: [] },
    left_out: [],
    changed: [],
    vanished: [],
    links: [],
  };
  return {
    report,
    count(name, more = 1) {
      report.counts[name] = (report.counts[name] ?? 0) + more;
    },
    leaveOut(kind, id, reason) {
      report.left_out.push({ kind, id: String(id), reason });
    },
    change(kind, id, reason) {
      report.changed.push({ kind, id: String(id), reason });
    },
    vanish(kind, id, reason) {
      report.vanished.push({ kind, id: String(id), reason });
    },
  };
}

/** How many ids of one reason the text names; the JSON has all. */
const MOST_NAMED = 50;

/** Returns entries in groups of the same kind and reason. */
export function alike(entries: readonly ReportEntry[]): ReportEntry[][] {
  return [...Map.groupBy(entries, ({ kind, reason }) => `${kind}\n${saySentence('en', reason)}`).values()];
}

/** Returns the lines of a section of the report, entries of the same reason in one; none if there are no entries. */
export function section(language: Language, title: string, entries: readonly ReportEntry[]): string[] {
  if (entries.length === 0) return [];
  const lines = alike(entries).flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const ids = same
      .slice(0, MOST_NAMED)
      .map(({ id }) => id)
      .join(', ');
    const more =
      same.length > MOST_NAMED
        ? ` ${say(language, 'and {count} more', { count: same.length - MOST_NAMED })}`
        : '';
    return `  ${sayThing(language, first.kind)} ${ids}${more}: ${saySentence(language, first.reason)}`;
  });
  return ['', `${title} (${entries.length}):`, ...lines];
}

/** Returns the report as `--report` writes it: JSON for scripts, with reasons in English (LANGUAGE-7). */
export function reportJson({ left_out, changed, vanished, ...report }: Report): string {
  const inEnglish = (entries: readonly ReportEntry[]) =>
    entries.map(({ reason, ...entry }) => ({ ...entry, reason: saySentence('en', reason) }));
  const written = {
    ...report,
    left_out: inEnglish(left_out),
    changed: inEnglish(changed),
    vanished: inEnglish(vanished),
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}

/** Returns the report as text for people; `source` is the name of the earlier system. */
export function reportText(
  language: Language,
  source: string,
  { counts, hashes, left_out, changed, vanished, links }: Report,
): string {
  const names = Object.keys(counts).toSorted();
  return [
    ...names.map((name) => `${String(counts[name]).padStart(8)} ${sayCounted(language, name)}`),
    sayCount(
      language,
      hashes.compared,
      [
        '{equal} of # file has the checksum that {source} recorded',
        '{equal} of # files have the checksum that {source} recorded',
      ],
      { equal: String(hashes.equal).padStart(8), source },
    ),
    ...section(language, say(language, 'Left out'), left_out),
    ...section(language, say(language, 'Imported in another form'), changed),
    ...section(language, say(language, 'Gone from {source}, kept here', { source }), vanished),
    ...(links.length === 0 ? [] : ['', say(language, 'New links:')]),
    ...links.map(
      ({ old_key, url, password }) =>
        `  ${old_key}: ${url}${password === undefined ? '' : ` ${say(language, 'password {password}', { password })}`}`,
    ),
    '',
  ].join('\n');
}

/** Returns a short fingerprint of values that JSON can express. */
export function fingerprintOf(...values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 32);
}
