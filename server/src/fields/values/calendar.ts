/** Days and instants as clients write them (choices, fields). Nothing is guessed: what is no date is null. */

const dayPattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const instantPattern =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d\d):(\d\d))$/;

/** `YYYY-MM-DD` when the calendar has that day. */
function existingDay(text: string): string | null {
  const [, year, month, day] = dayPattern.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined || year === '0000') return null;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text) ? text : null;
}

/** The instant in UTC with milliseconds, or null when there is none such. */
export function readInstant(text: string): string | null {
  const [, day, hour, minute, second, , , , offsetHour, offsetMinute] = instantPattern.exec(text) ?? [];
  if (day === undefined || existingDay(day) === null) return null;
  const inRange =
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(offsetHour ?? 0) < 24 &&
    Number(offsetMinute ?? 0) < 60;
  const at = new Date(text.toUpperCase());
  if (!inRange || Number.isNaN(at.getTime())) return null;
  const iso = at.toISOString();
  // An offset may carry it out of the years that the interface writes with four digits.
  return /^\d{4}-/.test(iso) && !iso.startsWith('0000') ? iso : null;
}

/** The day somebody wrote, alone or as part of an instant: the day as written, whatever the offset says. */
export function readDay(text: string): string | null {
  if (dayPattern.test(text)) return existingDay(text);
  return readInstant(text) === null ? null : existingDay(text.slice(0, 10));
}

/** Whether it is a day and no more. */
export function isDay(text: string): boolean {
  return dayPattern.test(text) && existingDay(text) !== null;
}

/** A day as the instant it is kept as. */
export function startOfDay(day: string): string {
  return `${day}T00:00:00.000Z`;
}

/** The start of the day after; null after the last day there is. */
export function startOfNextDay(day: string): string | null {
  const iso = new Date(Date.parse(startOfDay(day)) + 86_400_000).toISOString();
  return /^\d{4}-/.test(iso) ? iso : null;
}
