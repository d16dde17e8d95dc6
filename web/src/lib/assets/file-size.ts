import { isolated, locale } from '#lib/languages/language.ts';
import { plural } from '#lib/languages/plural.ts';

const units = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Formats a file size in decimal units with at most three digits: `4.2 MB`. */
export function fileSize(bytes: number): string {
  if (bytes < 999.5) return isolated(plural(bytes, ['# byte', '# bytes']));
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = value >= 99.95 ? 0 : 1;
  const format = new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: units[unit] ?? 'terabyte',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  });
  return isolated(format.format(value));
}

/** Returns width and height in pixels: `1500 × 1000`. */
export function pixelSize(width: number, height: number): string {
  return isolated(`${width} × ${height}`, 'ltr');
}
