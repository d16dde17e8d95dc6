import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, upload } from './call.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const ana = await studio.join('ana', 'Ana', { viewport: { width: 1440, height: 900 } });
const first = await upload(ana, await jpeg(300, 200), { title: 'File 1' });
for (let at = 2; at <= 3; at += 1)
  await call(ana, 'POST', '/assets', {
    file_hash: first.file_hash,
    sensitivity: 'public',
    title: `File ${at}`,
  });

const tiles = (page: Page) => page.getByRole('list', { name: 'Assets' }).getByRole('link');
const tile = (page: Page, at: number) => tiles(page).filter({ hasText: `File ${at}` });
const bar = (page: Page) => page.getByRole('region', { name: 'Selection' });

/** Changes the selected files, and waits until none is selected: before that, a click on a tile selects it. */
async function change(page: Page, action: string) {
  await bar(page).getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByRole('menuitem', { name: action }).click();
  await expect.poll(() => bar(page).count()).toBe(0);
}

// STACK-2, STACK-3, STACK-4, STACK-5
test('stacks selected files, shows them as one tile and on their pages, and unstacks them', async () => {
  await ana.goto('/assets');
  await tile(ana, 3).click({ modifiers: ['ControlOrMeta'] });
  await tile(ana, 1).click({ modifiers: ['ControlOrMeta'] });
  await bar(ana).getByText('2 files selected').waitFor();
  await change(ana, 'Stack files');
  await expect.poll(() => tiles(ana).count()).toBe(2);
  await tile(ana, 3).getByText('Stack of 2').waitFor();

  await tile(ana, 3).click();
  const stack = ana.getByRole('region', { name: 'Stack' });
  await stack.getByRole('link', { name: 'File 1' }).click();
  await stack.getByRole('link', { name: 'File 3' }).waitFor();
  await stack.getByRole('button', { name: 'Put on top' }).click();
  await stack.getByRole('button', { name: 'Put on top' }).waitFor({ state: 'detached' });
  await ana.goto('/assets');
  await tile(ana, 1).getByText('Stack of 2').waitFor();
  expect(await tile(ana, 3).count()).toBe(0);

  await ana.getByRole('button', { name: 'More' }).click();
  await ana.getByRole('menuitem', { name: 'Show all files in stacks' }).click();
  await expect.poll(() => tiles(ana).count()).toBe(3);
  await ana.goBack();
  await expect.poll(() => tiles(ana).count()).toBe(2);
  await tile(ana, 1).click({ modifiers: ['ControlOrMeta'] });
  await change(ana, 'Unstack');
  await expect.poll(() => tiles(ana).count()).toBe(3);
});
