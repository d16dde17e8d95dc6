import { FIRST_LINKED } from '@vitrine/contract/picture-sources';
import type { Deps } from '../../core/deps.ts';
import { keysOf } from '../../media/ladder.ts';
import { readShown, type ShownRow } from './shown.ts';
import { visitLink } from './visit.ts';

/** A file that the page of a link shows, with the sizes of its picture. */
export interface LinkedPicture extends Pick<ShownRow, 'id' | 'pixel_width' | 'pixel_height'> {
  readonly variants: readonly string[];
}

/**
 * Returns the first files of a link as a visitor without cookies sees them. Throws for a link that they may not open. It does
 * not count as an opening.
 */
export async function firstPictures(
  deps: Pick<Deps, 'db' | 'secretKey' | 'ladder'>,
  token: string,
): Promise<readonly LinkedPicture[]> {
  const { visitor } = await visitLink(deps, token, { cookie: () => null });
  const rows = await readShown(deps.db, visitor, null, FIRST_LINKED);
  return rows.map(({ id, pixel_width, pixel_height, renditions }) => ({
    id,
    pixel_width,
    pixel_height,
    variants: keysOf(deps.ladder).filter((key) => renditions[key] !== undefined),
  }));
}
