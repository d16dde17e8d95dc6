import { beforeEach, describe, expect, test } from 'vitest';
import { auditEventsDuring } from '../support/audit.ts';
import { openLibrary } from '../support/library.ts';
import { bearer } from '../support/people.ts';
import { forgetLogos, newLogo, newLogos, useBytes, useInTurn } from './logos.ts';

const slots = ['brand_font', 'display_font', 'body_font', 'mono_font'] as const;
const noFonts = { brand_font: '', display_font: '', body_font: '', mono_font: '' };

const library = await openLibrary();
const [root, mara] = await Promise.all([library.join('root', 'admin'), library.join('mara')]);

beforeEach(async () => {
  await library.setPublicMode(false);
  await library.deps.db.deleteFrom('settings').where('key', 'in', ['fonts', 'site_name']).execute();
  await forgetLogos(library);
});

async function fontsNow() {
  const shown = await library.anonymous().ok('getAppearance');
  return Object.fromEntries(slots.map((slot) => [slot, shown[slot]]));
}

// APPEARANCE-1
describe('GET /appearance, the public boot payload', () => {
  // APPEARANCE-1
  test('has the default fonts and mark on a new library', async () => {
    const shown = await library.anonymous().ok('getAppearance');
    expect(shown).toEqual({
      ...noFonts,
      site_name: 'Vitrine',
      demo_mode: false,
      public_mode_enabled: false,
      visual_search_enabled: false,
    });
    expect(Object.keys(shown).filter((key) => key.startsWith('logo'))).toEqual([]);
  });

  // APPEARANCE-1, APPEARANCE-3
  test('is the same for every caller, without the history', async () => {
    const [first, second] = [await newLogo(), await newLogo()];
    await useInTurn(root, [first, second]);
    await root.ok('updateAppearance', { body: { brand_font: 'playfair-display' } });
    for (const enabled of [true, false]) {
      await root.ok('setPublicMode', { body: { enabled } });
      const seen = await library.anonymous().send('/appearance');
      expect([seen.status, JSON.parse(seen.text).public_mode_enabled]).toEqual([200, enabled]);
      expect(seen.text).toContain(second.hash);
      expect(seen.text).not.toContain(first.hash);
      expect(seen.text).not.toContain('logo_history');
      for (const other of [mara, root, await bearer(library, mara, ['posts.write'])])
        expect((await other.send('/appearance')).text).toBe(seen.text);
    }
  });

  // SETTING-10
  test('says whether the library is a demo', async () => {
    library.deps.config.demo = true;
    try {
      expect((await library.anonymous().ok('getAppearance')).demo_mode).toBe(true);
      expect((await root.ok('getAdminAppearance')).demo_mode).toBe(true);
    } finally {
      library.deps.config.demo = false;
    }
    expect((await library.anonymous().ok('getAppearance')).demo_mode).toBe(false);
  });

  // APPEARANCE-1
  test('has the logo’s width and height only with a logo', async () => {
    const { bytes, hash } = await newLogo(120, 40);
    await useBytes(root, bytes);
    expect(await library.anonymous().ok('getAppearance')).toMatchObject({
      logo_url: expect.stringContaining(`v=${hash}`),
      logo_width: 120,
      logo_height: 40,
    });
    await root.ok('revertLogo');
    const without = await library.anonymous().ok('getAppearance');
    for (const key of ['logo_url', 'logo_width', 'logo_height']) expect(without).not.toHaveProperty(key);
  });
});

// APPEARANCE-3
test('GET /admin/system/appearance is the public payload with the history', async () => {
  const logos = await newLogos(2);
  for (const used of [[], logos]) {
    await useInTurn(root, used);
    const { logo_history, ...rest } = await root.ok('getAdminAppearance');
    expect(rest).toEqual(await library.anonymous().ok('getAppearance'));
    expect(logo_history.map(({ hash }) => hash)).toEqual(used.map(({ hash }) => hash).reverse());
  }
});

// APPEARANCE-2
describe('PATCH /admin/system/appearance chooses fonts', () => {
  // APPEARANCE-2
  test('for each slot separately; absent and null leave it, and the empty string resets it', async () => {
    const chosen: Record<string, string> = { ...noFonts };
    for (const slot of slots) {
      chosen[slot] = `font-of-${slot.replace('_font', '')}`;
      const answer = await root.ok('updateAppearance', { body: { [slot]: chosen[slot] } });
      expect(answer).toMatchObject(chosen);
      expect(await fontsNow()).toEqual(chosen);
    }
    for (const body of [{}, { brand_font: null }, { brand_font: null, mono_font: null }])
      expect(await root.ok('updateAppearance', { body })).toMatchObject(chosen);
    for (const slot of slots) {
      chosen[slot] = '';
      await root.ok('updateAppearance', { body: { [slot]: '' } });
      expect(await fontsNow()).toEqual(chosen);
    }
  });

  const malformed = [
    ' ',
    'Inter',
    'two words',
    'Arial, sans',
    '-inter',
    'inter-',
    'source--serif',
    'source_serif',
    'inter\n',
    '../inter',
    'inter;}',
    'url(https://elsewhere.example)',
    'grüße',
  ];
  test('by ids of lower-case letters, digits and hyphens; 400 names the slot of another', async () => {
    for (const id of ['a', '0', 'ibm-plex-sans', 'source-serif-4', 'a'.repeat(64)])
      expect((await root.ok('updateAppearance', { body: { display_font: id } })).display_font).toBe(id);
    const before = await fontsNow();
    for (const [at, id] of malformed.entries()) {
      const slot = slots[at % slots.length] ?? 'body_font';
      const body = { body_font: 'inter', [slot]: id };
      const { status, text } = await root.send('/admin/system/appearance', { method: 'PATCH', body });
      const error = expect.stringMatching(new RegExp(`^${slot} `));
      expect([id, status, JSON.parse(text)]).toEqual([id, 400, { error }]);
    }
    expect(await fontsNow()).toEqual(before);
  });

  // ADMIN-10
  test('keeps two concurrent choices of different slots', async () => {
    await Promise.all(slots.map((slot) => root.ok('updateAppearance', { body: { [slot]: 'lora' } })));
    expect(await fontsNow()).toEqual(Object.fromEntries(slots.map((slot) => [slot, 'lora'])));
  });

  test('is audited with the fonts', async () => {
    const change = () => root.ok('updateAppearance', { body: { body_font: 'lora' } });
    expect(await auditEventsDuring(library, change)).toMatchObject([
      {
        event: 'appearance.fonts.changed',
        actor_user_ref: root.ref,
        metadata: { ...noFonts, body_font: 'lora' },
      },
    ]);
  });
});
