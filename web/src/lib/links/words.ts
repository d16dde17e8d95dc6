import type { ListedLink, ShareLink } from '@vitrine/contract/links';
import { locale } from '#lib/languages/language.ts';
import { agoOf } from '#lib/time/ago.ts';
import { shortDayOf } from '#lib/time/moments.ts';

/** Describes the settings of a link briefly. */
export function termsOf(link: ShareLink, now: number): string {
  const ended = link.expires_at !== null && Date.parse(link.expires_at) <= now;
  return [
    link.expires_at === null ? 'No end date' : `${ended ? 'Ended' : 'Until'} ${shortDayOf(link.expires_at)}`,
    link.has_password ? 'Password' : undefined,
    link.allow_download ? downloadsOf(link) : undefined,
    link.watermark === null ? undefined : `Watermark “${link.watermark}”`,
    link.allow_feedback ? 'Feedback' : undefined,
    link.allow_picks
      ? link.max_picks === undefined
        ? 'Favourites'
        : counted(link.max_picks, 'One favourite', 'Up to # favourites')
      : undefined,
    link.version === undefined ? undefined : `Version ${link.version}`,
  ]
    .filter((term) => term !== undefined)
    .join(' · ');
}

function downloadsOf({ presets }: ShareLink): string {
  return presets === undefined ? 'Downloads' : `Downloads as ${presets.join(', ')}`;
}

const counted = (count: number, singular: string, plural: string) =>
  count === 1 ? singular : plural.replace('#', count.toLocaleString(locale()));

/** Describes how often the files of a link were viewed and downloaded; undefined if they were not. */
export function usesOf({
  view_count,
  download_count,
}: Pick<ShareLink, 'view_count' | 'download_count'>): string | undefined {
  const parts = [
    view_count === 0 ? undefined : counted(view_count, '1 view', '# views'),
    download_count === 0 ? undefined : counted(download_count, '1 download', '# downloads'),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' · ');
}

/** Describes how often and when a link was opened, and its files were viewed and downloaded. */
export function viewsOf(link: ShareLink, now: number): string {
  if (link.last_opened_at === null) return usesOf(link) ?? 'Not opened yet';
  const times = counted(link.opened_count, 'Opened once', 'Opened # times');
  const uses = usesOf(link);
  return `${times}, last ${agoOf(link.last_opened_at, now)}${uses === undefined ? '' : ` · ${uses}`}`;
}

/** Returns whether a link works as far as its terms say. */
export function isOver(link: ShareLink, now: number): boolean {
  return link.revoked_at !== null || (link.expires_at !== null && Date.parse(link.expires_at) <= now);
}

/** Names the target of a link. */
export function targetOf({
  target_kind,
  target_title,
}: Pick<ListedLink, 'target_kind' | 'target_title'>): string {
  const kind = { post: 'post', asset: 'file', collection: 'collection' }[target_kind];
  if (target_title === null) return `A ${kind} that was deleted or that you may not see`;
  return target_title.trim() === '' ? `Untitled ${kind}` : target_title;
}

/** Returns the page of the target of a link. */
export function targetPage({ target_kind, target_id }: ShareLink): string {
  return `/${target_kind}s/${target_id}`;
}

/** Returns a warning about omitted files, or undefined. */
export function omissionOf(count: number): string | undefined {
  if (count === 0) return undefined;
  const files = count === 1 ? 'One file is' : `${count} files are`;
  return `${files} left out: links never show damaged files, mature content or files with an audience of their own.`;
}
