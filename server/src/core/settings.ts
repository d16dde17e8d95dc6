import { DefaultSensitivity } from '@vitrine/contract/appearance';
import { sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { compileLater } from '../platform/http/compile-later.ts';
import type { Config } from './config.ts';

/** The installation's switches. They are stored in the database so that every process sees the same values. */
export interface Switches {
  publicMode: boolean;
  /** SESSION-11 `mature_content_allowed`; true unless configured. */
  matureAllowed: boolean;
}

type SettingKey =
  | 'public_mode'
  | 'mature_allowed'
  | 'site_name'
  | 'base_url'
  | 'default_sensitivity'
  | 'indexing'
  | 'fonts'
  | 'accents'
  | 'logo'
  | 'push_key'
  | 'texts'
  | 'scramble_key'
  | 'imported_scramble_keys'
  | 'secret_key'
  | 'former_secret_keys'
  | 'audit_retention_days'
  | 'search_language'
  | 'search_rewrite'
  | 'trash_retention_days'
  | 'mail'
  | 'quota_person_bytes'
  | 'quota_install_bytes'
  | 'versions_kept'
  | 'storage_count'
  | 'last_backup'
  | 'buckets'
  | 'previews'
  | 'downloads'
  | 'previews_paused'
  | 'federation_key'
  | 'federation_sensitive'
  | 'federation_key_grace_days'
  | 'activitypub'
  | 'accounts'
  | 'approvals'
  | 'reopen_on_change';

type SettingValue = string | boolean | number | null | Readonly<Record<string, unknown>>;

/** Returns the value of a setting, or null if it is not set. */
export async function readSetting(db: Database, key: SettingKey): Promise<unknown> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst();
  return row === undefined ? null : row.value;
}

/** Sets a setting or replaces its value. */
export async function writeSetting(db: Database, key: SettingKey, value: SettingValue): Promise<void> {
  const text = JSON.stringify(value);
  await db
    .insertInto('settings')
    .values({ key, value: text })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: text, updated_at: sql`now()` }))
    .execute();
}

/** Reads both switches in one statement. */
export async function readSwitches(db: Database): Promise<Switches> {
  const { rows } = await sql<{ public_mode: boolean; mature_allowed: boolean }>`
    select coalesce((select value = 'true' from settings where key = 'public_mode'), false) as public_mode,
      coalesce((select value = 'true' from settings where key = 'mature_allowed'), true) as mature_allowed
  `.execute(db);
  return { publicMode: rows[0]?.public_mode ?? false, matureAllowed: rows[0]?.mature_allowed ?? true };
}

/** Returns the display name of the installation; `Vitrine` unless configured. */
export async function readSiteName(db: Database): Promise<string> {
  const value = await readSetting(db, 'site_name');
  return typeof value === 'string' ? value : 'Vitrine';
}

const isDefaultSensitivity = compileLater(DefaultSensitivity);

/** Returns the sensitivity of new assets that specify none (ASSET-16); `posts` unless configured. */
async function readDefaultSensitivity(db: Database): Promise<DefaultSensitivity> {
  const value = await readSetting(db, 'default_sensitivity');
  return isDefaultSensitivity().Check(value) ? value : 'posts';
}

/** Returns the site configuration; the environment's address takes precedence over the stored one. */
export async function readSite({ db, config }: { db: Database; config: Pick<Config, 'baseUrl'> }) {
  const stored = await readSetting(db, 'base_url');
  return {
    site_name: await readSiteName(db),
    base_url: config.baseUrl ?? (typeof stored === 'string' ? stored : null),
    default_sensitivity: await readDefaultSensitivity(db),
    indexing: (await readSetting(db, 'indexing')) !== false,
  };
}
