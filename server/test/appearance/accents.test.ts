import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accentContrast, contrastOf, defaultAccents, themeBackgrounds } from '@vitrine/contract/accents';
import { beforeEach, expect, test } from 'vitest';
import { auditEventsDuring } from '../support/audit.ts';
import { openLibrary } from '../support/library.ts';

const library = await openLibrary();
const [root, mara] = await Promise.all([library.join('root', 'admin'), library.join('mara')]);

beforeEach(async () => {
  await library.deps.db.deleteFrom('settings').where('key', '=', 'accents').execute();
});

const shown = () => library.anonymous().ok('getAppearance');

// APPEARANCE-10
test('an administrator chooses a readable accent colour for each theme, and returns to the default', async () => {
  const accents = { accent_light: '#7A1FA2', accent_dark: '#F2A6FF' };
  const events = await auditEventsDuring(library, () => root.ok('updateAppearance', { body: accents }));
  const kept = { accent_light: '#7a1fa2', accent_dark: '#f2a6ff' };
  expect(events).toMatchObject([{ event: 'appearance.accents.changed', metadata: kept }]);
  expect(await shown()).toMatchObject(kept);
  expect(
    await root.ok('updateAppearance', { body: { accent_light: '', mono_font: 'fira-code' } }),
  ).toMatchObject({
    accent_dark: '#f2a6ff',
    mono_font: 'fira-code',
  });
  const after = await shown();
  expect(after).not.toHaveProperty('accent_light');
  expect(after.accent_dark).toBe('#f2a6ff');
});

// APPEARANCE-10
test('a colour with too little contrast is 422 and changes nothing', async () => {
  const { status, error } = await root.refused('updateAppearance', {
    body: { accent_light: '#ffd400', brand_font: 'lora' },
  });
  expect([status, error]).toEqual([422, 'accent_light has a contrast of 1.25 on the pages, and needs 4.5']);
  const dark = await root.refused('updateAppearance', { body: { accent_dark: '#0d6d69' } });
  expect(dark.status).toBe(422);
  expect(await shown()).not.toHaveProperty('accent_light');
  expect((await shown()).brand_font).toBe('');
  for (const accent_light of ['red', '#fff', '#12345g', '#1234567'])
    expect(await root.status('PATCH', '/admin/system/appearance', { accent_light })).toBe(400);
  expect((await mara.refused('updateAppearance', { body: { accent_light: '#7a1fa2' } })).status).toBe(403);
});

// APPEARANCE-10
test('the contrast is that of WCAG 2.2 with the colours of the pages', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrastOf('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  const css = readFileSync(join(import.meta.dirname, '../../../web/src/app.css'), 'utf8');
  const pairOf = (name: string) =>
    css.match(new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`))?.slice(1);
  const pairs = ['canvas', 'surface', 'sunken'].map((name) => pairOf(name) ?? []);
  expect(pairs.map(([light]) => light)).toEqual(themeBackgrounds.light);
  expect(pairs.map(([, dark]) => dark)).toEqual(themeBackgrounds.dark);
  for (const theme of ['light', 'dark'] as const)
    expect(css).toContain(`var(--chosen-accent-${theme}, ${defaultAccents[theme]})`);
  for (const theme of ['light', 'dark'] as const)
    expect(accentContrast(theme, defaultAccents[theme])).toBeGreaterThanOrEqual(4.5);
});
