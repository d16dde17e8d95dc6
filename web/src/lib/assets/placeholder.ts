import { thumbHashToDataURL } from 'thumbhash';

/** Renders a base64 thumbhash as a data address; undefined without one or if it is invalid. */
export type DrawPlaceholder = (thumbhash: string | null) => string | undefined;

function draw(thumbhash: string): string | undefined {
  try {
    return thumbHashToDataURL(Uint8Array.from(atob(thumbhash), (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** Creates a renderer that caches its latest `limit` placeholders (about 5 kB each). */
export function createPlaceholders(limit = 600): DrawPlaceholder {
  const drawn = new Map<string, string | undefined>();
  return (thumbhash) => {
    if (thumbhash === null || thumbhash === '') return undefined;
    if (drawn.has(thumbhash)) return drawn.get(thumbhash);
    const address = draw(thumbhash);
    if (drawn.size >= limit) {
      const oldest = drawn.keys().next();
      if (!oldest.done) drawn.delete(oldest.value);
    }
    drawn.set(thumbhash, address);
    return address;
  };
}
