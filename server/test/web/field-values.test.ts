import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, fileOf, upload } from './call.ts';
import { attributesOf, isFocused, overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const fields = new Map<string, string>();

/** Defines a field, at the end of its group. */
async function define(
  code: string,
  label: string,
  type: string,
  body: Record<string, unknown> = {},
  flags?: Record<string, unknown>,
): Promise<void> {
  const display_order = 10 + fields.size;
  const sent = { code, label, type, display_group: 'camera', display_order, ...body };
  const { id } = await call(mara, 'POST', '/fields', sent);
  fields.set(code, id);
  if (flags !== undefined) await call(mara, 'PATCH', `/fields/${id}`, flags);
}

/** Returns the values of an asset from the service, by code. */
async function stored(asset: string): Promise<Record<string, Record<string, unknown>>> {
  const { items }: { items: Record<string, unknown>[] } = await call(mara, 'GET', `/assets/${asset}/fields`);
  return Object.fromEntries(items.map((value) => [String(value.field_code), value]));
}

async function edit(page: Page, asset: string): Promise<void> {
  await visit(page, '/tags');
  await visit(page, `/assets/${asset}`);
  const button = page.getByRole('button', { name: 'Edit', exact: true });
  const form = page.getByRole('region', { name: 'Fields' });
  // A click while the layout shifts is lost, so it is repeated.
  const opened = async () => {
    if (!(await form.isVisible()) && (await button.isVisible())) await button.click();
    return form.isVisible();
  };
  await expect.poll(opened).toBe(true);
}

const studio = await openStudio();
const mara = await studio.enter('mara');
const ana = await studio.join('ana', 'Ana', { timezoneId: 'Europe/Helsinki' });
const save = () => ana.getByRole('button', { name: 'Save', exact: true }).click();
const picture = { display_group: 'picture' };
const plate = { value: 'old', label: 'Plate', status: 'deprecated' };
const kinds = ['portrait', { value: 'landscape', label: 'Landscape' }, plate];
const topics = Array.from({ length: 90 }, (_, at) => ({ value: `topic-${at}`, label: `Topic ${at}` }));
const helsinki = { value: 'hel', label: 'Helsinki' };
const finland = { value: 'fi', label: 'Finland', children: [helsinki] };
const places = [{ value: 'eu', label: 'Europe', children: [finland] }];
const words = { display_group: 'general' };
const inTab = { edit_tab: 'words', show_on_upload: false };
const state = { default_value: { kind: 'literal', value_text: 'Unchecked' } };
await define('kind', 'Kind', 'select', { ...picture, options: { values: kinds } }, { show_on_card: true });
await define('sitter', 'Sitter', 'text', picture, { display_condition: ['kind=portrait'] });
const vocabulary = { open_vocabulary: true, options: { values: topics } };
await define('topics', 'Topics', 'multi_select', { ...picture, ...vocabulary });
await define('place', 'Place', 'tree', { ...picture, options: { values: places } });
await define('film_speed', 'ISO speed', 'number', {}, { show_on_card: true });
await define('signed', 'Signed', 'boolean');
await define('day', 'Day', 'date');
await define('taken', 'Taken', 'datetime');
await define('mark', 'Mark', 'text', { required: true }, { regexp_filter: '[A-Z]{2}[0-9]+' });
await define('state', 'State', 'text', state, { read_only: true, show_on_upload: false });
await define('clearance', 'Clearance', 'text', { write_capability: 'fields.admin' });
await define('story', 'Story', 'rich_text', words, inTab);
await define('original', 'Original', 'reference', words, inTab);
const pier = (await upload(ana, await jpeg(90, 60, { seed: 1 }), { title: 'Pier' })).id;
const sitter = async () => (await stored(pier)).sitter;
const quay = (await upload(ana, await jpeg(90, 60, { seed: 2 }), { title: 'Quay' })).id;

test('builds the form from the definitions: tabs, groups, order, live conditions and reasons for read-only fields', async () => {
  await edit(ana, pier);
  const form = ana.getByRole('region', { name: 'Fields' });
  await expect.poll(() => form.getByRole('tab').allInnerTexts()).toEqual(['General', 'Words']);
  const groups = ['Picture', 'Camera', 'Rights', 'Capture', 'Place'];
  await expect.poll(() => form.locator('legend').allInnerTexts()).toEqual(groups);
  await form.getByText('Mark', { exact: false }).getByText('required').waitFor();
  await form.getByText('Must match the pattern [A-Z]{2}[0-9]+').waitFor();
  await form.getByText('Read-only: the library fills it in automatically.').waitFor();
  await form.getByText('Unchecked').waitFor();
  await form.getByText('Changing it requires the capability fields.admin.').waitFor();
  await expect.poll(() => form.getByRole('textbox', { name: 'Clearance' }).count()).toBe(0);

  const kind = form.getByLabel('Kind', { exact: true });
  const sitter = form.getByLabel('Sitter', { exact: true });
  await expect.poll(() => sitter.count()).toBe(0);
  await kind.selectOption('portrait');
  await sitter.fill('Ida');
  await kind.selectOption('landscape');
  await sitter.waitFor({ state: 'detached' });
  await kind.selectOption('portrait');
  // Hidden values are not lost.
  await expect.poll(() => sitter.inputValue()).toBe('Ida');
});

test('edits every field type with its control and shows refusals beside it', async () => {
  const form = ana.getByRole('region', { name: 'Fields' });
  const topics = form.getByRole('combobox', { name: 'Topics' });
  await topics.fill('topic 7');
  await form.getByRole('option', { name: 'Topic 77' }).waitFor();
  await topics.press('Enter');
  // Enter waits for the terms that match the text.
  await topics.fill('77');
  await topics.press('Enter');
  await form.getByRole('button', { name: 'Remove Topic 77' }).waitFor();
  await topics.press('Escape');
  await form.getByRole('combobox', { name: 'Place' }).click();
  // Branches are headings here, because only leaves can be values.
  const europe = form.getByRole('option', { name: 'Europe' });
  await expect.poll(() => europe.getAttribute('aria-disabled')).toBe('true');
  await form.getByRole('option', { name: 'Helsinki' }).click();
  await form.getByText('Europe › Finland › Helsinki').waitFor();
  await form.getByRole('textbox', { name: 'ISO speed' }).fill('fast');
  await form.getByRole('switch', { name: 'Signed' }).click();
  await form.getByLabel('Day', { exact: true }).fill('2026-03-01');
  await form.getByLabel('Taken', { exact: true }).fill('2026-03-01T14:05:00');
  await form.getByRole('textbox', { name: 'Mark required' }).fill('nothing');
  await save();

  await form.getByText('This is not a number.').waitFor();
  await form.getByText('Mark does not match the pattern [A-Z]{2}[0-9]+').waitFor();
  const iso = form.getByRole('textbox', { name: 'ISO speed' });
  await expect.poll(() => isFocused(iso)).toBe(true);
  await expect.poll(() => iso.getAttribute('aria-invalid')).toBe('true');
  // The valid values are saved.
  await expect.poll(sitter).toMatchObject({ value_text: 'Ida', set_by: 'manual' });

  await iso.fill('1,5');
  await form.getByRole('textbox', { name: 'Mark required' }).fill('AB12');
  await form.getByRole('tab', { name: 'Words' }).click();
  const story = form.getByRole('textbox', { name: 'Story' });
  await story.click();
  await ana.keyboard.type('At the ');
  await form.getByRole('button', { name: 'Bold' }).click();
  await ana.keyboard.type('mole');
  await form.getByRole('button', { name: 'Choose an asset' }).click();
  const picker = ana.getByRole('dialog', { name: 'Original' });
  await picker.getByLabel('Part of its title').fill('qua');
  await picker.getByRole('button', { name: 'Pier' }).waitFor({ state: 'detached' });
  await picker.getByRole('button', { name: 'Quay' }).click();
  await save();
  await ana.getByText('Saved.').waitFor();

  const values = {
    kind: { value_text: 'portrait' },
    topics: { value_options: ['topic-7', 'topic-77'] },
    place: { value_text: 'hel' },
    film_speed: { value_num: 1.5 },
    signed: { value_num: 1 },
    day: { value_date: '2026-03-01T00:00:00Z' },
    taken: { value_date: '2026-03-01T14:05:00Z' },
    mark: { value_text: 'AB12' },
    story: { value_text: '<p>At the <strong>mole</strong></p>' },
    original: { value_ref: quay },
  };
  await expect.poll(() => stored(pier)).toMatchObject(values);
});

test('shows values as labels, paths, dates and links, with their source', async () => {
  await visit(ana, '/tags');
  await visit(ana, `/assets/${pier}`);
  const group = (name: string) => ana.getByRole('region', { name, exact: true });
  await group('Picture').getByText('Europe › Finland › Helsinki').waitFor();
  await group('Picture').getByText('Topic 77').waitFor();
  const camera = () => group('Camera').innerText();
  for (const words of [
    /ISO speed\s+1\.5/,
    /Signed\s+Yes/,
    /Day\s+March 1, 2026/,
    /State\s+Unchecked\s+default/,
  ])
    await expect.poll(camera).toMatch(words);
  await expect.poll(() => group('General').locator('strong').innerText()).toBe('mole');
  await group('General').getByRole('link', { name: 'Quay' }).click();
  await ana.getByRole('heading', { name: 'Quay', level: 1 }).waitFor();
});

test('renders only allowed elements of formatted text', async () => {
  const hostile =
    '<p onclick="alert(1)">Plain <a href="javascript:alert(2)">link</a> <a href="https://a.example">good</a></p><img src=x onerror="alert(3)"><script>alert(4)</script>';
  const sent = { value_text: hostile };
  const put = await call(mara, 'PUT', `/assets/${quay}/fields/${fields.get('story')}`, sent);
  // Simulates a service that did not clean the text.
  const json = { items: [{ ...put, ...sent }] };
  await ana.route('**/api/v1/assets/*/fields', (route) => route.fulfill({ json }));
  await ana.goto(`/assets/${quay}`);
  const drawn = ana.getByRole('region', { name: 'General', exact: true }).locator('dd').first();
  await drawn.getByText('Plain').waitFor();
  expect(await drawn.locator('img, script, [onclick]').count()).toBe(0);
  expect(await attributesOf(drawn.getByRole('link'), 'href')).toEqual(['https://a.example']);
  await ana.unroute('**/api/v1/assets/*/fields');
});

test('shows both values when two people change the same field', async () => {
  await edit(ana, pier);
  const form = ana.getByRole('region', { name: 'Fields' });
  await form.getByLabel('Sitter', { exact: true }).fill('Ida Berg');
  await call(mara, 'PUT', `/assets/${pier}/fields/${fields.get('sitter')}`, { value_text: 'Ada' });
  await save();
  const dialog = ana.getByRole('alertdialog', { name: 'Sitter has changed' });
  await dialog.getByText(/mara/).waitFor();
  await expect.poll(() => dialog.innerText()).toMatch(/Theirs.*mara, by hand\s+Ada\s+Mine\s+Ida Berg/s);
  await dialog.getByRole('button', { name: 'Back to editing' }).click();
  await form.getByText('It has changed. Your value is not saved yet.').waitFor();
  await expect.poll(sitter).toMatchObject({ value_text: 'Ada' });
  await save();
  await dialog.getByRole('button', { name: 'Save mine' }).click();
  await ana.getByText('Saved.').waitFor();
  await expect.poll(sitter).toMatchObject({ value_text: 'Ida Berg' });

  await edit(ana, pier);
  await form.getByRole('button', { name: 'History of Sitter' }).click();
  const history = ana.getByRole('dialog', { name: 'History of Sitter' });
  await expect.poll(() => history.getByRole('listitem').count()).toBe(3);
  const between = history.getByRole('listitem').nth(1);
  await expect.poll(() => between.innerText()).toMatch(/mara,\s*by hand\s+Ada\s+before:\s+Ida/);
});

test('offers new terms in an open vocabulary only to people who may add them', async () => {
  await edit(ana, pier);
  const topics = ana.getByRole('combobox', { name: 'Topics' });
  await topics.fill('Drift wood');
  await ana.getByRole('option', { name: 'Add “Drift wood”' }).click();
  await topics.press('Escape');
  await save();
  await ana.getByText('Saved.').waitFor();
  const chosenTopics = async () => (await stored(pier)).topics?.value_options;
  await expect.poll(chosenTopics).toEqual(['topic-7', 'topic-77', 'drift-wood']);

  const { ref } = await call(ana, 'GET', '/auth/me');
  await call(mara, 'POST', `/admin/users/${ref}/revokes`, { capability: 'fields.vocabulary.extend' });
  await ana.reload();
  await edit(ana, pier);
  await topics.click();
  const offered = ana.getByRole('listbox', { name: 'Topics' }).getByRole('option');
  await ana.getByText('50 of 91 terms; type to narrow them down').waitFor();
  await offered.getByText('Show more').click();
  await expect.poll(() => offered.count()).toBe(91);
  await topics.fill('Sea weed');
  await ana.getByText('No matching terms').waitFor();
  await expect.poll(() => offered.count()).toBe(0);
});

test('shows fields on tiles and filters the library by field', async () => {
  await visit(ana, '/assets');
  const list = ana.getByRole('list', { name: 'Assets' });
  await list.getByRole('link', { name: /^Pier.*portrait · ISO speed 1\.5$/ }).waitFor();
  await ana.getByRole('button', { name: 'By field' }).click();
  const popover = ana.getByLabel('Filter by field');
  await popover.getByLabel('Field', { exact: true }).selectOption({ label: 'Place' });
  await popover.getByRole('combobox', { name: 'Place' }).click();
  await popover.getByRole('option', { name: 'Finland' }).click();
  await popover.getByRole('button', { name: 'Add filter' }).click();
  await list.getByRole('link', { name: /^Quay/ }).waitFor({ state: 'detached' });
  await ana.getByRole('link', { name: 'Remove the filter Place is or is below Finland' }).click();
  await list.getByRole('link', { name: /^Quay/ }).waitFor();
});

test('a new post asks for upload fields, writes them to every file and stops at a refusal', async () => {
  await visit(ana, '/new');
  const pictures = await Promise.all([5, 6].map((seed) => jpeg(60, 40, { seed })));
  const files = pictures.map((bytes, at) => fileOf(`${at}.jpg`, bytes));
  await ana.locator('input[type=file]').first().setInputFiles(files);
  const form = ana.getByRole('region', { name: 'Fields' });
  await form.getByText('These values apply to all 2 files.').waitFor();
  for (const hidden of ['Story', 'State', 'Clearance'])
    await expect.poll(() => form.getByText(hidden, { exact: true }).count()).toBe(0);
  await form.getByLabel('Kind', { exact: true }).selectOption('landscape');
  await form.getByRole('textbox', { name: 'Mark required' }).fill('x');
  await ana.getByLabel('Title').fill('Two of them');
  await ana.getByRole('button', { name: 'Publish' }).click();
  await form.getByText('Mark does not match the pattern').waitFor();
  await form.getByRole('textbox', { name: 'Mark required' }).fill('QX7');
  await ana.getByRole('button', { name: 'Publish' }).click();
  await ana.waitForURL(/\/posts\//);
  const id = new URL(ana.url()).pathname.split('/').at(-1);
  const post: { members: { asset_id: string }[] } = await call(ana, 'GET', `/posts/${id}`);
  expect(post.members).toHaveLength(2);
  for (const { asset_id } of post.members) {
    const values = { kind: { value_text: 'landscape' }, mark: { value_text: 'QX7' } };
    await expect.poll(() => stored(asset_id)).toMatchObject(values);
  }
});

test('on a phone, the form fits the screen and saves with one bar', async () => {
  const mobile = await studio.enter('ana', phone);
  await edit(mobile, pier);
  const form = mobile.getByRole('region', { name: 'Fields' });
  const iso = form.getByRole('textbox', { name: 'ISO speed' });
  await expect.poll(() => iso.inputValue()).toBe('1.5');
  expect(await overhang(mobile)).toBe(0);
  await iso.fill('400');
  await mobile.getByRole('button', { name: 'Save', exact: true }).tap();
  await expect.poll(async () => (await stored(pier)).film_speed).toMatchObject({ value_num: 400 });
  await form.waitFor({ state: 'detached' });
  expect(await overhang(mobile)).toBe(0);
});
