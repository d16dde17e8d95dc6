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
    await sql`insert into activitypub_memory (key, value, expires_at)
      values (${JSON.stringify(key)}, ${JSON.stringify(value ?? null)}::jsonb,
        now() + make_interval(secs => ${secondsOf(options)}))
      on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`.execute(db);
  };
  return {
    async get<T>(key: KvKey) {
      const { rows } = await sql<{ value: unknown }>`select value from activitypub_memory
        where key = ${JSON.stringify(key)} and (expires_at is null or expires_at > now())`.execute(db);
      // The protocol library writes every value that it reads, so the type is right.
      return rows[0]?.value as T | undefined;
    },
    set,
    async delete(key) {
      await sql`delete from activitypub_memory where key = ${JSON.stringify(key)}`.execute(db);
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
  await sql`delete from activitypub_memory where expires_at < now()`.execute(db);
}
