import type { MediaFacts } from '@vitrine/contract/media';
import type { Rung } from '../../../media/ladder.ts';
import { isRenderable, isTiled, previewKind } from '../../../media/renderable.ts';
import { exceedsLadder } from '../../../media/tiles/geometry.ts';
import { isTranscoded } from '../../../media/transcode.ts';

/** A stored file that was last processed by an earlier version. */
export interface StoredFile {
  hash: string;
  mime: string;
  /** The version of the makers that last processed it. */
  makers_version: number;
  width: number | null;
  height: number | null;
  media: MediaFacts;
  has_text: boolean;
  has_east_asian_text: boolean;
  has_right_to_left_text: boolean;
  has_ladder: boolean;
  has_tiles: boolean;
  /** Whether its streams were made or attempted. */
  has_transcode: boolean;
}

/** Picture types with possibly several frames or pages, which earlier versions did not count. */
const manyFrames = ['image/gif', 'image/webp', 'image/apng', 'image/avif', 'image/tiff'];

/**
 * Returns the job that creates the missing renditions of a stored file, the most thorough job if there are
 * several; null if none is missing.
 */
export function lackingOf(file: StoredFile, rungs: readonly Rung[]): 'render' | 'transcode' | 'tiles' | null {
  const { mime, width, height, media } = file;
  if (!isRenderable(mime)) return null;
  if (!file.has_ladder) return 'render';
  const decoder = previewKind(mime);
  if (decoder === 'document' && !file.has_text) return 'render';
  const isUncounted = Object.keys(media).length === 0;
  if (isUncounted && (decoder === 'video' || manyFrames.includes(mime))) return 'render';
  if (isTranscoded(mime, media) && !file.has_transcode) return 'transcode';
  const isLarge = width !== null && height !== null && exceedsLadder({ width, height }, rungs);
  return isLarge && isTiled(mime) && !file.has_tiles ? 'tiles' : null;
}
