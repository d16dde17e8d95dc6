import type pg from 'pg';

/**
 * Returns settings under which PostgreSQL shows the connection as Vitrine's, with its purpose, in `pg_stat_activity` and
 * its log. A name in the address or in PGAPPNAME takes precedence.
 */
export function named<S extends pg.ClientConfig>(settings: S, purpose?: string): S {
  const name = purpose === undefined ? 'vitrine' : `vitrine ${purpose}`;
  return { ...settings, fallback_application_name: name };
}
