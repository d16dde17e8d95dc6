import { sql } from 'kysely';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../platform/database/pool.ts';

/** The settings that decide what the library publishes to the web. */
export interface PublicSite {
  publicMode: boolean;
  /** Whether search engines may list public pages. */
  indexing: boolean;
  /** Whether accounts may be followed over ActivityPub, if its other requirements are met. */
  activityPub: boolean;
  name: string;
  /** The public address without a trailing slash; null if none is configured. */
  baseUrl: string | null;
}

/** Reads the settings in one statement. The address in the environment takes precedence over the stored one. */
export async function readPublicSite(db: Database, config: Pick<Config, 'baseUrl'>): Promise<PublicSite> {
  const { rows } = await sql<{
    public: boolean;
    indexing: boolean;
    activitypub: boolean;
    name: string;
    base_url: string | null;
  }>`
    select coalesce(bool_or(value = 'true') filter (where key = 'public_mode'), false) as public,
      coalesce(bool_and(value = 'true') filter (where key = 'indexing'), true) as indexing,
      coalesce(bool_or(value = 'true') filter (where key = 'activitypub'), false) as activitypub,
      coalesce(max(value #>> '{}') filter (where key = 'site_name'), 'Vitrine') as name,
      max(value #>> '{}') filter (where key = 'base_url') as base_url
    from settings where key in ('public_mode', 'indexing', 'activitypub', 'site_name', 'base_url')`.execute(
    db,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('an aggregate returned no row');
  return {
    publicMode: row.public,
    indexing: row.indexing,
    activityPub: row.activitypub,
    name: row.name,
    baseUrl: config.baseUrl ?? row.base_url,
  };
}
