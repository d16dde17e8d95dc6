import type { Deps } from '../../core/deps.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { DamagedObject, NoSuchObject } from '../../platform/storage/storage.ts';

/**
 * Reads an original of this size, or what is made of it. If only a peer has it, fetches it first and reads it again, with the
 * size that its peer may not have stated (FED-42). Throws as `read`, and a 503 if the peer does not send it.
 */
export async function withOriginal<T>(
  { originals }: Pick<Deps, 'originals'>,
  { hash, sizeBytes }: { hash: string; sizeBytes: number },
  read: (sizeBytes: number) => Promise<T>,
): Promise<T> {
  try {
    return await read(sizeBytes);
  } catch (error) {
    const isMissing = error instanceof NoSuchObject && error.key === originalKey(hash);
    // An unstated size becomes known with the bytes, which another request may have fetched by now.
    const isUnknown = error instanceof DamagedObject && sizeBytes === 0;
    const fetched = isMissing || isUnknown ? await originals.fetch(hash) : null;
    if (fetched === null) throw error;
    return read(fetched);
  }
}
