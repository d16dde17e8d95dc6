import type { Anchor } from '@vitrine/contract/annotations';
import type { MediaFacts } from '@vitrine/contract/media';
import { kindOf, type MediaKind } from '../../media/sniff.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** How far a rectangle may leave the picture: clients round its sides. */
const ROUNDING = 1e-6;
/** The durations that files, decoders and browsers report differ by less. */
const INEXACT_SECONDS = 1;

/** Throws 422 unless the point or rectangle is complete and within the picture. */
function checkPlace({ x, y, w, h }: { x?: number; y?: number; w?: number; h?: number }): void {
  const hasPoint = x !== undefined && y !== undefined;
  const isWhole = (x === undefined) === (y === undefined) && (w === undefined) === (h === undefined);
  if (!isWhole || (w !== undefined && !hasPoint)) throw refuse('anchor-incomplete');
  const right = (x ?? 0) + (w ?? 0);
  const bottom = (y ?? 0) + (h ?? 0);
  if (right > 1 + ROUNDING || bottom > 1 + ROUNDING) throw refuse('anchor-outside-picture');
}

/** Files that have no pages unless their facts count some. */
const withoutPages: ReadonlySet<MediaKind> = new Set(['image', 'video', 'audio', 'model', 'font']);

/** Returns whether a file has places of this kind; its kind is known before its facts are. */
function hasPlaces(
  { kind }: Anchor,
  file: MediaKind,
  { page_count, duration_seconds, animated }: MediaFacts,
) {
  switch (kind) {
    case 'point':
    case 'region':
    case 'shape':
      return file !== 'audio';
    case 'time':
      return file === 'video' || file === 'audio' || animated === true || (duration_seconds ?? 0) > 0;
    case 'page':
      return !withoutPages.has(file) || (page_count ?? 0) > 0;
    case 'camera':
      return file === 'model';
  }
}

/** Throws 422 unless the anchor is a place in a file of this media type with these facts, as far as they are known (ANNOTATION-2). */
export function checkAnchor(
  anchor: Anchor,
  { mime, media: facts }: { mime: string; media: MediaFacts },
): void {
  if (!hasPlaces(anchor, kindOf(mime), facts)) throw refuse('anchor-of-other-kind', { type: mime });
  switch (anchor.kind) {
    case 'point':
    case 'shape':
    case 'camera':
      return;
    case 'region':
      checkPlace(anchor);
      return;
    case 'time': {
      const { start, end } = anchor;
      const { duration_seconds: duration } = facts;
      checkPlace(anchor);
      if (end !== undefined && end < start) throw refuse('anchor-reversed');
      if (duration !== undefined && duration > 0 && Math.max(start, end ?? 0) > duration + INEXACT_SECONDS)
        throw refuse('anchor-after-end', { max: duration });
      return;
    }
    case 'page': {
      const { page_count: pages } = facts;
      checkPlace(anchor);
      if (pages !== undefined && pages > 0 && anchor.page > pages)
        throw refuse('anchor-without-page', { max: pages });
    }
  }
}
