import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { define } from './fields.ts';

let library: Library;
let root: Account;
let asset: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  asset = (await upload(root, plainFile(), {}, 'notes.txt')).id;
});

const open = (terms: readonly { value: string; label?: string }[] = []) =>
  define(library, 'multi_select', { open_vocabulary: true, terms });

async function naming(field_id: string, ...value_options: string[]) {
  const value = await root.ok('setAssetFieldValue', {
    params: { id: asset, field_id },
    body: { value_options },
  });
  return value.value_options;
}

/** A letter with a combining accent, which some systems write to file metadata. */
const apart = 'Café noir'.normalize('NFD');

// TERM-8
describe('a new term can be named by its label from then on', () => {
  // TERM-8
  test('however its accents are composed', async () => {
    const field = await open();
    for (const text of [apart, apart, 'Café noir', 'CAFÉ NOIR'])
      expect(await naming(field, text)).toEqual(['cafe-noir']);
    const { values } = await root.ok('listFieldValues', { params: { id: field }, query: { q: apart } });
    expect(values.map(({ label }) => label)).toEqual(['Café noir']);
  });

  test('also beside others with similar slugs, in any order', async () => {
    const field = await open();
    const given = ['C++', 'C', 'C#'];
    expect(await naming(field, ...given)).toEqual(['c-2', 'c', 'c-3']);
    expect(await naming(field, ...given)).toEqual(['c-2', 'c', 'c-3']);
  });

  // TERM-8
  test('and does not take the name of another', async () => {
    const field = await open([{ value: 'portal', label: 'Yahoo' }]);
    expect(await naming(field, 'Yahoo!')).toEqual(['yahoo-2']);
    expect(await naming(field, 'Yahoo', 'Yahoo!')).toEqual(['portal', 'yahoo-2']);
  });
});

// TERM-6
describe('a slug in a document of terms', () => {
  // TERM-6
  test('is kept with its accents composed, and so are those that refer to it', async () => {
    const cafe = 'café'.normalize('NFD');
    const { id, code, options } = await root.ok('createField', {
      body: {
        code: 'house',
        label: 'House',
        type: 'tree',
        options: {
          values: [
            { value: cafe, children: [`${cafe}-1`] },
            { value: 'old', status: 'archived', replaced_by: `${cafe}-1` },
          ],
        },
        default_value: { kind: 'literal', value_text: `${cafe}-1` },
      },
    });
    expect(options.values).toEqual([
      { value: 'café', children: ['café-1'] },
      { value: 'old', status: 'archived', replaced_by: 'café-1' },
    ]);
    await root.ok('addFieldTerms', {
      params: { id },
      body: { terms: [{ value: `${cafe}-2`, parent: cafe }] },
    });
    for (const value_text of [`${cafe}-2`, 'CAFÉ-2']) {
      const body = { value_text };
      const value = await root.ok('setAssetFieldValue', { params: { id: asset, field_id: id }, body });
      expect(value.value_text).toBe('café-2');
    }
    const filter = [`field:${code}=${cafe}`];
    expect((await root.ok('listAssets', { query: { filter } })).items.map((one) => one.id)).toEqual([asset]);
  });

  test('that already exists in decomposed form keeps its stored spelling', async () => {
    const cafe = 'café'.normalize('NFD');
    const field = await define(library, 'multi_select', { code: 'older', terms: [{ value: cafe }] });
    expect(await naming(field, cafe)).toEqual([cafe]);
    const { items } = await root.ok('listAssets', { query: { filter: [`field:older=${cafe}`] } });
    expect(items.map(({ id }) => id)).toEqual([asset]);
  });
});
