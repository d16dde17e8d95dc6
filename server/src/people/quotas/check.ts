import type { UserQuota } from '@vitrine/contract/quotas';
import { type RawBuilder, sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeKeyedLock } from '../../platform/database/take-lock.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** Pending uploads; those of unknown size count with the bytes received. */
const waiting = sql`coalesce(sum(coalesce(up.size_bytes, up.received_bytes)), 0)`;

/** Returns a quota of the settings in bytes, or null. */
function setting(key: 'quota_person_bytes' | 'quota_install_bytes'): RawBuilder<number | null> {
  return sql`(select nullif(value #>> '{}', '')::bigint from settings where key = ${key})`;
}

/** Returns what an account has stored and may store; null for a deleted account. Bytes of several assets count once. */
export async function readUserQuota(db: Database, userRef: number): Promise<UserQuota | null> {
  const { rows } = await sql<UserQuota>`
    select u.quota_bytes as own_bytes, coalesce(u.quota_bytes, ${setting('quota_person_bytes')}) as limit_bytes,
      ((select coalesce(sum(f.size_bytes), 0) from (
          select a.file_hash from assets a where a.owner_user_ref = u.ref and ${liveAsset}
          union select v.file_hash from assets a join asset_versions v on v.asset_id = a.id
          where a.owner_user_ref = u.ref and ${liveAsset}
          union select a.film_hash from assets a
          where a.owner_user_ref = u.ref and ${liveAsset} and a.film_hash is not null) o
        join files f on f.hash = o.file_hash where not f.in_place)
      + (select coalesce(sum(s.size_bytes), 0) from (
          select s.file_hash, min(s.size_bytes) as size_bytes from subtitles s join assets a on a.id = s.asset_id
          where a.owner_user_ref = u.ref and ${liveAsset} group by s.file_hash) s)
      + (select ${waiting} from uploads up
          where up.owner_user_ref = u.ref and up.used_at is null and up.expires_at > now()))::bigint as used_bytes
    from users u where u.ref = ${userRef}`.execute(db);
  return rows[0] ?? null;
}

/** What the whole library stores in originals, subtitles and waiting uploads, and may store. */
export async function readInstallQuota(
  db: Database,
): Promise<{ person_bytes: number | null; install_bytes: number | null; used_bytes: number }> {
  const { rows } = await sql<{
    person_bytes: number | null;
    install_bytes: number | null;
    used_bytes: number;
  }>`select ${setting('quota_person_bytes')} as person_bytes, ${setting('quota_install_bytes')} as install_bytes,
      ((select coalesce(sum(f.size_bytes), 0) from files f where not f.in_place)
      + (select coalesce(sum(s.size_bytes), 0) from (
          select file_hash, min(size_bytes) as size_bytes from subtitles group by file_hash) s)
      + (select ${waiting} from uploads up where up.used_at is null and up.expires_at > now()))::bigint as used_bytes`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the quotas cannot be read');
  return row;
}

/** Formats bytes in the units of the web app: 1.5 GB. */
function words(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** power).toFixed(1))} ${units[power]}`;
}

/**
 * Throws a 413 when an account or the library exceeds its quota, including what this transaction has written. Counts
 * nothing without a quota. `code` is the error for the account's quota.
 */
export async function checkQuota(
  tx: Tx,
  userRef: number,
  code: 'quota-exceeded' | 'owner-quota-exceeded' = 'quota-exceeded',
): Promise<void> {
  const { rows } = await sql<{ person: number | null; install: number | null }>`
    select coalesce(u.quota_bytes, ${setting('quota_person_bytes')}) as person,
      ${setting('quota_install_bytes')} as install
    from users u where u.ref = ${userRef}`.execute(tx);
  const { person, install } = rows[0] ?? { person: null, install: null };
  if (person !== null) {
    await takeKeyedLock(tx, 'quota', `person ${userRef}`);
    const used = (await readUserQuota(tx, userRef))?.used_bytes ?? 0;
    if (used > person) throw refuse(code, { quota: words(person) });
  }
  if (install !== null) {
    await takeKeyedLock(tx, 'quota', 'install');
    const { used_bytes } = await readInstallQuota(tx);
    if (used_bytes > install) {
      throw refuse('install-quota-exceeded', { quota: words(install) });
    }
  }
}
