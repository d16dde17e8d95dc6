import type { ShareLink } from '@vitrine/contract/links';
import { sql } from 'kysely';
import { targetColumns } from './target.ts';

/** A row of `share_links l`, read with `linkColumns`. */
export type LinkRow = Omit<ShareLink, 'omitted_count' | 'version' | 'presets' | 'max_picks'> & {
  version: number | null;
  presets: string[] | null;
  max_picks: number | null;
};

/** Returns a link as its editors see it. */
export function shownLink<R extends LinkRow>(
  row: R,
): Omit<R, 'version' | 'presets' | 'max_picks'> & Pick<ShareLink, 'version' | 'presets' | 'max_picks'> {
  const { version, presets, max_picks, ...link } = row;
  return {
    ...link,
    ...(version === null ? {} : { version }),
    ...(presets === null ? {} : { presets }),
    ...(max_picks === null ? {} : { max_picks }),
  };
}

export const linkColumns = sql<LinkRow>`l.id, l.label, ${targetColumns}, l.expires_at,
  l.password_hash is not null as has_password, l.allow_download, l.watermark, l.version, l.presets, l.allow_feedback,
  l.allow_picks, l.max_picks, l.opened_count, l.last_opened_at, l.view_count, l.download_count, l.created_at, l.revoked_at`;
