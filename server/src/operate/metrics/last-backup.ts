import { readSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';

/** Returns when the snapshot of the last complete backup was taken, in milliseconds since 1970; null: never. */
export async function readLastBackup(db: Database): Promise<number | null> {
  const value = await readSetting(db, 'last_backup');
  const at =
    typeof value === 'object' && value !== null && 'at' in value ? Date.parse(String(value.at)) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
