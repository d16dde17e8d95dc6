import { type RawBuilder, sql } from 'kysely';

/**
 * What was deleted is in the trash until it is restored or purged, and stands nowhere else. Both speak of a row that
 * can be deleted, under the given alias; each noun's page names its own.
 */
type Predicate = RawBuilder<boolean>;

/** Not deleted. */
export function live(alias: string): Predicate {
  return sql`(${sql.ref(alias)}.deleted_at is null)`;
}

/** In the trash. */
export function trashed(alias: string): Predicate {
  return sql`(${sql.ref(alias)}.deleted_at is not null)`;
}
