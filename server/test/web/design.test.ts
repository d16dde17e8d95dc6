import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { pathsAsked } from './hands.ts';
import { openStudio } from './studio.ts';

/** The page that shows every component (docs/design.md). */

const components = join(import.meta.dirname, '../../../web/src/lib');

/** Components that are parts of others, or have nothing to show. */
const hidden = [
  'ConfirmDialogPanel',
  'FormDialogPanel',
  'ListDialogPanel',
  'ConflictDialogPanel',
  'DialogForm',
  'Labelled',
  'LeaveGuard',
  'MenuButton',
  // Whole dialogs, made of components that are shown.
  'ConflictDialog',
  'RetentionDialog',
];

/** A text that only the page has. */
const sample = 'https://library.example/s/a';

const studio = await openStudio();

// DESIGN-3
test('every component is on the page', async () => {
  const files = (await readdir(join(components, 'ui'))).filter((file) => file.endsWith('.svelte'));
  const names = files.map((file) => file.replace('.svelte', ''));
  const folder = join(components, 'design');
  const parts = await readdir(folder);
  const sources = await Promise.all(parts.map((file) => readFile(join(folder, file), 'utf8')));
  const isShown = (name: string) => sources.some((source) => new RegExp(`<${name}\\b`).test(source));
  expect(names.filter((name) => !isShown(name)).toSorted()).toEqual(hidden.toSorted());
});

// DESIGN-3
test('members see the components in both themes, and other pages do not load them', async () => {
  const member = await studio.join('ben', 'Ben Lund', { viewport: { width: 1440, height: 900 } });
  const asked = pathsAsked(member, (request) => request.resourceType() === 'script');
  await member.goto('/people');
  await member.getByRole('list', { name: 'People' }).waitFor();
  const others = asked.splice(0);
  await member.goto('/design');
  await member.getByRole('heading', { name: 'Design', level: 1 }).waitFor();
  const sections = member.getByRole('main').getByRole('region');
  await expect.poll(() => sections.count()).toBe(6);
  const haveSample = async (paths: readonly string[]) => {
    const scripts = await Promise.all(paths.map(async (path) => (await member.request.get(path)).text()));
    return scripts.some((script) => script.includes(sample));
  };
  expect(await haveSample(asked)).toBe(true);
  expect(await haveSample(others)).toBe(false);

  for (const colorScheme of ['light', 'dark'] as const) {
    await member.emulateMedia({ colorScheme });
    for (const section of await sections.all()) {
      const picture = sharp(await section.screenshot());
      const { channels, dominant } = await picture.stats();
      const { width, height } = await picture.metadata();
      const name = `${await section.getAttribute('aria-labelledby')} in the ${colorScheme} theme`;
      expect(width, name).toBeGreaterThan(600);
      expect(height, name).toBeGreaterThan(80);
      // A blank picture has no deviation. Most of it is the surface of the theme.
      expect(Math.max(...channels.map(({ stdev }) => stdev)), name).toBeGreaterThan(5);
      expect(dominant.r > 128, name).toBe(colorScheme === 'light');
    }
  }
});
