import type { ListedLink, ShareLink } from '@vitrine/contract/links';
import { plural } from '#lib/languages/plural.ts';
import { agoOf } from '#lib/time/ago.ts';
import { shortDayOf } from '#lib/time/moments.ts';

/** Describes the settings of a link briefly. */
export function termsOf(link: ShareLink, now: number): string {
  return [
    endOf(link, now),
    link.has_password ? 'Password' : undefined,
    link.allow_download ? downloadsOf(link) : undefined,
    link.watermark === null ? undefined : `Watermark “${link.watermark}”`,
    link.allow_feedback ? 'Feedback' : undefined,
    link.allow_picks
      ? link.max_picks === undefined
        ? 'Favourites'
        : plural(link.max_picks, ['One favourite', 'Up to # favourites'])
      : undefined,
    link.version === undefined ? undefined : `Version ${link.version}`,
  ]
    .filter((term) => term !== undefined)
    .join(' · ');
}

function endOf({ expires_at }: ShareLink, now: number): string {
  if (expires_at === null) return 'No end date';
  const day = shortDayOf(expires_at);
  return Date.parse(expires_at) <= now ? `Ended ${day}` : `Until ${day}`;
}

function downloadsOf({ presets }: ShareLink): string {
  return presets === undefined ? 'Downloads' : `Downloads as ${presets.join(', ')}`;
}

/** Describes how often the files of a link were viewed and downloaded; undefined if they were not. */
export function usesOf({
  view_count,
  download_count,
}: Pick<ShareLink, 'view_count' | 'download_count'>): string | undefined {
  const parts = [
    view_count === 0 ? undefined : plural(view_count, ['# view', '# views']),
    download_count === 0 ? undefined : plural(download_count, ['# download', '# downloads']),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' · ');
}

/** Describes how often and when a link was opened, and its files were viewed and downloaded. */
export function viewsOf(link: ShareLink, now: number): string {
  if (link.last_opened_at === null) return usesOf(link) ?? 'Not opened yet';
  const times = plural(link.opened_count, ['Opened once', 'Opened # times']);
  const opened = `${times}, last ${agoOf(link.last_opened_at, now)}`;
  const uses = usesOf(link);
  return uses === undefined ? opened : `${opened} · ${uses}`;
}

/** Returns whether a link works as far as its terms say. */
export function isOver(link: ShareLink, now: number): boolean {
  return link.revoked_at !== null || (link.expires_at !== null && Date.parse(link.expires_at) <= now);
}

const targets: Readonly<Record<ShareLink['target_kind'], { lost: string; untitled: string }>> = {
  post: { lost: 'A post that was deleted or that you may not see', untitled: 'Untitled post' },
  asset: { lost: 'A file that was deleted or that you may not see', untitled: 'Untitled file' },
  collection: {
    lost: 'A collection that was deleted or that you may not see',
    untitled: 'Untitled collection',
  },
};

/** Names the target of a link. */
export function targetOf({
  target_kind,
  target_title,
}: Pick<ListedLink, 'target_kind' | 'target_title'>): string {
  const { lost, untitled } = targets[target_kind];
  if (target_title === null) return lost;
  return target_title.trim() === '' ? untitled : target_title;
}

/** Returns the page of the target of a link. */
export function targetPage({ target_kind, target_id }: ShareLink): string {
  return `/${target_kind}s/${target_id}`;
}

/** Returns a warning about omitted files, or undefined. */
export function omissionOf(count: number): string | undefined {
  if (count === 0) return undefined;
  return plural(count, [
    'One file is left out: links never show damaged files, mature content or files with an audience of their own.',
    '# files are left out: links never show damaged files, mature content or files with an audience of their own.',
  ]);
}
