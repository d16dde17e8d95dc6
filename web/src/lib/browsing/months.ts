import type { TimelineMonth } from '@vitrine/contract/browsing';
import { locale } from '#lib/languages/language.ts';

/** The heading of a month, and the space between months, in CSS pixels. */
const headingHeight = 44;
const monthGap = 20;

/** A month on the page. Lengths are CSS pixels from the beginning of the timeline. */
export interface MonthSection {
  readonly month: string | null;
  readonly count: number;
  readonly top: number;
  readonly height: number;
}

export interface TimelineSheet {
  readonly sections: readonly MonthSection[];
  readonly height: number;
  readonly columns: number;
  readonly tile: number;
  readonly gap: number;
}

/** Lays out months of square tiles by their numbers of files, before any file is read. `width` is in CSS pixels. */
export function layOutMonths(months: readonly TimelineMonth[], width: number): TimelineSheet {
  if (width <= 0) return { sections: [], height: 0, columns: 1, tile: 0, gap: 0 };
  const isNarrow = width < 600;
  const gap = isNarrow ? 4 : 8;
  const columns = Math.max(3, Math.floor((width + gap) / ((isNarrow ? 96 : 140) + gap)));
  const tile = (width - gap * (columns - 1)) / columns;
  let top = 0;
  const sections = months.map(({ month, count }) => {
    const rows = Math.ceil(count / columns);
    const height = headingHeight + rows * (tile + gap) - gap;
    const section = { month, count, top, height };
    top += height + monthGap;
    return section;
  });
  return { sections, height: Math.max(0, top - monthGap), columns, tile, gap };
}

/** A file's place inside its month. */
export interface MonthTile {
  readonly index: number;
  readonly left: number;
  readonly top: number;
}

/** Returns the tiles of a month whose rows overlap a range of the timeline. */
export function tilesBetween(
  section: MonthSection,
  { columns, tile, gap }: TimelineSheet,
  from: number,
  to: number,
): MonthTile[] {
  const step = tile + gap;
  const inside = (edge: number) => (edge - section.top - headingHeight) / step;
  const first = Math.max(0, Math.floor(inside(from))) * columns;
  const end = Math.min(section.count, Math.max(0, Math.ceil(inside(to))) * columns);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => {
    const index = first + at;
    return {
      index,
      left: (index % columns) * step,
      top: headingHeight + Math.floor(index / columns) * step,
    };
  });
}

/** Returns the index of the month at a height of the timeline, or of the nearest one. */
export function monthAt(sections: readonly MonthSection[], height: number): number {
  let low = 0;
  let high = sections.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sections[middle]?.top ?? 0) <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the name of a month, such as `December 2019`. Years are shown as they are, including 1 and 9999. */
export function monthName(month: string | null): string {
  if (month === null) return 'Unknown date';
  const [year = 1, number = 1] = month.split('-').map(Number);
  const day = new Date(Date.UTC(2000, number - 1, 1));
  day.setUTCFullYear(year);
  return new Intl.DateTimeFormat(locale(), { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(day);
}

/** The label of a year beside the scrubber, as a share of its length. */
export interface YearMark {
  readonly year: string;
  readonly at: number;
}

/** Returns the years that have room beside a scrubber of this length. */
export function yearMarks(months: readonly (string | null)[], length: number): YearMark[] {
  const least = length <= 0 ? 1 : 22 / length;
  const marks: YearMark[] = [];
  months.forEach((month, index) => {
    if (month === null || month.slice(0, 4) === months[index - 1]?.slice(0, 4)) return;
    const at = months.length < 2 ? 0 : index / (months.length - 1);
    const last = marks.at(-1);
    if (last === undefined || at - last.at >= least)
      marks.push({ year: String(Number(month.slice(0, 4))), at });
  });
  return marks;
}
