import { accentContrast, LEAST_CONTRAST, type ThemeName } from '@vitrine/contract/accents';
import { updateAppearance } from '@vitrine/contract/appearance';
import type { BodyOf } from '@vitrine/contract/operation';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { lockLogos } from './logo.ts';
import { readAccents, readAdminAppearance, readFonts } from './show.ts';

type Choice = BodyOf<typeof updateAppearance>;

/** APPEARANCE-10: throws 422 for a colour in which texts could not be read on the pages of its theme. */
function checkContrast(theme: ThemeName, colour: string | null | undefined): void {
  if (!colour) return;
  const contrast = accentContrast(theme, colour);
  if (contrast >= LEAST_CONTRAST) return;
  // Rounded down, so that 4.49 is not shown as 4.5.
  const shown = Math.floor(contrast * 100) / 100;
  throw refuse('accent-contrast-too-low', {
    property: `accent_${theme}`,
    contrast: shown,
    min: LEAST_CONTRAST,
  });
}

async function chooseFonts(tx: Tx, caller: SignedIn, body: Choice): Promise<void> {
  const before = await readFonts(tx);
  const fonts = {
    brand_font: body.brand_font ?? before.brand_font,
    display_font: body.display_font ?? before.display_font,
    body_font: body.body_font ?? before.body_font,
    mono_font: body.mono_font ?? before.mono_font,
  };
  await writeSetting(tx, 'fonts', fonts);
  await recordEvent(tx, caller, { event: 'appearance.fonts.changed', metadata: fonts });
}

async function chooseAccents(tx: Tx, caller: SignedIn, body: Choice): Promise<void> {
  const before = await readAccents(tx);
  const accents = {
    accent_light: (body.accent_light ?? before.accent_light ?? '').toLowerCase(),
    accent_dark: (body.accent_dark ?? before.accent_dark ?? '').toLowerCase(),
  };
  await writeSetting(tx, 'accents', accents);
  await recordEvent(tx, caller, { event: 'appearance.accents.changed', metadata: accents });
}

/** Chooses fonts and accent colours; an empty value returns to the default (APPEARANCE-2, APPEARANCE-10). */
export const choose = handle(updateAppearance, async (deps, { caller, body }) => {
  const { accent_light: light, accent_dark: dark } = body;
  checkContrast('light', light);
  checkContrast('dark', dark);
  const choosesAccents = light != null || dark != null;
  await deps.db.transaction().execute(async (tx) => {
    await lockLogos(tx);
    if (choosesAccents) await chooseAccents(tx, caller, body);
    const choosesFonts = Object.keys(body).some((name) => name.endsWith('_font'));
    if (choosesFonts || !choosesAccents) await chooseFonts(tx, caller, body);
  });
  return { status: 200, body: await readAdminAppearance(deps) };
});
