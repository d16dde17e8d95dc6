import { phrase } from '#lib/languages/phrase.ts';
import { localeOf, shortDayOf } from './moments.ts';

const steps = [
  { unit: 'minute', seconds: 60 },
  { unit: 'hour', seconds: 3600 },
  { unit: 'day', seconds: 86_400 },
] as const;

/** Formats a time relative to now: "5 minutes ago"; as a date if it is more than a month away. */
export function agoOf(timestamp: string, now: number, language?: string): string {
  const seconds = (Date.parse(timestamp) - now) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 45) return phrase('just now');
  if (distance > 30 * 86_400) return shortDayOf(timestamp, language);
  const words = new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'always' });
  const step = steps.findLast((candidate) => distance >= candidate.seconds) ?? steps[0];
  const count = Math.max(1, Math.floor(distance / step.seconds));
  return words.format(seconds < 0 ? -count : count, step.unit);
}
