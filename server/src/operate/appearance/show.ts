import {
  type AdminAppearance,
  type Appearance,
  getAdminAppearance,
  getAppearance,
  type LogoEntry,
} from '@vitrine/contract/appearance';
import { basePath } from '@vitrine/contract/operations';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readSetting, readSiteName, readSwitches } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { logoKey } from '../../platform/storage/object-key.ts';
import { readTexts } from '../admin/texts.ts';

const fontSlots = ['brand_font', 'display_font', 'body_font', 'mono_font'] as const;
type Fonts = Record<(typeof fontSlots)[number], string>;

/** Font ids by slot; an empty slot means the page's own font (APPEARANCE-2). */
export async function readFonts(db: Database): Promise<Fonts> {
  const stored = await readSetting(db, 'fonts');
  const known: Record<string, unknown> = typeof stored === 'object' && stored !== null ? { ...stored } : {};
  const font = (slot: keyof Fonts) => {
    const value = known[slot];
    return typeof value === 'string' ? value : '';
  };
  return {
    brand_font: font('brand_font'),
    display_font: font('display_font'),
    body_font: font('body_font'),
    mono_font: font('mono_font'),
  };
}

/** The chosen accent colours by theme; none for the default (APPEARANCE-10). */
type Accents = Pick<Appearance, 'accent_light' | 'accent_dark'>;

export async function readAccents(db: Database): Promise<Accents> {
  const stored = await readSetting(db, 'accents');
  const known: Record<string, unknown> = typeof stored === 'object' && stored !== null ? { ...stored } : {};
  const chosen = (['accent_light', 'accent_dark'] as const).map((name) => [name, known[name]] as const);
  return Object.fromEntries(chosen.filter(([, colour]) => typeof colour === 'string' && colour !== ''));
}

/** Hash of the current logo, or null for the default. */
export async function readActiveLogo(db: Database): Promise<string | null> {
  const value = await readSetting(db, 'logo');
  return typeof value === 'string' ? value : null;
}

/** The address names the content, so it can be cached permanently. */
function logoUrl(hash: string): string {
  return `${basePath}/appearance/logo?v=${hash}`;
}

/** Returns what everyone may see of the appearance (APPEARANCE-1). */
export async function readPublic({
  db,
  config,
  encoder,
}: Pick<Deps, 'db' | 'config' | 'encoder'>): Promise<Appearance> {
  const { publicMode } = await readSwitches(db);
  const active = await readActiveLogo(db);
  const logo =
    active === null
      ? undefined
      : await db.selectFrom('logos').selectAll().where('hash', '=', active).executeTakeFirst();
  const texts = await readTexts(db);
  return {
    ...(await readFonts(db)),
    ...(await readAccents(db)),
    site_name: await readSiteName(db),
    demo_mode: config.demo,
    public_mode_enabled: publicMode,
    visual_search_enabled: (encoder?.info ?? null) !== null,
    ...(logo === undefined
      ? {}
      : { logo_url: logoUrl(logo.hash), logo_width: logo.width, logo_height: logo.height }),
    ...(Object.keys(texts).length === 0 ? {} : { texts }),
  };
}

/** APPEARANCE-3: at most five, most recently used first; checks whether the bytes are readable. */
async function readHistory({ db, storage }: Pick<Deps, 'db' | 'storage'>): Promise<LogoEntry[]> {
  const active = await readActiveLogo(db);
  const logos = await db
    .selectFrom('logos')
    .selectAll()
    .orderBy('last_used_at', 'desc')
    .orderBy('hash')
    .limit(5)
    .execute();
  return Promise.all(
    logos.map(async ({ hash, content_type, width, height, size_bytes }) => ({
      hash,
      url: logoUrl(hash),
      content_type,
      width,
      height,
      size_bytes,
      available: (await storage.head(logoKey(hash))) !== null,
      active: hash === active,
    })),
  );
}

/** The administrators' view: the public one and the recent logos. */
export async function readAdminAppearance(
  deps: Pick<Deps, 'db' | 'config' | 'storage' | 'encoder'>,
): Promise<AdminAppearance> {
  const { db, config, storage, encoder } = deps;
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => ({
      ...(await readPublic({ db: tx, config, encoder })),
      logo_history: await readHistory({ db: tx, storage }),
    }));
}

/** APPEARANCE-1, the public boot payload; empty font slots mean the page's own fonts. */
export const showAppearance = handle(getAppearance, async (deps) => ({
  status: 200,
  body: await readPublic(deps),
}));

export const showAdminAppearance = handle(getAdminAppearance, async (deps) => ({
  status: 200,
  body: await readAdminAppearance(deps),
}));
