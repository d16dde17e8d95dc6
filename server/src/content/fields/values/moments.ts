/** Days and instants as clients write them (VALUE-1). Invalid ones are null; nothing is guessed. */

const offsetPattern = /([+-])(\d\d):(\d\d)$/;

/** Returns the offset of an instant in minutes; null for UTC. */
export function minutesOf(date: string): number | null {
  const [, sign, hours, minutes] = offsetPattern.exec(date) ?? [];
  const total = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return total === 0 ? null : sign === '-' ? -total : total;
}

/** Larger offsets do not exist; their times are kept in UTC. */
const MOST_OFFSET = 14 * 60 + 59;

/** Returns an instant as the time at this offset from UTC, in minutes (VALUE-26). */
export function withOffset(instant: string, minutes: number | null): string {
  if (minutes === null || minutes === 0 || Math.abs(minutes) > MOST_OFFSET) return instant;
  const local = new Date(Date.parse(instant) + minutes * 60_000).toISOString();
  // A year of five digits has no form in the interface.
  if (!/^\d{4}-/.test(local) || local.startsWith('0000')) return instant;
  const two = (count: number) => String(count).padStart(2, '0');
  const size = Math.abs(minutes);
  const clock = local
    .slice(0, -1)
    .replace(/\.(\d*?)0*$/, (_, digits: string) => (digits === '' ? '' : `.${digits}`));
  return `${clock}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const dayPattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const instantPattern =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d\d):(\d\d))$/;

/** Returns `YYYY-MM-DD` when that day exists. */
function existingDay(text: string): string | null {
  const [, year, month, day] = dayPattern.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined || year === '0000') return null;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text) ? text : null;
}

/** Returns the instant in UTC with milliseconds, or null when the text is not a valid instant. */
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
  // The offset may move it out of the four-digit years of the interface.
  return /^\d{4}-/.test(iso) && !iso.startsWith('0000') ? iso : null;
}

/** Returns the day as written, alone or as part of an instant, ignoring the offset. */
export function readDay(text: string): string | null {
  if (dayPattern.test(text)) return existingDay(text);
  return readInstant(text) === null ? null : existingDay(text.slice(0, 10));
}

/** Whether the text is a day without a time. */
export function isDay(text: string): boolean {
  return dayPattern.test(text) && existingDay(text) !== null;
}

/** The instant that represents a day. */
export function startOfDay(day: string): string {
  return `${day}T00:00:00.000Z`;
}

/** Returns the start of the following day; null after the last representable day. */
export function startOfNextDay(day: string): string | null {
  const iso = new Date(Date.parse(startOfDay(day)) + 86_400_000).toISOString();
  return /^\d{4}-/.test(iso) ? iso : null;
}
