import { getAppearance } from '@vitrine/contract/system';
import { readSiteName, readSwitches } from '../admin/settings.ts';
import { handle } from '../platform/http/bind.ts';

/** spec 2.10, the public boot payload; empty font slots mean the page's own fonts. */
export const showAppearance = handle(getAppearance, async ({ db }) => ({
  status: 200,
  body: {
    brand_font: '',
    display_font: '',
    body_font: '',
    mono_font: '',
    site_name: await readSiteName(db),
    demo_mode: false,
    public_mode_enabled: (await readSwitches(db)).publicMode,
    visual_search_enabled: false,
  },
}));
