import { sql } from 'kysely';
import type { Config } from '../config.ts';
import type { Database } from '../platform/database/pool.ts';

/** This library as seen on ActivityPub. */
export interface ActivityPubSite {
  /** The public address: scheme and host, without a trailing slash. */
  url: string;
  /** Host, and port if it is not the usual one: the second half of handles. */
  host: string;
  name: string;
}

/** The switch and its requirements; `site` is null unless all are met (AP-1). */
export interface ActivityPubState {
  enabled: boolean;
  publicMode: boolean;
  /** The public address; null if none is set. */
  address: string | null;
  site: ActivityPubSite | null;
}

/** Reads whether ActivityPub is on: the switch, public mode and a public address without a path are needed. */
export async function readActivityPub(
  db: Database,
  config: Pick<Config, 'baseUrl'>,
): Promise<ActivityPubState> {
  const { rows } = await sql<{ enabled: boolean; public: boolean; name: string; base_url: string | null }>`
    select coalesce(bool_or(value = 'true') filter (where key = 'activitypub'), false) as enabled,
      coalesce(bool_or(value = 'true') filter (where key = 'public_mode'), false) as public,
      coalesce(max(value #>> '{}') filter (where key = 'site_name'), 'Vitrine') as name,
      max(value #>> '{}') filter (where key = 'base_url') as base_url
    from settings where key in ('activitypub', 'public_mode', 'site_name', 'base_url')`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate returned no row');
  const address = config.baseUrl ?? row.base_url;
  const { enabled, public: publicMode, name } = row;
  const url = address !== null && URL.canParse(address) ? new URL(address) : null;
  const serves = enabled && publicMode && url !== null && url.pathname === '/';
  return {
    enabled,
    publicMode,
    address,
    site: serves ? { url: url.origin, host: url.host, name } : null,
  };
}
