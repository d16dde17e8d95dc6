/** One file of an archive. */
interface Entry {
  readonly path: string;
  readonly bytes: number | undefined;
  /** RFC 3339. */
  readonly modified: string | undefined;
}

export interface Contents {
  readonly entries: readonly Entry[];
  /** True if the archive has more entries than were listed. */
  readonly isCut: boolean;
}

function entryOf(read: unknown): Entry[] {
  if (typeof read !== 'object' || read === null || !('path' in read) || typeof read.path !== 'string')
    return [];
  const bytes = 'size_bytes' in read && typeof read.size_bytes === 'number' ? read.size_bytes : undefined;
  const modified =
    'modified_at' in read && typeof read.modified_at === 'string' ? read.modified_at : undefined;
  return [{ path: read.path, bytes, modified }];
}

/** Parses `contents.json` of an archive; undefined if it has another shape. */
export function readContents(read: unknown): Contents | undefined {
  if (typeof read !== 'object' || read === null || !('entries' in read) || !Array.isArray(read.entries))
    return undefined;
  return { entries: read.entries.flatMap(entryOf), isCut: 'truncated' in read && read.truncated === true };
}
