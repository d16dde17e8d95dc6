import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { publish, upload } from './call.ts';
import { pathsAsked } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const page = await studio.enter('mara');
await page.clock.install();
const asset = (await upload(page, await jpeg(90, 60))).id;

const post = (title: string) => publish(page, title, [asset], { visibility: 'org-only' });

/** Simulates the focus event of a window that returns to the foreground. */
const comeBack = () => page.evaluate(() => window.dispatchEvent(new Event('focus')));

test('shows new posts after a minute away and keeps the scroll position', async () => {
  for (let at = 1; at <= 60; at += 1) await post(`Old ${at}`);
  await page.goto('/');
  await page.getByRole('link', { name: /Old 60/ }).waitFor();
  const asked = pathsAsked(page, (request) => /\/api\/v1\/posts(\?|$)/.test(request.url()));

  // Scrolls far enough that the second page is loaded, too.
  await page.mouse.move(640, 450);
  await page.mouse.wheel(0, 2600);
  const cards = page.locator('[data-post]');
  const inSight = () =>
    cards.evaluateAll((links) =>
      links.flatMap((link) => {
        const { top, left } = link.getBoundingClientRect();
        return top >= 0 && top < 700 ? [{ label: link.getAttribute('aria-label') ?? '', top, left }] : [];
      }),
    );
  const firstInSight = async () => (await inSight()).toSorted((a, b) => a.top - b.top || a.left - b.left)[0];
  await expect.poll(async () => (await page.evaluate(() => scrollY)) > 2000).toBe(true);
  await expect.poll(() => asked.length).toBe(1);
  await page.waitForLoadState('networkidle');
  const before = await firstInSight();
  expect(before?.label).toMatch(/Old \d+/);
  const heightBefore = await page.evaluate(() => scrollY);

  for (let at = 1; at <= 11; at += 1) await post(`New ${at}`);
  await page.clock.fastForward(30_000);
  await comeBack();
  await page.clock.runFor(500);
  expect(asked).toHaveLength(1);

  await page.clock.fastForward(61_000);
  await comeBack();
  await expect.poll(() => asked.length).toBe(3);
  await expect.poll(async () => (await page.evaluate(() => scrollY)) > heightBefore + 200).toBe(true);
  const moved = async () => {
    const same = (await inSight()).find(({ label }) => label === before?.label);
    return Math.abs((same?.top ?? Number.POSITIVE_INFINITY) - (before?.top ?? Number.NaN));
  };
  await expect.poll(() => moved()).toBeLessThan(1.5);

  // New posts are above it; a narrower window keeps the scroll position as well.
  const widthOfCard = () => cards.first().evaluate((link) => link.clientWidth);
  const widthBefore = await widthOfCard();
  await page.setViewportSize({ width: 1000, height: 900 });
  await expect.poll(widthOfCard).not.toBe(widthBefore);
  await expect.poll(moved).toBeLessThan(1.5);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole('link', { name: /New 11/ }).waitFor();

  // At the top, new posts appear at once.
  await post('This morning');
  await page.clock.fastForward(61_000);
  await comeBack();
  await page.getByRole('link', { name: /This morning/ }).waitFor();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
});

// IDENTITY-1
test('links author names to their pages', async () => {
  const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /This morning/ }) });
  await card.hover();
  await card.getByRole('link', { name: 'mara', exact: true }).click();
  await page.waitForURL(`${studio.address}/users/mara`);
  await page.getByRole('heading', { name: 'mara', level: 1 }).waitFor();
});

test('removes cards and pictures that scrolled out of view', async () => {
  await page.goto('/');
  await page.locator('[data-tile] img').first().waitFor();
  await page.waitForLoadState('networkidle');
  const cards = await page.evaluateHandle(() =>
    [...document.querySelectorAll('[data-tile]')].map((card) => new WeakRef(card)),
  );
  await page.mouse.move(640, 450);
  await page.mouse.wheel(0, 4000);
  const session = await page.context().newCDPSession(page);
  const held = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return page.evaluate((refs) => refs.filter((one) => one.deref() !== undefined).length, cards);
  };
  await expect.poll(held, { interval: 300 }).toBe(0);
});

test('says how to follow people where nobody is followed, and offers no upload there', async () => {
  await page.goto('/?show=following');
  await page.getByRole('heading', { name: 'Nothing from people you follow' }).waitFor();
  await page.getByRole('link', { name: 'See the latest posts' }).waitFor();
  expect(await page.getByRole('link', { name: 'Upload files' }).count()).toBe(0);
});
