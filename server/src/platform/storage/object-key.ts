/** Where an original lies: by its SHA-256 in hex, so that nothing is stored twice. */
export function originalKey(hash: string): string {
  return `originals/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
}

/** Where a rendition lies: beside the others that were made from the same bytes. */
export function renditionKey(hash: string, name: string): string {
  return `renditions/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}/${name}`;
}

/** Where all renditions of these bytes lie. */
export function renditionsPrefix(hash: string): string {
  return renditionKey(hash, '').slice(0, -1);
}

/** Where a logo lies. */
export function logoKey(hash: string): string {
  return `logos/${hash}`;
}

/** Where subtitles lie: by the SHA-256 of the stored file. */
export function subtitlesKey(hash: string): string {
  return `subtitles/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
}

/** The hash an object key of ours speaks of, or null for any other name. */
export function hashOfKey(key: string): string | null {
  return (
    /^(?:originals|renditions|subtitles)\/[0-9a-f]{2}\/[0-9a-f]{2}\/([0-9a-f]{64})(?:\/|$)/.exec(key)?.[1] ??
    null
  );
}
