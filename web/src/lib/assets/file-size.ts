const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats a file size in decimal units with at most three digits: `4.2 MB`. */
export function fileSize(bytes: number): string {
  if (bytes === 1) return '1 byte';
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
