import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Conversions, Convertible, StoredRendition } from '../../core/deps.ts';
import type { Conversion } from '../../media/convert.ts';
import type { Decoders } from '../../media/decoding/decoders.ts';
import { DecodingStopped } from '../../media/decoding/process.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { originalKey, renditionKey } from '../../platform/storage/object-key.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { lockFile } from '../assets/insert.ts';

/** Changes when copies are made otherwise, so that older ones are not served. */
const STYLE = 1;

/** The room for copies. The least recently used are removed beyond it, and all after a day without use. */
const mostConvertedBytes = 10 * 1024 ** 3;

/**
 * Copies of pictures in other forms, made on the first download and stored beside the renditions. No file's row names
 * them, so the nightly sweep removes those older than a day and backups leave them out; they are made again on request.
 */
export function openConversions(
  { db, storage, decoders }: { db: Database; storage: Storage; decoders: Decoders },
  mostBytes: number = mostConvertedBytes,
): Conversions {
  const underWay = new Map<string, Promise<StoredRendition>>();

  const kept = async (object: string, type: string): Promise<StoredRendition | null> => {
    const head = await storage.head(object);
    return head === null ? null : { object, type, bytes: head.sizeBytes };
  };

  /** Removes the least recently used copies beyond the limit. */
  const evict = async (except: string) => {
    const { rows } = await sql<{ object: string }>`
      delete from converted_files where object in (
        select object from (select object, sum(size_bytes) over (order by used_at desc, object) as total
          from converted_files) used
        where total > ${mostBytes} and object <> ${except})
      returning object`.execute(db);
    for (const { object } of rows) await storage.delete(object);
  };

  const make = async (
    { hash, mime }: Convertible,
    form: Conversion,
    { object, type }: { object: string; type: string },
  ): Promise<StoredRendition> => {
    const outDir = join(storage.incomingDir, `copy-${randomUUID()}`);
    await mkdir(outDir);
    try {
      const fault = await storage
        .withLocalFile(originalKey(hash), (path) =>
          decoders.run('convert', hash, 'convert', { path, mime, form, outDir }),
        )
        .catch((error: unknown) => {
          if (error instanceof DecodingStopped) return error.sentence;
          throw error;
        });
      if (fault !== null) throw refuse('preset-not-for-kind', { format: form.format, reason: fault });
      const path = join(outDir, 'copy');
      const { size } = await stat(path);
      await storage.stage(path, object);
      // Takes the lock of releasing the bytes, so that no copy outlives its bytes.
      await db.transaction().execute(async (tx) => {
        await lockFile(tx, hash);
        const file = await tx.selectFrom('files').select('hash').where('hash', '=', hash).executeTakeFirst();
        if (file === undefined) throw notFound();
        await storage.adopt(path, object);
        await sql`insert into converted_files (object, hash, size_bytes) values (${object}, ${hash}, ${size})
          on conflict (object) do update set size_bytes = excluded.size_bytes, used_at = now()`.execute(tx);
      });
      await evict(object);
      return { object, type, bytes: size };
    } finally {
      await rm(outDir, { recursive: true, force: true });
    }
  };

  return {
    async find(source, form) {
      const { extension, type } = typeOf(source, form);
      const named = createHash('sha256')
        .update(JSON.stringify([STYLE, form]))
        .digest('hex');
      const object = renditionKey(source.hash, `copy-${named}.${extension}`);
      const known = await kept(object, type);
      if (known !== null) {
        await sql`update converted_files set used_at = now()
          where object = ${object} and used_at < now() - interval '1 minute'`.execute(db);
        return known;
      }
      const making = underWay.get(object) ?? make(source, form, { object, type });
      underWay.set(object, making);
      try {
        return await making;
      } finally {
        underWay.delete(object);
      }
    },
  };
}

/** Returns the extension and media type of a copy. */
function typeOf({ mime, extension }: Convertible, { format }: Conversion) {
  if (format === 'original') return { extension: extension ?? 'bin', type: mime };
  return { extension: extensionOfFormat(format), type: `image/${format}` };
}

/** Returns the usual extension of a format of pictures. */
export function extensionOfFormat(format: Exclude<Conversion['format'], 'original'>): string {
  return format === 'jpeg' ? 'jpg' : format;
}
