/** A span of days, for people. */
export function daysInWords(days: number): string {
  return days === 1 ? 'one day' : `${days} days`;
}
