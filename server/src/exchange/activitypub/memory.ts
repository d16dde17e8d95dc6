import type { KvKey, KvStore, KvStoreSetOptions } from '@fedify/fedify';
import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';

/** Lifetime of entries that do not set one, in days. */
const KEPT_DAYS = 30;

function secondsOf(options: KvStoreSetOptions | undefined): number {
  return options?.ttl?.total('second') ?? KEPT_DAYS * 24 * 3600;
}

/** The key-value store of the protocol library, in our database. */
export function openMemory(db: Database): KvStore {
  const set = async (key: KvKey, value: unknown, options?: KvStoreSetOptions) => {
    await db
      .insertInto('activitypub_memory')
      .values({
        key: JSON.stringify(key),
        value: JSON.stringify(value ?? null),
        expires_at: sql<string>`now() + make_interval(secs => ${secondsOf(options)})`,
      })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet((eb) => ({
          value: eb.ref('excluded.value'),
          expires_at: eb.ref('excluded.expires_at'),
        })),
      )
      .execute();
  };
  return {
    async get<T>(key: KvKey) {
      const row = await db
        .selectFrom('activitypub_memory')
        .select('value')
        .where('key', '=', JSON.stringify(key))
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<string>`now()`)]))
        .executeTakeFirst();
      // The protocol library writes every value that it reads, so the type is right.
      return row?.value as T | undefined;
    },
    set,
    async delete(key) {
      await db.deleteFrom('activitypub_memory').where('key', '=', JSON.stringify(key)).execute();
    },
    async *list(prefix) {
      const { rows } = await sql<{ key: string; value: unknown }>`select key, value from activitypub_memory
        where (expires_at is null or expires_at > now())
          and starts_with(key, ${prefix === undefined ? '[' : JSON.stringify(prefix).slice(0, -1)})`.execute(
        db,
      );
      // Keys are written by `set` only.
      for (const { key, value } of rows) yield { key: JSON.parse(key) as KvKey, value };
    },
  };
}

/** Removes expired entries. */
export async function forgetExpired(db: Database): Promise<void> {
  await db.deleteFrom('activitypub_memory').where('expires_at', '<', sql<string>`now()`).execute();
}
