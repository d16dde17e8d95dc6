/** Returns a time as a field for date and time expects it, `YYYY-MM-DDTHH:MM`, in the user's time zone. */
export function localTimeOf(moment: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day}T${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** Returns the time of such a field, in RFC 3339; undefined if it is no time. */
export function timeOfLocal(text: string): string | undefined {
  const moment = new Date(text);
  return text === '' || Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

/** Returns nine o'clock of the next day. */
export function nextMorning(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}
