import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { publish, upload } from './call.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const page = await studio.enter('mara', { firstSteps: true });
await page.clock.install();
const panel = page.getByRole('region', { name: /^Get started/ });
const heading = panel.getByRole('heading').getByRole('button');

/** Lets quiet seconds pass, after which the app starts (APP-4), until the condition holds. */
async function afterQuietSeconds(holds: () => boolean | Promise<boolean>): Promise<void> {
  const isSo = async () => {
    await page.clock.runFor(4000);
    return holds();
  };
  await expect.poll(isSo).toBe(true);
}
const isShown = () => panel.isVisible();

// SETUP-6
test('the feed of a new library shows the first steps, until they are hidden', async () => {
  await page.goto('/');
  await page.getByRole('heading', { name: 'An empty showcase' }).waitFor();
  await afterQuietSeconds(isShown);
  await panel.getByText('0 of 7 done').waitFor();
  await panel.getByRole('link', { name: 'Set up mail' }).waitFor();
  await panel.getByRole('link', { name: 'Invite people' }).click();
  await page.waitForURL('**/admin/invitations');
  await expect.poll(() => panel.count()).toBe(0);

  // In a feed with posts the list is closed, and the page keeps its place.
  await publish(page, 'Pier', [(await upload(page, await jpeg(90, 60))).id], { visibility: 'org-only' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  const card = page.getByRole('link', { name: /Pier/ });
  await card.waitFor();
  await afterQuietSeconds(isShown);
  await panel.getByText('1 of 7 done').waitFor();
  const place = await card.boundingBox();
  expect(await heading.getAttribute('aria-expanded')).toBe('false');
  await heading.click();
  await panel.getByRole('link', { name: /^Upload your first files\s*Done$/ }).waitFor();

  await panel.getByRole('button', { name: 'Hide this list' }).click();
  await expect.poll(() => panel.count()).toBe(0);
  expect(await card.boundingBox()).toEqual(place);
  let hasStarted = false;
  page.on('console', (message) => {
    // The app starts with its service worker, which the browsers of tests refuse.
    if (/^Service Worker registration/.test(message.text())) hasStarted = true;
  });
  await page.reload();
  await card.waitFor();
  await afterQuietSeconds(() => hasStarted);
  // The list would appear after its own request, which is the same as this one.
  await page.evaluate(() => fetch('/api/v1/account/first-steps').then((response) => response.text()));
  await page.clock.runFor(4000);
  expect(await panel.count()).toBe(0);
});
