import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { startEncoder } from '../support/encoder.ts';
import { jpeg } from '../support/pictures.ts';
import { altered, scene } from '../visual/scenes.ts';
import { call, fileOf, publish, upload, uploadReady } from './call.ts';
import { attributesOf, isFocused, overhang, visit } from './hands.ts';
import { openStudio } from './studio.ts';

/** The values of a parameter in the page's address. */
const asked = (page: Page, name: string) => new URL(page.url()).searchParams.getAll(name);

const encoder = await startEncoder();
const studio = await openStudio({ VITRINE_ENCODER_URL: encoder.address });
const mara = await studio.enter('mara');
const add = async (title: string, tags: string, shape: [number, number]) =>
  (await upload(mara, await jpeg(...shape), { title, tags })).id;
const define = async (body: Record<string, unknown>, isAdvanced = true): Promise<string> => {
  const { id } = await call(mara, 'POST', '/fields', { display_group: 'Origin', ...body });
  await call(mara, 'PATCH', `/fields/${id}`, { show_in_advanced_search: isAdvanced });
  return id;
};
const values = ['Calm', 'Wild'].map((label) => ({ value: label.toLowerCase(), label }));
const year = await define({ code: 'year', label: 'Year', type: 'number' });
const mood = await define({ code: 'mood', label: 'Mood', type: 'select', options: { values } });
await define({ code: 'shelf_mark', label: 'Shelf mark', type: 'text' }, false);
const harbour = await add('Harbour at dawn', 'sea', [90, 60]);
const night = await add('Harbour at night', 'dark', [60, 90]);
await add('Meadow', 'green', [60, 60]);
await call(mara, 'PUT', `/assets/${harbour}/fields/${year}`, { value_num: 1994 });
await call(mara, 'PUT', `/assets/${night}/fields/${year}`, { value_num: 2011 });
await call(mara, 'PUT', `/assets/${harbour}/fields/${mood}`, { value_text: 'calm' });
const post = await publish(mara, 'Two boats', [harbour]);
await call(mara, 'POST', `/posts/${post}/comments`, { body: 'What a quiet harbour' });

afterAll(async () => {
  await studio.close();
  await encoder.stop();
});

test('suggests while typing, by keyboard alone, and searches by URL', async () => {
  await mara.goto('/');
  const box = mara.getByRole('combobox', { name: 'Search the library' });
  const options = mara.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
  await box.waitFor();
  await mara.keyboard.press('/');
  await expect.poll(() => isFocused(box)).toBe(true);
  await box.fill('harb');
  await options.filter({ hasText: 'Harbour at dawn' }).waitFor();
  await expect.poll(() => box.getAttribute('aria-expanded')).toBe('true');

  // The arrow key activates a suggestion, which is announced; Enter opens it.
  await mara.keyboard.press('ArrowDown');
  const first = options.first();
  await expect.poll(() => first.getAttribute('aria-selected')).toBe('true');
  await expect.poll(() => box.getAttribute('aria-activedescendant')).toBe(await first.getAttribute('id'));
  const leads = await first.getAttribute('href');
  await mara.keyboard.press('Enter');
  await mara.waitForURL(`${studio.address}${leads}`);

  // Control and K from anywhere; Escape closes the list and keeps the words; Enter asks with them.
  await mara.keyboard.press('Control+k');
  await box.fill('harbour');
  await options.filter({ hasText: 'Search for “harbour”' }).waitFor();
  await mara.keyboard.press('Escape');
  await expect.poll(() => box.getAttribute('aria-expanded')).toBe('false');
  await expect.poll(() => box.inputValue()).toBe('harbour');
  await mara.keyboard.press('Enter');
  await mara.waitForURL(`${studio.address}/search?q=harbour`);
  await mara.getByRole('heading', { name: 'Results for “harbour”', level: 1 }).waitFor();
});

test('groups results by kind with counts, highlights matches and sorts as chosen', async () => {
  await mara.getByRole('status').filter({ hasText: '3 results' }).waitFor();
  const assets = mara.getByRole('region', { name: 'Assets' });
  await assets.getByRole('link', { name: 'Harbour at night' }).waitFor();
  await expect.poll(() => assets.locator('mark').allInnerTexts()).toEqual(['Harbour', 'Harbour']);
  // A hit outside the title shows the matching text.
  const card = mara.getByRole('region', { name: 'Posts' }).locator('[data-match="comment"]');
  await expect.poll(() => card.innerText()).toContain('Comments: What a quiet harbour');
  await expect.poll(() => card.locator('mark').innerText()).toBe('harbour');

  const tabs = mara.getByRole('navigation', { name: 'Kinds of results' });
  await tabs.getByRole('link', { name: 'Assets 2' }).click();
  await mara.getByRole('status').filter({ hasText: '2 results' }).waitFor();
  expect(asked(mara, 'kind')).toEqual(['asset']);
  const links = mara.getByRole('list', { name: 'Assets' }).getByRole('link');
  const names = () => links.allInnerTexts();
  await mara.getByLabel('Order', { exact: true }).selectOption('Oldest first');
  await expect.poll(() => asked(mara, 'sort')).toEqual(['oldest']);
  await expect.poll(names).toEqual([expect.stringMatching(/dawn/), expect.stringMatching(/night/)]);

  // A facet adds a filter; its chip removes it.
  await mara.getByRole('region', { name: 'Narrow by tags' }).getByRole('link', { name: /sea/ }).click();
  await mara.getByRole('status').filter({ hasText: '1 result' }).waitFor();
  expect(asked(mara, 'tag')).toEqual(['sea']);
  await mara.getByRole('link', { name: 'Remove the filter #sea' }).click();
  await mara.getByRole('status').filter({ hasText: '2 results' }).waitFor();
  await mara.getByRole('region', { name: 'Narrow by mood' }).getByRole('link', { name: /Calm/ }).click();
  await mara.getByRole('status').filter({ hasText: '1 result' }).waitFor();
  expect(asked(mara, 'filter')).toEqual(['field:mood=calm']);
});

test('finds similar words for a misspelling, suggests the right one, and gives hints for no results', async () => {
  await visit(mara, '/search?q=harbuor');
  await mara.getByText('No exact matches for “harbuor”.').waitFor();
  await mara.getByRole('region', { name: 'Assets' }).getByRole('link', { name: 'Harbour at dawn' }).waitFor();
  await mara.getByRole('link', { name: 'harbour', exact: true }).click();
  await mara.waitForURL(/q=harbour/);
  await mara.getByRole('status').filter({ hasText: '3 results' }).waitFor();
  await visit(mara, '/search?q=xylophone&kind=post&tag=sea');
  await mara.getByRole('heading', { name: 'Nothing found for “xylophone”' }).waitFor();
  await mara.getByRole('link', { name: 'Look beyond posts' }).waitFor();
  await visit(mara, `/search?filter=${encodeURIComponent('field:year=soon')}`);
  await mara.getByRole('alert').filter({ hasText: 'is not a number' }).waitFor();
});

test('the advanced form shows every field type and writes its conditions to the URL', async () => {
  await visit(mara, '/search');
  await mara.getByRole('button', { name: 'Advanced' }).click();
  const form = mara.getByRole('dialog');
  // FIELD-13: the flag only decides whether the control is shown.
  await form.locator('[data-field="mood"]').waitFor();
  expect(await form.locator('[data-field="shelf_mark"]').count()).toBe(0);
  await form.getByRole('textbox', { name: 'Words' }).fill('harbour');
  await form.getByLabel('Asset type').selectOption({ label: 'Image' });
  const year = form.locator('[data-field="year"]');
  await year.getByLabel('Year', { exact: true }).fill('1990');
  await year.getByLabel('Year, and').fill('1999');
  await expect.poll(() => year.getByLabel('How to compare Year', { exact: true }).inputValue()).toBe('>=');
  await form.getByLabel('Mood').selectOption({ label: 'Calm' });
  await form.getByLabel('By', { exact: true }).fill('mar');
  await form.getByRole('button', { name: 'mara', exact: true }).click();
  await form.getByRole('button', { name: 'Search', exact: true }).click();
  await mara.getByRole('status').filter({ hasText: '1 result' }).waitFor();
  const conditions = ['field:mood=calm', 'field:year<=1999', 'field:year>=1990'];
  expect(asked(mara, 'filter').toSorted()).toEqual(conditions);
  expect([asked(mara, 'q'), asked(mara, 'type'), asked(mara, 'owner')]).toEqual([['harbour'], ['1'], ['1']]);
  const chips = mara.getByRole('list', { name: 'Filters' });
  await chips.getByText('Year at least 1990').waitFor();
  await chips.getByText('Mood is Calm').waitFor();

  // It reopens with the current search, and cleared conditions are removed from it.
  await mara.getByRole('button', { name: /Advanced/ }).click();
  await expect.poll(() => year.getByLabel('Year, and').inputValue()).toBe('1999');
  await year.getByLabel('Year', { exact: true }).fill('');
  await year.getByLabel('Year, and').fill('');
  await form.getByRole('button', { name: 'Search', exact: true }).click();
  await expect.poll(() => asked(mara, 'filter')).toEqual(['field:mood=calm']);
});

test('saves a search, opens, renames and deletes it', async () => {
  await visit(mara, '/search?q=harbour&kind=asset&tag=sea');
  const form = mara.getByRole('dialog');
  await mara.getByRole('button', { name: 'Save search' }).click();
  await form.getByLabel('Name', { exact: true }).fill('Sea harbours');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await mara.getByText('Saved as Sea harbours').waitFor();

  await visit(mara, '/search');
  await mara.getByRole('combobox').focus();
  await mara.getByRole('option', { name: /Sea harbours/ }).click();
  await mara.waitForURL(/q=harbour&kind=asset&tag=sea/);

  await visit(mara, '/search');
  await mara.getByRole('button', { name: 'Rename Sea harbours' }).click();
  await form.getByLabel('Name', { exact: true }).fill('By the sea');
  await form.getByRole('button', { name: 'Rename', exact: true }).click();
  const list = mara.getByRole('list', { name: 'Saved searches' });
  await list.getByRole('link', { name: /By the sea/ }).waitFor();
  await mara.getByRole('button', { name: 'Delete By the sea' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await mara.getByText('None yet.').waitFor();
  await expect.poll(() => call(mara, 'GET', '/account/searches')).toEqual([]);
});

test('finds an asset by a similar picture, and similar assets of an asset', async () => {
  const original = await scene(3);
  const shore = await uploadReady(mara, original);
  const copy = await uploadReady(mara, await altered(original, 'bright'));
  const found = fileOf('found.jpg', await altered(original, 'small'));
  const results = mara.getByRole('list', { name: 'Similar pictures' });
  // The encoder processes a picture shortly after its preview.
  const prints = () => studio.library.deps.db.selectFrom('picture_vectors').select('file_hash').execute();
  await expect.poll(async () => (await prints()).length).toBe(5);
  await visit(mara, '/assets');
  await mara.getByRole('link', { name: 'Search by picture' }).click();
  await mara.getByLabel('Choose a picture').setInputFiles(found);
  const nearest = async () => (await attributesOf(results.getByRole('link'), 'href')).slice(0, 2);
  await expect.poll(nearest).toEqual([`/assets/${shore}`, `/assets/${copy}`]);
  await results.getByText('The same picture').first().waitFor();

  await results.getByRole('link').first().click();
  await mara.getByRole('link', { name: 'Find similar' }).click();
  await expect.poll(() => results.getByRole('link').first().getAttribute('href')).toBe(`/assets/${copy}`);
  await mara.getByRole('button', { name: 'Search by another picture' }).click();
  await mara.getByLabel('Choose a picture').waitFor({ state: 'attached' });

  await mara.getByLabel('Choose a picture').setInputFiles(fileOf('none.jpg', Buffer.from('no picture')));
  await mara.getByRole('alert').getByText('not a readable picture').waitFor();
});

test('on a phone, the search box covers the header and nothing overflows', async () => {
  await mara.setViewportSize({ width: 375, height: 900 });
  await visit(mara, '/');
  const box = mara.getByRole('combobox', { name: 'Search the library' });
  const search = mara.getByRole('button', { name: 'Search', exact: true });
  await search.waitFor();
  await expect.poll(() => box.isVisible()).toBe(false);
  await search.click();
  await expect.poll(() => isFocused(box)).toBe(true);
  await expect.poll(async () => (await box.boundingBox())?.width ?? 0).toBeGreaterThan(240);
  await box.fill('harbour');
  await mara.keyboard.press('Enter');
  await mara.getByRole('status').filter({ hasText: '3 results' }).waitFor();
  expect(await overhang(mara)).toBe(0);
});
