import type { Texts } from '@vitrine/contract/texts';
import { expect, test } from 'vitest';
import { openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define, notChanged } from './define.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');

// LANGUAGE-5
test('the label of a field and of its terms is shown in the language of the reader', async () => {
  const field = await define(root, {
    label: 'Season',
    type: 'multi_select',
    options: { values: [{ value: 'winter', label: 'Winter', translations: { fr: 'Hiver' } }, 'summer'] },
  });
  expect(field.translations).toEqual({});
  const changed = await change(root, field.id, { translations: { fr: 'Saison', ja: '季節' } });
  expect(changed).toMatchObject({ label: 'Season', translations: { fr: 'Saison', ja: '季節' } });
  expect(changed.options.values).toEqual([
    { value: 'winter', label: 'Winter', translations: { fr: 'Hiver' } },
    'summer',
  ]);
  const asset = await upload(root, plainFile());
  const params = { id: asset.id, field_id: field.id };
  await root.ok('setAssetFieldValue', { params, body: { value_options: ['winter', 'summer'] } });
  const shown = async (language: string) => {
    await root.ok('updatePreferences', { body: { language } });
    const { items } = await root.ok('listAssetFieldValues', { params: { id: asset.id } });
    const value = items.find(({ field_id }) => field_id === field.id);
    return [value?.field_label, ...(value?.resolved_options ?? []).map(({ label }) => label)];
  };
  expect(await shown('fr')).toEqual(['Saison', 'Hiver', 'summer']);
  expect(await shown('ja')).toEqual(['季節', 'Winter', 'summer']);
  expect(await shown('de')).toEqual(['Season', 'Winter', 'summer']);
  expect((await change(root, field.id, { translations: {} })).translations).toEqual({});
});

// LANGUAGE-5
test('terms and the files that have them are found by their labels in every language', async () => {
  const field = await define(root, {
    label: 'Place',
    type: 'select',
    options: {
      values: [
        { value: 'harbour', label: 'Harbour' },
        { value: 'tower', label: 'Tower' },
      ],
    },
  });
  const asset = await upload(root, plainFile(), { title: 'At the sea' });
  const body = { value_text: 'harbour' };
  await root.ok('setAssetFieldValue', { params: { id: asset.id, field_id: field.id }, body });
  const term = await root.ok('updateFieldTerm', {
    params: { id: field.id, value: 'harbour' },
    body: { translations: { de: 'Hafenbecken', pl: 'Przystań' } },
  });
  expect(term).toMatchObject({ label: 'Harbour', translations: { de: 'Hafenbecken', pl: 'Przystań' } });
  const offered = async (q: string, match: 'prefix' | 'substring' = 'substring') => {
    const { values } = await root.ok('listFieldValues', { params: { id: field.id }, query: { q, match } });
    return values.map(({ value }) => value);
  };
  expect(await offered('hafen', 'prefix')).toEqual(['harbour']);
  expect(await offered('PRZYSTAŃ')).toEqual(['harbour']);
  expect(await offered('becken')).toEqual(['harbour']);
  expect(await offered('becken', 'prefix')).toEqual([]);
  await library.runJobs();
  const { items } = await root.ok('search', { query: { q: 'Hafenbecken' } });
  expect(items.map((hit) => hit.kind)).toContain('asset');
});

// LANGUAGE-5
test('translations are labels by languages of the pages', async () => {
  const field = await define(root, { type: 'select', options: { values: ['a'] } });
  expect(await notChanged(root, field.id, { translations: { tlh: 'x' } })).toContain('tlh');
  expect(await notChanged(root, field.id, { translations: { de: ' ' } })).toContain('de');
  const values = [{ value: 'a', translations: { tlh: 'x' } }];
  expect(await notChanged(root, field.id, { options: { values } })).toContain('translations.tlh');
  expect(
    await notChanged(root, field.id, { options: { values: [{ value: 'a', translations: 'x' }] } }),
  ).toContain('"a"');
});

// LANGUAGE-5
test('the texts of the operator have translations, which pages receive with them', async () => {
  const texts: Texts = {
    footer: 'Harbour Studio',
    translations: { de: { footer: 'Hafenstudio' }, fr: { footer: ' ' } },
  };
  const stored = { footer: 'Harbour Studio', translations: { de: { footer: 'Hafenstudio' } } };
  expect(await root.ok('setTexts', { body: { texts } })).toEqual({ texts: stored });
  expect((await library.anonymous().ok('getAppearance')).texts).toEqual(stored);
  expect(await root.ok('setTexts', { body: { texts: {} } })).toEqual({ texts: {} });
});
