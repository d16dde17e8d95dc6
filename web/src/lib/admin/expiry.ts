/** A moment typed into a date and time field, as the service takes it; null when the field is empty or wrong. */
export function readMoment(typed: string): string | null {
  const moment = new Date(typed);
  return typed === '' || Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}
