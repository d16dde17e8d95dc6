import { readPublicSite } from '../../content/public/site.ts';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../platform/database/pool.ts';

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
  const { activityPub: enabled, publicMode, name, baseUrl: address } = await readPublicSite(db, config);
  const url = address !== null && URL.canParse(address) ? new URL(address) : null;
  const serves = enabled && publicMode && url !== null && url.pathname === '/';
  return {
    enabled,
    publicMode,
    address,
    site: serves ? { url: url.origin, host: url.host, name } : null,
  };
}
