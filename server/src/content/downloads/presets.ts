import {
  type DownloadPreset,
  DownloadPresets,
  getDownloadSettings,
  listDownloads,
  setDownloadSettings,
} from '@vitrine/contract/downloads';
import type { Caller } from '../../access/caller.ts';
import { hasPreset } from '../../access/downloads.ts';
import { handle } from '../../core/handle.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';

const isStored = compileLater(DownloadPresets);

/** The presets of a library that has not configured any. */
const initial: readonly DownloadPreset[] = [
  { key: 'jpeg-2000', label: 'JPEG, 2,000 pixels', format: 'jpeg', max_dim: 2000, colour: 'srgb' },
  { key: 'video', label: 'Video for the web', format: 'mp4' },
];

async function readPresets(db: Database): Promise<readonly DownloadPreset[]> {
  const stored = await readSetting(db, 'downloads');
  return isStored().Check(stored) ? stored.presets : initial;
}

/** Returns the preset with this key; the same 404 for one that is unknown and one that the caller does not have. */
export async function findPreset(db: Database, caller: Caller, key: string): Promise<DownloadPreset> {
  const preset = (await readPresets(db)).find((known) => known.key === key);
  if (preset === undefined || !hasPreset(caller, preset)) throw notFound();
  return preset;
}

/** Returns the presets with these keys that the caller has, in the order of the library. */
export async function findPresets(
  db: Database,
  caller: Caller,
  keys: readonly string[],
): Promise<DownloadPreset[]> {
  return (await readPresets(db)).filter((preset) => keys.includes(preset.key) && hasPreset(caller, preset));
}

export const show = handle(getDownloadSettings, async ({ db }) => ({
  status: 200,
  body: { presets: [...(await readPresets(db))] },
}));

export const change = handle(setDownloadSettings, async ({ db }, { caller, body }) => {
  const keys = body.presets.map(({ key }) => key);
  const twice = keys.find((key, place) => keys.indexOf(key) !== place);
  if (twice !== undefined) throw refuse('preset-repeated', { key: twice });
  await db.transaction().execute(async (tx) => {
    await writeSetting(tx, 'downloads', { presets: body.presets });
    await recordEvent(tx, caller, { event: 'system.downloads.changed', metadata: { keys: keys.join(', ') } });
  });
  return { status: 200, body };
});

export const list = handle(listDownloads, async ({ db }, { caller }) => ({
  status: 200,
  body: { presets: (await readPresets(db)).filter((preset) => hasPreset(caller, preset)) },
}));
