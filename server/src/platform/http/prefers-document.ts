import type { IncomingHttpHeaders } from 'node:http';

const documents = ['application/activity+json', 'application/ld+json', 'application/json'];
const pages = ['text/html'];

interface Range {
  /** A media type, `type/*` or `*\/*`. */
  range: string;
  quality: number;
}

/** Parses an Accept header; parameters other than the quality are ignored. A missing header accepts everything. */
function readRanges(accept: string): Range[] {
  const ranges = accept.split(',').flatMap((part) => {
    const [range = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    const stated = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, '');
    const quality = stated === undefined ? 1 : Number(stated);
    return range === '' || Number.isNaN(quality) ? [] : [{ range, quality }];
  });
  return ranges.length === 0 ? [{ range: '*/*', quality: 1 }] : ranges;
}

/** Returns the quality of a media type: the most specific range that matches it decides (RFC 9110, 12.5.1). */
function qualityOf(type: string, ranges: readonly Range[]): { quality: number; place: number } {
  for (const wanted of [type, type.replace(/\/.*/, '/*'), '*/*']) {
    const place = ranges.findIndex(({ range }) => range === wanted);
    const found = ranges[place];
    // A wildcard says nothing about the order of the types that it matches.
    if (found !== undefined) return { quality: found.quality, place: wanted === type ? place : Infinity };
  }
  return { quality: 0, place: Infinity };
}

function best(types: readonly string[], ranges: readonly Range[]) {
  return types
    .map((type) => qualityOf(type, ranges))
    .reduce((a, b) => (b.quality > a.quality || (b.quality === a.quality && b.place < a.place) ? b : a));
}

/**
 * Returns whether a request for an address that has a JSON document and a page prefers the document. If both are
 * equally welcome, the type that is named first wins, and `otherwise` decides if neither is named, as with `*\/*`.
 */
export function prefersDocument({ accept = '' }: IncomingHttpHeaders, otherwise: boolean): boolean {
  const ranges = readRanges(accept);
  const [document, page] = [best(documents, ranges), best(pages, ranges)];
  if (document.quality === 0) return false;
  if (document.quality !== page.quality) return document.quality > page.quality;
  if (document.place !== page.place) return document.place < page.place;
  return otherwise;
}
