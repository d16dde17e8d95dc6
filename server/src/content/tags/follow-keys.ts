import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import { isUniqueViolation } from '../../platform/database/unavailable.ts';

/** Different tags per transaction. */
const BATCH = 5000;

/**
 * Gives followed tags the key by which they are compared (NAME-4). Of several spellings that an account follows, the
 * first stays. Repeating it changes nothing.
 */
export async function keepFollowKeys(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ tag: string }>`select distinct tag from tag_follows where key is null
      limit ${BATCH}`.execute(db);
    if (rows.length === 0) return;
    const tags = rows.map(({ tag }) => tag);
    await sql`with found as (
        select f.user_ref, f.tag, n.key,
          row_number() over (partition by f.user_ref, n.key order by f.created_at, f.tag) > 1 or exists (
            select from tag_follows o where o.user_ref = f.user_ref and o.key = n.key) as is_repeated
        from tag_follows f
          join unnest(${tags}::text[], ${tags.map(foldName)}::text[]) as n (tag, key) on n.tag = f.tag
        where f.key is null
      ), gone as (
        delete from tag_follows f using found
        where f.user_ref = found.user_ref and f.tag = found.tag and found.is_repeated
      )
      update tag_follows f set key = found.key from found
      where f.user_ref = found.user_ref and f.tag = found.tag and not found.is_repeated`
      .execute(db)
      .catch((error: unknown) => {
        // The account has just followed the same tag: the batch is done again.
        if (!isUniqueViolation(error)) throw error;
      });
  }
}
