import type { ShareLink } from '@vitrine/contract/links';
import { agoOf } from '#lib/time/ago.ts';
import { shortDayOf } from '#lib/time/moments.ts';

/** Describes the settings of a link briefly. */
export function termsOf(link: ShareLink, now: number): string {
  const ended = link.expires_at !== null && Date.parse(link.expires_at) <= now;
  return [
    link.expires_at === null ? 'No end date' : `${ended ? 'Ended' : 'Until'} ${shortDayOf(link.expires_at)}`,
    link.has_password ? 'Password' : undefined,
    link.allow_download ? 'Downloads' : undefined,
    link.watermark === null ? undefined : `Watermark “${link.watermark}”`,
  ]
    .filter((term) => term !== undefined)
    .join(' · ');
}

/** Describes how often and when a link was opened. */
export function viewsOf(link: ShareLink, now: number): string {
  if (link.last_opened_at === null) return 'Not opened yet';
  const times = link.opened_count === 1 ? 'Opened once' : `Opened ${link.opened_count} times`;
  return `${times}, last ${agoOf(link.last_opened_at, now)}`;
}

/** Returns a warning about omitted files, or undefined. */
export function omissionOf(count: number): string | undefined {
  if (count === 0) return undefined;
  const files = count === 1 ? 'One file is' : `${count} files are`;
  return `${files} left out: links never show damaged files, mature content or files with an audience of their own.`;
}
