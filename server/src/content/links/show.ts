import type { ShareLink } from '@vitrine/contract/links';
import { sql } from 'kysely';
import { targetColumns } from './target.ts';

/** A row of `share_links l`, read with `linkColumns`. */
export type LinkRow = Omit<ShareLink, 'omitted_count' | 'version' | 'presets'> & {
  version: number | null;
  presets: string[] | null;
};

/** Returns a link as its editors see it. */
export function shownLink<R extends LinkRow>(
  row: R,
): Omit<R, 'version' | 'presets'> & Pick<ShareLink, 'version' | 'presets'> {
  const { version, presets, ...link } = row;
  return {
    ...link,
    ...(version === null ? {} : { version }),
    ...(presets === null ? {} : { presets }),
  };
}

export const linkColumns = sql<LinkRow>`l.id, l.label, ${targetColumns}, l.expires_at,
  l.password_hash is not null as has_password, l.allow_download, l.watermark, l.version, l.presets, l.opened_count, l.last_opened_at,
  l.view_count, l.download_count, l.created_at, l.revoked_at`;
