/** The first parts of all keys. */
export const objectFolders = ['originals', 'renditions', 'subtitles', 'logos', 'exports'] as const;

/** The key of an original: its SHA-256 in hex, so that identical bytes are stored once. */
export function originalKey(hash: string): string {
  return `originals/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
}

/** The key of a rendition, beside the others made from the same bytes. */
export function renditionKey(hash: string, name: string): string {
  return `renditions/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}/${name}`;
}

/** The prefix of all renditions of these bytes. */
export function renditionsPrefix(hash: string): string {
  return renditionKey(hash, '').slice(0, -1);
}

/** The key of a logo. */
export function logoKey(hash: string): string {
  return `logos/${hash}`;
}

/** The key of subtitles: the SHA-256 of the stored file. */
export function subtitlesKey(hash: string): string {
  return `subtitles/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
}

/** The key of the export of an account, by the id of the export. */
export function exportKey(id: string): string {
  return `exports/${id}`;
}

/** Returns the id in the key of an export, or null for any other key. */
export function idOfExport(key: string): string | null {
  return /^exports\/([0-9a-f-]{36})$/.exec(key)?.[1] ?? null;
}

/** Returns the hash in the key of a logo, or null for any other key. */
export function hashOfLogo(key: string): string | null {
  return /^logos\/([0-9a-f]{64})$/.exec(key)?.[1] ?? null;
}

/** Returns the hash in an object key of ours, or null for any other name. */
export function hashOfKey(key: string): string | null {
  return (
    /^(?:originals|renditions|subtitles)\/[0-9a-f]{2}\/[0-9a-f]{2}\/([0-9a-f]{64})(?:\/|$)/.exec(key)?.[1] ??
    null
  );
}
