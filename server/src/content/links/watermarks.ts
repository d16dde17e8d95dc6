import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Drawable, StoredRendition, Watermarks } from '../../core/deps.ts';
import type { Decoders } from '../../media/decoding/decoders.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { renditionKey } from '../../platform/storage/object-key.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { lockFile } from '../assets/insert.ts';

/** Changes when the drawing changes, so that older watermarks are not served. */
const STYLE = 1;

/**
 * Watermarked renditions, stored beside the plain ones and named by their text, so that links with the same text share
 * them. They are removed with the bytes; no row names them, so the nightly sweep removes those older than a day, and
 * they are created again on request.
 */
export function openWatermarks({
  db,
  storage,
  decoders,
}: {
  db: Database;
  storage: Storage;
  decoders: Decoders;
}): Watermarks {
  const underWay = new Map<string, Promise<StoredRendition>>();

  const kept = async (object: string): Promise<StoredRendition | null> => {
    const head = await storage.head(object);
    return head === null ? null : { object, type: 'image/webp', bytes: head.sizeBytes };
  };

  const draw = async (
    { hash, object: plain, bytes }: Drawable,
    text: string,
    object: string,
  ): Promise<StoredRendition> => {
    const path = join(storage.incomingDir, `watermark-${randomUUID()}`);
    // Throws if the rendition is missing or damaged; a decoder could not tell.
    (await storage.get(plain, bytes)).destroy();
    try {
      // One at a time per text, so that a large archive does not block visitors of other links.
      await storage.withLocalFile(plain, (from) =>
        decoders.run('watermark', text, 'watermark', { path: from, text, to: path }),
      );
      await storage.stage(path, object);
      // Takes the lock of releasing the bytes, so that no watermark outlives its bytes.
      await db.transaction().execute(async (tx) => {
        await lockFile(tx, hash);
        const file = await tx.selectFrom('files').select('hash').where('hash', '=', hash).executeTakeFirst();
        if (file === undefined) throw notFound();
        await storage.adopt(path, object);
      });
      const made = await kept(object);
      if (made === null) throw notFound();
      return made;
    } finally {
      await rm(path, { force: true });
    }
  };

  return {
    async find(source, text) {
      const named = createHash('sha256').update(`${STYLE} ${source.object} ${text}`).digest('hex');
      const object = renditionKey(source.hash, `marked-${named}.webp`);
      const known = await kept(object);
      if (known !== null) return known;
      const drawing = underWay.get(object) ?? draw(source, text, object);
      underWay.set(object, drawing);
      try {
        return await drawing;
      } finally {
        underWay.delete(object);
      }
    },
  };
}
