import {
  DEFAULT_QUALITY,
  getPreviewSettings,
  getPreviews,
  type PreviewSettings,
  pausePreviewRendering,
  setPreviewSettings,
} from '@vitrine/contract/previews';
import { renditionNameOf } from '@vitrine/contract/renditions';
import { handle } from '../../../core/handle.ts';
import { readSetting, writeSetting } from '../../../core/settings.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { readLadder, writeLadder } from './ladder.ts';
import { countRerendered, enqueueRerender } from './rerender.ts';

/** Keys that pages, feeds and avatars use (MEDIA-23). */
const neededKeys = ['col', 'preview'] as const;

async function readSettings(db: Database): Promise<PreviewSettings> {
  const { rungs } = await readLadder(db);
  const paused = (await readSetting(db, 'previews_paused')) === true;
  const { waiting, total } = await countRerendered(db);
  const state = waiting === 0 ? 'done' : paused ? 'paused' : 'running';
  return {
    variants: rungs.map(({ maxDim, ...rung }) => ({ ...rung, max_dim: maxDim })),
    rendering: { state, waiting, total },
  };
}

/** Returns the configured preview ladder (MEDIA-2). */
export const showLadder = handle(getPreviews, async ({ ladder }) => ({
  status: 200,
  body: { variants: ladder.map(({ key, fit, maxDim, format }) => ({ key, fit, max_dim: maxDim, format })) },
}));

export const show = handle(getPreviewSettings, async ({ db }) => ({
  status: 200,
  body: await readSettings(db),
}));

/** A new ladder applies to new files at once, and to stored ones when the background job reaches them. */
export const change = handle(setPreviewSettings, async ({ db }, { caller, body }) => {
  const keys = body.variants.map(({ key }) => key);
  const twice = keys.find((key, place) => keys.indexOf(key) !== place);
  if (twice !== undefined) throw refuse('variant-repeated', { key: twice });
  const taken = keys.find((key) => renditionNameOf(key) !== null);
  if (taken !== undefined) throw refuse('variant-key-taken', { key: taken });
  const missing = neededKeys.find((key) => !keys.includes(key));
  if (missing !== undefined) throw refuse('variant-key-required', { key: missing });
  await db.transaction().execute(async (tx) => {
    await writeLadder(
      tx,
      body.variants.map(({ max_dim, quality = DEFAULT_QUALITY, ...rung }) => ({
        ...rung,
        quality,
        maxDim: max_dim,
      })),
    );
    await enqueueRerender(tx);
    await recordEvent(tx, caller, { event: 'system.previews.changed', metadata: { keys: keys.join(', ') } });
  });
  return { status: 200, body: await readSettings(db) };
});

export const pause = handle(pausePreviewRendering, async ({ db }, { caller, body }) => {
  await db.transaction().execute(async (tx) => {
    await writeSetting(tx, 'previews_paused', body.paused);
    if (!body.paused) await enqueueRerender(tx);
    await recordEvent(tx, caller, { event: 'system.previews.paused', metadata: { paused: body.paused } });
  });
  return { status: 200, body: await readSettings(db) };
});
