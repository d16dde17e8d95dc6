import type { FieldDefinition } from '@vitrine/contract/fields';
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { call } from './call.ts';
import { dialogClosed, drag, isFocused, placeIn, visit } from './hands.ts';
import { openStudio } from './studio.ts';

async function define(body: Record<string, unknown>): Promise<FieldDefinition> {
  return call(mara, 'POST', '/fields', { type: 'text', ...body });
}

/** Returns the section of the page with this heading. */
const section = (title: string) => mara.getByRole('region', { name: title, exact: true });

const pressSave = () => mara.getByRole('button', { name: 'Save', exact: true }).click();

/** Saves everything that was changed and waits until the service has it. */
async function save(): Promise<void> {
  await pressSave();
  await section('Save').getByText('Saved.', { exact: true }).waitFor();
}

/** Presses a switch and waits for the response, because a form that is saved before it would report a conflict. */
async function flip(control: Locator): Promise<void> {
  const answered = mara.waitForResponse((response) => response.request().method() === 'PATCH');
  await control.click();
  await (await answered).finished();
}

async function open(field: FieldDefinition): Promise<void> {
  await visit(mara, `/admin/fields/${field.id}`);
  await mara.getByRole('heading', { name: field.label, level: 1 }).waitFor();
}

/** Drags by a handle to a fraction of a row's height. */
async function dragTo(handle: Locator, row: Locator, share: number): Promise<void> {
  const from = await placeIn(handle);
  await drag(mara, from, await placeIn(row, 0.5, share));
}

const read = (id: string): Promise<FieldDefinition> => call(mara, 'GET', `/fields/${id}`);
const moveHandle = (label: string) => mara.getByRole('button', { name: `Move ${label}`, exact: true });

const studio = await openStudio();
const mara = await studio.enter('mara', { viewport: { width: 1280, height: 1800 } });
// Before the first page, because the app keeps the definitions of fields.
const options = { values: ['photo', { value: 'drawing', label: 'Drawing by hand' }] };
await define({ code: 'kind', label: 'Kind', type: 'select', options });
const camera = await define({ code: 'camera', label: 'Camera' });
const place = await define({ code: 'place', label: 'Place', type: 'tree' });
const first = await define({ code: 'first', label: 'First', display_group: 'Shelf' });
const middle = await define({ code: 'middle', label: 'Middle', display_group: 'Shelf' });
const third = await define({ code: 'third', label: 'Third', display_group: 'Drawer', display_order: 150 });

test('creates a field, saves its settings with one button and shows refusals beside the control', async () => {
  await mara.goto('/admin/fields');
  const form = mara.getByRole('dialog');

  // The code is derived from the name; a taken code is reported beside it, and the form keeps its content.
  await mara.getByRole('button', { name: 'New field' }).click();
  await form.getByLabel('Name').fill('Title');
  await form.getByLabel('Group').fill('Rights');
  await form.getByRole('button', { name: 'Create field' }).click();
  await form.getByText('There is a field with the code title.').waitFor();
  const code = form.getByLabel('Code');
  await expect.poll(() => code.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => code.evaluate((field) => field === document.activeElement)).toBe(true);
  await form.getByLabel('Name').fill('Licence number');
  await form.getByRole('button', { name: 'Create field' }).click();
  await mara.getByRole('heading', { name: 'Licence number', level: 1 }).waitFor();
  const id = new URL(mara.url()).pathname.split('/').at(-1) ?? '';
  const stored = () => read(id);
  const made = { code: 'licence_number', display_group: 'Rights', type: 'text' };
  await expect.poll(stored).toMatchObject(made);

  // FIELD-12, both ways: cards and a read capability.
  const cards = mara.getByRole('switch', { name: 'On cards' });
  const [use, defaults] = [section('Who may use it'), section('Default')];
  await flip(cards);
  await expect.poll(async () => (await stored()).show_on_card).toBe(true);
  await mara.getByLabel('Who may read it').selectOption('assets.admin');
  await pressSave();
  await use.getByText('“On cards” and “Who may read it” are mutually exclusive').waitFor();
  await flip(cards);
  await expect.poll(async () => (await stored()).show_on_card).toBe(false);
  await save();
  await cards.click();
  await section('What it does').getByRole('alert').filter({ hasText: 'are mutually exclusive' }).waitFor();
  await expect.poll(() => cards.getAttribute('aria-checked')).toBe('false');

  // Name and limits at once.
  await section('Name').getByLabel('Description').fill('As on the contract');
  await section('Limits').getByLabel('Shortest').fill('9');
  await section('Limits').getByLabel('Longest').fill('30');
  await section('Save').getByText('Not saved yet: Name and Limits').waitFor();
  await save();
  const now = { description: 'As on the contract', options: { min_length: 9, max_length: 30 } };
  expect(await stored()).toMatchObject(now);

  // FIELD-19: a pattern is tried on the whole value, and the service decides.
  const pattern = section('Pattern');
  await pattern.getByLabel('Pattern', { exact: true }).fill('[A-Z]{2}-\\d+');
  await pattern.getByLabel('Try a value').fill('AB-12');
  await pattern.getByText('Matches: it would be accepted.').waitFor();
  await save();

  // A default has to be valid, too.
  await defaults.getByLabel('Default', { exact: true }).selectOption('literal');
  await defaults.getByLabel('Value').fill('AB-1');
  await pressSave();
  await defaults.getByText(/is shorter than 9 characters/).waitFor();
  await defaults.getByLabel('Default', { exact: true }).selectOption('uploading_user');
  await save();
  const default_value = { kind: 'context', context: 'uploading_user' };
  expect(await stored()).toMatchObject({ regexp_filter: '[A-Z]{2}-\\d+', default_value });

  // Another user saved first, so their value is not overwritten without a warning.
  const naming = section('Name');
  await naming.getByLabel('Description').fill('Mine');
  await call(mara, 'PATCH', `/fields/${id}`, { description: 'Theirs' });
  await pressSave();
  await naming.getByText(/the field has changed/i).waitFor();
  await expect.poll(async () => (await stored()).description).toBe('Theirs');
  await save();
  await expect.poll(async () => (await stored()).description).toBe('Mine');

  // Deprecates the field and names its replacement.
  await section('Status').getByRole('radio', { name: 'Deprecated' }).check();
  await section('Status').getByLabel('Replaced by').selectOption('Title');
  await save();
  const deprecated = { status: 'deprecated', deprecated_replacement_id: expect.any(String) };
  expect(await stored()).toMatchObject(deprecated);
});

test('builds a display condition and previews it', async () => {
  await open(camera);
  const shown = section('When it is shown');
  await shown.getByText('It is always shown.').waitFor();
  await shown.getByRole('button', { name: 'Add a line' }).click();
  await shown.getByLabel('Shown when: field').selectOption('Kind');
  // An incomplete line is not sent.
  await pressSave();
  const condition = async () => (await read(camera.id)).display_condition;
  expect(await condition()).toBeNull();
  await shown.getByLabel('Value', { exact: true }).selectOption('drawing');
  const preview = mara.getByRole('group', { name: 'Preview of the form' });
  await preview.getByText('Kind is “Drawing by hand”').waitFor();
  await preview.getByText('Camera is hidden.').waitFor();
  await preview.getByLabel('Kind').selectOption('drawing');
  await preview.getByText('Camera is shown.').waitFor();
  await save();
  await expect.poll(condition).toEqual(['kind=drawing']);
});

test('pastes a tree of terms, moves, renames, retires and merges terms', async () => {
  await open(place);
  const form = mara.getByRole('dialog');
  await mara.getByRole('button', { name: 'Add terms' }).click();
  await form.getByLabel('Terms').fill('Europe\n  Germany | de\n    Hamburg\n  France\nAsia');
  await form.getByRole('button', { name: 'Add 5 terms' }).click();
  const terms = mara.getByRole('list', { name: 'Terms' });
  await terms.getByRole('button', { name: /^Hamburg/ }).waitFor();
  await dialogClosed(mara, mara.getByRole('button', { name: 'Add terms' }));
  const europe = { value: 'europe', label: 'Europe' };
  const germany = { value: 'de', label: 'Germany', children: [{ value: 'hamburg', label: 'Hamburg' }] };
  const france = { value: 'france', label: 'France' };
  const asia = { value: 'asia', label: 'Asia' };
  const values = async () => (await read(place.id)).options.values;
  await expect.poll(values).toEqual([{ ...europe, children: [germany, france] }, asia]);

  // By pointer, into a term.
  const row = (value: string) => mara.locator(`[data-row="${value}"]`);
  await dragTo(moveHandle('France'), row('asia'), 0.5);
  const moved = [
    { ...europe, children: [germany] },
    { ...asia, children: [france] },
  ];
  await expect.poll(values).toEqual(moved);

  // A name, an alias that is in use, and a lifetime.
  await terms.getByRole('button', { name: /^Hamburg/ }).click();
  await form.getByLabel('Name', { exact: true }).fill('Hamburg (Elbe)');
  await form.getByLabel('Also known as').fill('Hansestadt, France');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('"france" is the value of "france"').waitFor();
  await expect.poll(() => form.getByLabel('Also known as').getAttribute('aria-invalid')).toBe('true');
  await form.getByLabel('Also known as').fill('Hansestadt');
  await form.getByRole('radio', { name: 'Deprecated' }).check();
  await form.getByRole('button', { name: 'Save' }).click();
  await terms.getByText('also hansestadt').waitFor();
  await row('hamburg').getByText('Deprecated').waitFor();
  await dialogClosed(mara, terms.getByRole('button', { name: /^Hamburg/ }));

  // Merges after a preview of the changes.
  await terms.getByRole('button', { name: /^France/ }).click();
  await form.getByRole('button', { name: 'Merge into another' }).click();
  await mara.getByRole('heading', { name: 'Merge France into another' }).waitFor();
  await form.getByRole('radio', { name: /Asia$/ }).check();
  await form.getByLabel('Reason').fill('For the test');
  await form.getByRole('button', { name: 'See what would change' }).click();
  await form.getByText(/^It is not used/).waitFor();
  await form.getByRole('button', { name: 'Merge', exact: true }).click();
  await row('france').getByText('Now asia').waitFor();
});

test('reorders fields by keyboard and mouse, searches, archives and restores a field', async () => {
  await visit(mara, '/admin/fields');
  const shelf = mara.getByRole('list', { name: 'Assets, Shelf' });
  const names = () => shelf.getByRole('link').allInnerTexts();
  await shelf.waitFor();
  await expect.poll(() => names()).toEqual(['First', 'Middle']);

  await moveHandle('First').focus();
  await mara.keyboard.press('ArrowDown');
  await mara.getByText('First is now 2 of 2 in Shelf.').waitFor();
  await expect.poll(() => names()).toEqual(['Middle', 'First']);
  await expect.poll(() => isFocused(moveHandle('First'))).toBe(true);

  // Moves it to another group by pointer; the service has the same order.
  await dragTo(moveHandle('Third'), mara.locator(`[data-row="${first.id}"]`), 0.2);
  await expect.poll(names).toEqual(['Middle', 'Third', 'First']);
  await expect.poll(async () => (await read(third.id)).display_group).toBe('Shelf');

  await mara.getByLabel('Search fields').fill('midd');
  await expect.poll(names).toEqual(['Middle']);
  await mara.getByRole('button', { name: 'Archive: Middle' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Archive' }).click();
  await mara.getByText('No matching fields.').waitFor();
  await expect.poll(async () => (await read(middle.id)).status).toBe('archived');
  await mara.getByRole('button', { name: 'Show all fields' }).click();
  await shelf.getByText('Archived', { exact: true }).waitFor();
  await mara.getByRole('button', { name: 'Restore: Middle' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Restore' }).click();
  await mara.getByRole('button', { name: 'Archive: Middle' }).waitFor();
});
