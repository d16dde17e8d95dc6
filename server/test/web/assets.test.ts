import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg, truncatedJpeg } from '../support/pictures.ts';
import { call, callFrom, publish, settled, upload, uploadReady } from './call.ts';
import { dialogClosed, isFocused, overhang, showMore, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const tile = (page: Page, name: string | RegExp) =>
  page.getByRole('list', { name: 'Assets' }).getByRole('link', { name });

const studio = await openStudio();
const mara = await studio.enter('mara');
const ana = await studio.join('ana');
const otto = await studio.join('otto');
const pier = await upload(ana, await jpeg(300, 200), { title: 'Pier' });
expect(await settled(ana, pier.id)).toBe('ready');
const read = () => call(ana, 'GET', `/assets/${pier.id}`);
const body = { file_hash: pier.file_hash, sensitivity: 'public' };
for (let at = 1; at <= 50; at += 1) await call(ana, 'POST', '/assets', { ...body, title: `Copy ${at}` });
await call(ana, 'POST', '/assets', { ...body, title: 'Sketch', tags: ['dusk', 'sea'], status: 'draft' });
await uploadReady(ana, await jpeg(200, 200), { title: 'Kept back', sensitivity: 'restricted' });
await uploadReady(ana, await jpeg(200, 300), { title: 'Rated', mature: 'true' });

test('lists the user’s own assets by filter and page, and everyone’s with placeholders and blurs', async () => {
  await ana.goto('/assets');
  const tiles = ana.getByRole('list', { name: 'Assets' }).getByRole('link');
  await tile(ana, 'Copy 50').waitFor();
  await ana.getByText('54 files', { exact: true }).waitFor();
  await ana.mouse.move(640, 500);
  const toTheEnd = async () => {
    await ana.mouse.wheel(0, 20_000);
    return tile(ana, 'Pier').count();
  };
  await expect.poll(toTheEnd).toBe(1);

  await ana.getByLabel('Status').selectOption('Draft');
  await ana.waitForURL(/status=draft/);
  await expect.poll(() => tiles.count()).toBe(1);
  await ana.getByLabel('Tag', { exact: true }).fill('#dusk');
  await ana.keyboard.press('Enter');
  await ana.waitForURL(/status=draft&tag=dusk/);
  await ana.getByRole('link', { name: 'Remove the tag dusk' }).waitFor();
  await tile(ana, /Sketch.*Draft/).waitFor();
  await ana.getByLabel('Tag', { exact: true }).fill('noon');
  await ana.keyboard.press('Enter');
  await ana.getByRole('heading', { name: 'No matches' }).waitFor();
  await ana.getByRole('link', { name: 'Remove the tag noon' }).click();
  await tile(ana, /Sketch.*Draft/).waitFor();

  // Withheld and mature files of others are frames and blurs, and a filter finds neither drafts nor withheld files.
  await otto.goto('/assets?of=everyone');
  await tile(otto, 'Copy 50').waitFor();
  await tile(otto, /Not shared with you.*ana/).waitFor();
  expect(await tile(otto, 'Kept back').count()).toBe(0);
  await expect.poll(() => tile(otto, 'Rated').getByText('Mature').count()).toBe(1);
  expect(await tile(otto, 'Rated').locator('img').count()).toBe(0);
  await otto.getByLabel('Type').selectOption('Image');
  await otto.waitForURL(/type=1/);
  await otto.getByText('Filters only find what is shared with you.').waitFor();
  await tile(otto, 'Copy 50').waitFor();
  await expect.poll(() => tile(otto, /Not shared|Draft/).count()).toBe(0);

  await tile(otto, 'Rated').click();
  await otto.getByText('you have not chosen to see mature content').waitFor();
  expect(await otto.getByRole('link', { name: 'Download' }).count()).toBe(0);
  expect(await otto.getByRole('button', { name: 'Edit' }).count()).toBe(0);
});

test('the owner edits an asset and resolves a concurrent change', async () => {
  await visit(ana, `/assets/${pier.id}`);
  const edit = ana.getByRole('button', { name: 'Edit' });
  const title = ana.getByLabel('Title');
  await edit.click();
  await expect.poll(() => isFocused(title)).toBe(true);
  await title.fill('Harbour');
  // The last tag is not confirmed with Enter; saving includes it all the same.
  await ana.getByLabel('Tags', { exact: true }).fill('quay, fog');
  await ana.getByLabel('How AI took part').selectOption('AI assisted');
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await ana.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
  const saved = { title: 'Harbour', tags: ['quay', 'fog'], ai_provenance: 'assisted' };
  await expect.poll(read).toMatchObject(saved);
  await expect.poll(() => ana.getByRole('list', { name: 'Tags' }).innerText()).toMatch(/quay\s*by hand/);

  // The first newer version replaces the changes, the second one is merged with them.
  const warning = ana.getByRole('alert').filter({ hasText: 'It has changed.' });
  await edit.click();
  await title.fill('Harbour at dusk');
  await call(mara, 'PATCH', `/assets/${pier.id}`, { title: 'Port', description: 'From the mole.' });
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await warning.getByText('Another user changed title and description').waitFor();
  expect(await read()).toMatchObject({ title: 'Port' });
  await warning.getByRole('button', { name: 'Start from the newer version' }).click();
  await expect.poll(() => title.inputValue()).toBe('Port');
  await title.fill('Harbour at dusk');
  await ana.getByLabel('How AI took part').selectOption('Not declared');
  await call(mara, 'PATCH', `/assets/${pier.id}`, { tags: ['mole'] });
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await warning.getByRole('button', { name: 'Save my changes on top' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1 }).waitFor();
  const texts = { title: 'Harbour at dusk', description: 'From the mole.' };
  const merged = { ...texts, tags: ['mole'], ai_provenance: null };
  await expect.poll(read).toMatchObject(merged);
});

test('shows the owner where an asset appears, and how many posts are withheld', async () => {
  await publish(otto, 'For all', [pier.id], { visibility: 'org-only' });
  await publish(otto, 'Between us', [pier.id], { visibility: 'private' });
  await ana.reload();
  const seen = ana.getByRole('region', { name: 'Where this appears' });
  await seen.getByText('And one more post you cannot see.').waitFor();
  await expect
    .poll(() => seen.getByRole('link').allInnerTexts())
    .toEqual([expect.stringContaining('For all')]);
  await seen.getByRole('link', { name: 'For all' }).click();
  await ana.getByRole('heading', { name: 'For all' }).waitFor();
  // Returns from the post to the asset.
  await ana.getByRole('link', { name: 'More about it' }).click();
  await ana.waitForURL(`${studio.address}/assets/${pier.id}`);
});

// ASSET-40
test('shows the history of a file in words', async () => {
  await call(ana, 'PATCH', `/assets/${pier.id}`, { tags: ['pier'] });
  await visit(ana, `/assets/${pier.id}`);
  await showMore(ana);
  for (const size of [
    { width: 390, height: 844 },
    { width: 1440, height: 900 },
  ]) {
    await ana.setViewportSize(size);
    await ana.getByRole('button', { name: 'History' }).click();
    const entries = ana.getByRole('list', { name: 'History' }).getByRole('listitem');
    await entries.filter({ hasText: /ana changed tags/i }).waitFor();
    await entries.filter({ hasText: /ana uploaded the file/i }).waitFor();
    expect(await overhang(ana)).toBe(0);
    await ana.getByRole('button', { name: 'Done' }).click();
    await dialogClosed(ana, ana.getByRole('button', { name: 'History' }));
  }
});

// TRASH-5
test('undoes a deletion, and restores from the trash', async () => {
  const remove = async (reason: string) => {
    await showMore(ana);
    await ana.getByRole('button', { name: 'Delete' }).click();
    const dialog = ana.getByRole('alertdialog');
    await dialog.getByLabel('Reason (optional)').fill(reason);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await ana.getByRole('heading', { name: /is in the trash/ }).waitFor();
  };
  await remove('By mistake');
  await expect.poll(async () => (await callFrom(ana, 'GET', `/assets/${pier.id}`)).status).toBe(404);
  await ana.getByRole('button', { name: 'Undo' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1, exact: true }).waitFor();

  await remove('Twice the same');
  await ana.getByRole('link', { name: 'Trash' }).click();
  await mara.goto('/trash?of=everyone');
  const everyones = mara.getByRole('list', { name: 'Deleted items' }).getByRole('listitem');
  await everyones.filter({ hasText: /Harbour at dusk.*of ana/s }).waitFor();
  const trash = ana.getByRole('list', { name: 'Deleted items' });
  const row = trash.getByRole('listitem').filter({ hasText: 'Harbour at dusk' });
  await row.getByText('by you').waitFor();
  await expect.poll(() => row.innerText()).toMatch(/Asset, deleted .*“Twice the same”/s);
  await row.getByRole('button', { name: /^Restore/ }).click();
  await row.getByText('Restored.').waitFor();
  await row.getByRole('link', { name: 'Open it' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1 }).waitFor();
});

test('the owner retries a failed rendering', async () => {
  const broken = await upload(ana, await truncatedJpeg(), { title: 'Half' });
  expect(await settled(ana, broken.id)).toBe('failed');
  await visit(ana, `/assets/${broken.id}`);
  const again = ana.getByRole('button', { name: 'Try again' });
  const answered = ana.waitForResponse(/\/reprocess$/);
  await again.click();
  expect(await (await answered).json()).toMatchObject({ processing_status: 'pending' });
  // The file is still broken; the page notices, and the button is back.
  await expect.poll(() => again.isEnabled()).toBe(true);
  expect(await settled(ana, broken.id)).toBe('failed');
});
