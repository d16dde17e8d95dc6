import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { jpeg, png } from '../support/pictures.ts';
import { call, fileOf, publish, upload, uploadReady } from './call.ts';
import { beyondEdge, overhang, visit } from './hands.ts';
import { openStudio } from './studio.ts';

/** Long names, with and without spaces, must not break the layout. */
const unbroken = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft';
const long = `${unbroken} and then the harbour in the very early morning of the longest day of the year`;

const paths: string[] = [];

const studio = await openStudio();
const mara = await studio.enter('mara');
await call(mara, 'PATCH', '/admin/system/site', { site_name: `Studio ${unbroken}` });
const tags = [unbroken.slice(0, 60), 'harbour'];
const asset = await uploadReady(mara, await jpeg(30, 20), { title: long });
await upload(mara, await jpeg(31, 20), {}, `${unbroken}.jpg`);
const team = (await call(mara, 'POST', '/teams', { name: long, description: `${unbroken} ${long}` })).id;
const written = { description: `${unbroken}\n${long}`, tags, team_id: team };
const post = await publish(mara, long, [asset], written);
const collection = await call(mara, 'POST', '/collections', { name: long, description: unbroken });
await call(mara, 'PUT', `/collections/${collection.id}/posts/${post}`);
for (const type of ['text', 'select', 'boolean', 'rich_text']) {
  const options = type === 'select' ? { values: [{ value: 'term', label: long }] } : {};
  const field = { code: `long_${type}`, label: long, type, display_group: long.slice(0, 90), options };
  const { id } = await call(mara, 'POST', '/fields', field);
  const values: Record<string, string> = { text: `${unbroken}${unbroken}`, select: 'term' };
  if (type in values) await call(mara, 'PUT', `/assets/${asset}/fields/${id}`, { value_text: values[type] });
  if (type === 'text') paths.push(`/admin/fields/${id}`);
}
const somebody = await call(mara, 'POST', '/admin/users', {
  username: unbroken.slice(0, 50),
  fullname: long,
  email: `${unbroken.slice(0, 60)}@example.org`,
  password: 'a long password',
});
await call(mara, 'PUT', `/teams/${team}/members/${somebody.ref}`);
await call(mara, 'PATCH', `/users/${somebody.ref}`, { display_name: long.slice(0, 100), bio: unbroken });
await call(mara, 'POST', `/posts/${post}/comments`, { body: `${unbroken}${unbroken} ${long}` });
await call(mara, 'POST', '/auth/tokens', { name: unbroken, scopes: ['read'] });
await call(mara, 'PUT', `/teams/${team}/follow`);
await call(mara, 'PUT', `/tags/${tags[0]}/follow`);
// Only pages that show some of these names; a post that is being written comes last, because it asks before it is left.
paths.push(
  '/',
  `/posts/${post}`,
  `/posts/${post}/edit`,
  `/assets/${asset}`,
  '/assets',
  '/collections',
  `/collections/${collection.id}`,
  `/teams/${team}`,
  `/tags/${tags[0]}`,
  '/search?q=harbour',
  `/users/${unbroken.slice(0, 50)}`,
  '/admin/users',
  `/admin/users/${somebody.ref}`,
  '/admin/fields',
  '/admin/audit',
  '/admin/appearance',
  '/settings/tokens',
  `/new?team=${team}`,
);

/** Returns the elements that overflow their box and are not clipped. */
function strays(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const element of document.querySelectorAll<HTMLElement>('main *, header *')) {
      const parent = element.parentElement;
      const style = getComputedStyle(element);
      if (parent === null || style.position === 'absolute' || style.position === 'fixed') continue;
      if (parent.closest('.sr-only') !== null || element.closest('svg, .sr-only') !== null) continue;
      if (getComputedStyle(parent).overflowX !== 'visible' || getComputedStyle(parent).display === 'inline')
        continue;
      const [inner, outer] = [element.getBoundingClientRect(), parent.getBoundingClientRect()];
      if (inner.width === 0 || outer.width === 0 || style.marginRight.startsWith('-')) continue;
      if (inner.right > outer.right + 1.5)
        found.push(`${element.tagName} ${element.className} by ${Math.round(inner.right - outer.right)}`);
    }
    return found;
  });
}

/**
 * Waits until the page shows one of the names and has changed nothing for a while. Waiting for frames or idle time
 * sometimes never ended.
 */
async function quiet(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const shown = () => document.querySelector('main')?.innerHTML ?? '';
    let before = '';
    for (let tries = 0; tries < 100 && (before !== shown() || !/Donau/i.test(before)); tries += 1) {
      before = shown();
      await rest(300);
    }
  });
  expect(await page.locator('main').innerHTML(), page.url()).toMatch(/Donau/i);
}

test('long names overflow no element on desktop or phone', async () => {
  const seen: string[] = [];
  for (const [at, path] of paths.entries()) {
    await visit(mara, path);
    await quiet(mara);
    if (path.endsWith(`/assets/${asset}`)) {
      await mara.getByRole('button', { name: 'Edit', exact: true }).click();
      await quiet(mara);
    }
    if (path.startsWith('/new')) {
      const file = fileOf(`${long}.jpg`, await jpeg(80, 60));
      await mara.locator('input[type=file]').first().setInputFiles(file);
      await mara.getByText('Uploaded,').first().waitFor({ state: 'attached' });
      await quiet(mara);
    }
    // Each page begins with the width at which the one before it ended.
    for (const width of at % 2 === 0 ? [1280, 375] : [375, 1280]) {
      await mara.setViewportSize({ width, height: 800 });
      // A page behind another one may draw no frames, and then does not lay out its pictures again.
      await mara.bringToFront();
      const overflowing = async () => [
        ...((await overhang(mara)) > 0 ? [`the page, because of ${await beyondEdge(mara)}`] : []),
        ...(await strays(mara)),
      ];
      // Rows of pictures are laid out again shortly after the width of the window changes.
      let found: string[] = [];
      const isClear = async () => {
        found = await overflowing();
        return found.length === 0;
      };
      await vi.waitUntil(isClear, { timeout: 15_000 }).catch(() => {});
      seen.push(...found.map((element) => `${width} ${path}: ${element}`));
    }
  }
  expect(seen).toEqual([]);
}, 300_000);

test('the header fits its navigation beside a long name and a wide logo', async () => {
  const logo = await mara.request.post('/api/v1/admin/system/appearance/logo', {
    data: Buffer.from(await png(960, 160)),
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(logo.status(), await logo.text()).toBe(200);
  await call(mara, 'PUT', '/system/public-mode', { enabled: true });
  const visitor = await studio.openPage();
  const main = (page: Page) => page.getByRole('navigation', { name: 'Main' });
  const links = async (page: Page) =>
    (await main(page).getByRole('link').allInnerTexts()).map((text) => text.trim());

  for (const page of [mara, visitor]) {
    await page.goto('/tags');
    await page.getByRole('banner').locator('img[data-logo]').waitFor();
    for (const width of [320, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overhang(page), `page at ${width}`).toBe(0);
      const row = () =>
        page.getByRole('banner').evaluate((header) => {
          const [one] = header.children;
          const right = (selector: string) =>
            header.querySelector(selector)?.getBoundingClientRect().right ?? 0;
          const isWhole = right('[data-logo]') <= right('a:has([data-logo])');
          return [(one?.scrollWidth ?? 0) - (one?.clientWidth ?? 0), header.clientHeight <= 64, isWhole];
        });
      await expect.poll(row, { message: `header at ${width}` }).toEqual([0, true, true]);
      await expect.poll(() => strays(page), { message: `header at ${width}` }).toEqual([]);
      await expect.poll(() => main(page).isVisible()).toBe(width >= 768 || page === mara);
    }
  }
  await expect.poll(() => links(mara)).toEqual(['Feed', 'Assets', 'Collections', 'Teams', 'Tags']);
  await expect.poll(() => links(visitor)).toEqual(['Feed', 'Collections', 'Tags']);
  const current = () => main(mara).locator('[aria-current=page]').allInnerTexts();
  await expect.poll(current).toEqual(['Tags']);
  await main(mara).getByRole('link', { name: 'Teams' }).press('Enter');
  await mara.waitForURL('/teams');
  await expect.poll(current).toEqual(['Teams']);

  // A bar has the rest where the header has room only for the places.
  await mara.setViewportSize({ width: 375, height: 800 });
  await mara.getByRole('navigation', { name: 'Shortcuts' }).getByRole('link', { name: 'Feed' }).waitFor();
  await expect.poll(() => links(mara)).toEqual(['Assets', 'Collections', 'Teams', 'Tags']);
});
