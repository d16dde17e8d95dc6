import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { mapOf } from '../browsing/map-archive.ts';
import { jpeg } from '../support/pictures.ts';
import { uploadReady } from './call.ts';
import { overhang, phone } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const { db } = studio.library.deps;
const mara = await studio.enter('mara', { viewport: { width: 1440, height: 900 } });
const onPhone = await studio.enter('mara', phone);

/** Uploads a picture that was taken at a time and place. */
async function add(title: string, seed: number, at: string | null, place: [lat: number, lon: number]) {
  const id = await uploadReady(mara, await jpeg(300, 200, { seed }), { title, sensitivity: 'org' });
  await sql`update assets set taken_at = ${at}::timestamptz, taken_on = ${at}::date,
    latitude = ${place[0]}, longitude = ${place[1]} where id = ${id}`.execute(db);
  return id;
}

const summer = await add('Summer', 1, '2024-07-01', [48.137154, 11.576124]);
await add('Copy of summer', 1, '2024-07-02', [48.137154, 11.576124]);
await add('Winter', 2, '2019-12-24', [-33.86, 151.2]);
await add('Beginning', 3, '0001-01-01', [0, 0.1]);
await add('Some day', 4, null, [60, 20]);

/** A file of a month, which may also be among those of this day. */
const inMonth = (page: Page, month: string, name: string) =>
  page.getByRole('region', { name: new RegExp(`^${month}`) }).getByRole('link', { name });

// BROWSE-1
test('the timeline is scrubbed month by month with the keyboard, to both ends', async () => {
  await mara.goto('/timeline');
  const slider = mara.getByRole('slider', { name: 'Month' });
  await slider.focus();
  const month = () => slider.getAttribute('aria-valuetext');
  await inMonth(mara, 'July 2024', 'Copy of summer').waitFor();
  await expect.poll(month).toBe('July 2024');
  await slider.press('ArrowDown');
  await expect.poll(month).toBe('December 2019');
  await slider.press('End');
  await expect.poll(month).toBe('Unknown date');
  await inMonth(mara, 'Unknown date', 'Some day').waitFor();
  await slider.press('ArrowUp');
  await expect.poll(month).toBe('January 1');
  await slider.press('Home');
  await expect.poll(month).toBe('July 2024');
});

// BROWSE-1
test('the timeline is scrubbed with a finger', async () => {
  await onPhone.goto('/timeline');
  const slider = onPhone.getByRole('slider', { name: 'Month' });
  await inMonth(onPhone, 'July 2024', 'Copy of summer').waitFor();
  // What was taken on this day, if the test runs on one of these days, moves the slider down when it is there.
  const tapEnd = async () => {
    const box = await slider.boundingBox();
    if (box === null) return null;
    const bottom = Math.min(box.y + box.height, phone.viewport.height);
    await onPhone.touchscreen.tap(box.x + box.width / 2, bottom - 12);
    return slider.getAttribute('aria-valuetext');
  };
  await expect.poll(tapEnd).toBe('Unknown date');
  expect(await overhang(onPhone)).toBe(0);
});

// BROWSE-5, BROWSE-7
test('the list beside the map has the places of the map, and a press on one zooms in', async () => {
  await mara.goto('/map');
  const place = mara.getByRole('button', { name: /^48\.14° N, 11\.58° E/ });
  await place.waitFor();
  await mara.getByText('5 files on this part of the map').waitFor();
  await place.click();
  await mara.getByText('2 files on this part of the map').waitFor();
  const files = mara.getByRole('list', { name: 'Files on this part of the map' });
  await expect.poll(() => files.getByRole('link').count()).toBe(2);
  await files.getByRole('link', { name: 'Summer', exact: true }).click();
  await mara.waitForURL(`**/assets/${summer}`);
});

// BROWSE-9
test('the map shows the archive of the operator with its authors, and the outline if it cannot be read', async () => {
  const file = join(studio.library.config.dataDir, 'map.pmtiles');
  await writeFile(
    file,
    mapOf(await jpeg(256, 256, { seed: 9 }), { attribution: '<a href="/">Survey of Land</a>' }),
  );
  await onPhone.goto('/map');
  const tile = onPhone.locator('.leaflet-tile-loaded').first();
  await tile.waitFor();
  expect(await tile.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(256);
  await onPhone.getByText('Map: Survey of Land', { exact: true }).waitFor();
  expect(await onPhone.locator('.land').count()).toBe(0);
  expect(await overhang(onPhone)).toBe(0);
  await writeFile(file, 'no map');
  await onPhone.goto('/map');
  await onPhone.getByText('The map of this library cannot be read.').waitFor();
  await onPhone.locator('.land').first().waitFor();
});

// BROWSE-8, USER-23
test('people are found by name, and the page of a file lists similar ones', async () => {
  await onPhone.goto('/people');
  await onPhone.getByRole('searchbox', { name: 'Search people' }).fill('mar');
  await onPhone.waitForURL('**/people?q=mar');
  await onPhone.getByRole('list', { name: 'People' }).getByRole('link', { name: /mara/ }).waitFor();
  expect(await overhang(onPhone)).toBe(0);
  // Of the four different pictures. The page reads its similar files once.
  const prints = async () => (await db.selectFrom('picture_prints').select('file_hash').execute()).length;
  await expect.poll(prints).toBe(4);
  await mara.goto(`/assets/${summer}`);
  const similar = mara.getByRole('list', { name: 'Similar files' });
  await similar.getByRole('link', { name: 'Copy of summer' }).waitFor();
});
