import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

const password = 'a long password';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let page: Page;
let asset: string;
const faults: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-feed-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory, {
    VITRINE_ADMIN_USERNAME: 'mara',
    VITRINE_ADMIN_PASSWORD: password,
  });
  browser = await openBrowser();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  await page.clock.install();
  await page.goto(service.address);
  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();

  const answer = await page.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: {
      file: { name: 'picture.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(await jpeg(900, 600)) },
    },
  });
  expect(answer.status()).toBe(201);
  asset = (await answer.json()).id;
}, 90_000);

afterAll(async () => {
  await browser.close();
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

async function post(title: string): Promise<void> {
  const body = { members: [{ asset_id: asset }], title, visibility: 'org-only' };
  expect((await callFrom(page, 'POST', '/posts', body)).status).toBe(201);
}

/** What a window does when it is clicked after another one was in front. */
function comeBack(): Promise<unknown> {
  return page.evaluate(() => window.dispatchEvent(new Event('focus')));
}

test('a window come back to after a minute shows what is new, and what was looked at stays where it was', async () => {
  for (let at = 1; at <= 80; at += 1) await post(`Old ${at}`);
  await page.goto(service.address);
  await page.getByRole('link', { name: /Old 80/ }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/v1/posts' && request.method() === 'GET')
      asked.push(request.url());
  });

  // Far enough down that the second page is read too.
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
  await comeBack();
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
  expect(await moved()).toBeLessThan(1.5);

  // Above it is what is new; a narrower window keeps the place as well.
  await page.setViewportSize({ width: 1000, height: 900 });
  await expect.poll(() => cards.first().evaluate((link) => link.clientWidth > 400)).toBe(true);
  await expect.poll(moved).toBeLessThan(1.5);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole('link', { name: /New 11/ }).waitFor();

  // At the top nothing is held in place: what is new appears there.
  await post('This morning');
  await page.clock.fastForward(61_000);
  await comeBack();
  await page.getByRole('link', { name: /This morning/ }).waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(0);
  expect(faults).toEqual([]);
}, 90_000);

test('the author’s name on a card and on a post leads to the author’s page, and to nobody’s where it is withheld', async () => {
  const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /This morning/ }) });
  await card.hover();
  await card.getByRole('link', { name: 'mara', exact: true }).click();
  await page.waitForURL(`${service.address}/users/mara`);
  await page.getByRole('heading', { name: 'mara', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: /This morning/ }).click();
  await page.waitForURL(/\/posts\//);
  await page.getByRole('main').getByRole('link', { name: 'mara', exact: true }).click();
  await page.waitForURL(`${service.address}/users/mara`);

  // A visitor is not told of someone who hides from visitors.
  expect((await callFrom(page, 'PUT', '/system/public-mode', { enabled: true })).status).toBe(200);
  const me: { ref: number } = JSON.parse((await callFrom(page, 'GET', '/auth/me')).text);
  const body = { members: [{ asset_id: asset }], title: 'For all', visibility: 'public' };
  const shown: { id: string } = JSON.parse((await callFrom(page, 'POST', '/posts', body)).text);
  const visitor = await browser.newPage();
  const names = () => visitor.getByRole('main').getByRole('link', { name: 'mara', exact: true }).count();
  const look = async () => {
    await visitor.goto(`${service.address}/posts/${shown.id}`);
    await visitor.getByRole('heading', { name: 'For all' }).waitFor();
  };
  await look();
  expect(await names()).toBe(1);
  const hidden = { hide_from_anonymous: true };
  expect((await callFrom(page, 'PATCH', `/users/${me.ref}`, hidden)).status).toBe(200);
  await look();
  expect(await names()).toBe(0);
  await visitor.close();
  expect(faults).toEqual([]);
}, 60_000);
