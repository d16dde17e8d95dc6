import { type RawBuilder, sql } from 'kysely';

/**
 * Deleted things are in the trash until they are restored or purged, and appear nowhere else. Both predicates refer to
 * a deletable row with the given alias; each noun's file names its own.
 */
type Predicate = RawBuilder<boolean>;

/** Not deleted. */
export function live(alias: string): Predicate {
  return sql`(${sql.ref(alias)}.deleted_at is null)`;
}

/** Not yet past its `expires_at`. */
export function unexpired(alias: string): Predicate {
  const at = sql.ref(`${alias}.expires_at`);
  return sql`(${at} is null or ${at} > now())`;
}

/** USER-10, USER-18: accounts that may sign in and act: active, and not expired. */
export function activeAccount(alias: string): Predicate {
  return sql`(${sql.ref(alias)}.status = 'active' and ${unexpired(alias)})`;
}

/** In the trash. */
export function trashed(alias: string): Predicate {
  return sql`(${sql.ref(alias)}.deleted_at is not null)`;
}

/**
 * Not expired: mirrored content is visible until the last share of its peer ends, without waiting for the job that
 * removes it (FED-33).
 */
export function lasting(alias: string): Predicate {
  const until = sql.ref(`${alias}.visible_until`);
  return sql`(${until} is null or ${until} > now())`;
}
