import type { CasRef } from '../protocol/addresses.ts';

/** A fetched rendition, as in `files.renditions`. */
export interface MirroredRendition {
  bytes: number;
  /** Of its bytes; absent if the peer has not named it. */
  sha256?: string;
}

/** The original of a rendition: its hash, and its size, which is 0 if it is not known yet. */
export interface NamedOriginal {
  hash: string;
  size: number;
}

/** Types of renditions that are mirrored: those that browsers display without executing content. */
const shownTypes =
  /^(?:image\/(?:webp|avif|jpeg|png|gif)|video\/(?:mp4|webm|mp2t)|audio\/(?:mp4|mpeg|ogg|webm|wav)|text\/(?:vtt|plain)|application\/(?:vnd\.apple\.mpegurl|json))$/;

/** Returns whether renditions of this type are mirrored. */
export function isShown(contentType: string): boolean {
  return shownTypes.test(contentType);
}

/**
 * Returns the hash of a rendition's own bytes; null if the peer named only the original. Older peers did so, and stated
 * the size of the rendition with it (FED-96).
 */
export function ownHash({ hash, size }: CasRef, original: NamedOriginal): string | null {
  return hash !== original.hash || size === null || size === original.size ? hash : null;
}

/** Returns whether a rendition is here as the peer announces it. */
export function isMirrored(
  here: MirroredRendition | undefined,
  announced: CasRef,
  original: NamedOriginal,
): boolean {
  if (here === undefined) return false;
  const hash = ownHash(announced, original);
  return hash === null ? here.bytes === announced.size : here.sha256 === hash;
}
