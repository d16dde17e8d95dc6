import type { FieldType } from '@vitrine/contract/fields';
import { afterEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../../support/client.ts';
import { openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { countStatements } from '../../support/statements.ts';
import { archiveFields, type Columns, type Defined, define, store } from './fields.ts';

const library = await openLibrary();
const [owner, stranger] = await library.joinAll('owner', 'stranger');
const asset = (await upload(owner, plainFile())).id;

afterEach(() => archiveFields(library));

async function shown(type: FieldType, code: string, columns: Columns, defined: Defined = {}): Promise<void> {
  const label = code.toUpperCase();
  const field = await define(library, type, { show_on_card: true, label, ...defined, code });
  await store(library, asset, field, columns);
}

/** Returns the card values of the asset, or null if it has none. */
async function strip(as: Visitor = stranger) {
  const read = await as.ok('getAsset', { params: { id: asset } });
  return 'card_fields' in read ? read.card_fields : null;
}

const words = async (as?: Visitor) => (await strip(as))?.map(({ code, value }) => `${code}: ${value}`);

describe('card_fields of an asset', () => {
  test('format values of each type as text', async () => {
    const target = await upload(owner, plainFile(), { title: 'Target' });
    const terms = [
      { value: 'red', label: 'Crimson' },
      { value: 'blue', label: 'Blue', status: 'deprecated' as const },
    ];
    await shown('text', 'a_text', { value_text: 'x'.repeat(500) });
    await shown('rich_text', 'b_rich', { value_text: '<p>a &lt;b&gt; &amp;amp; c</p>' });
    await shown('number', 'c_number', { value_num: 2.5 });
    await shown('boolean', 'd_boolean', { value_num: 1 });
    await shown('date', 'e_date', { value_date: '2024-02-29T00:00:00Z' });
    await shown('datetime', 'f_datetime', { value_date: '2024-02-29T12:30:00Z' });
    expect(await strip()).toEqual([
      { code: 'a_text', label: 'A_TEXT', value: 'x'.repeat(200) },
      { code: 'b_rich', label: 'B_RICH', value: 'a <b> &amp; c' },
      { code: 'c_number', label: 'C_NUMBER', value: '2.5' },
      { code: 'd_boolean', label: 'D_BOOLEAN', value: 'true' },
      { code: 'e_date', label: 'E_DATE', value: '2024-02-29' },
      { code: 'f_datetime', label: 'F_DATETIME', value: '2024-02-29T12:30:00Z' },
    ]);
    await archiveFields(library);
    await shown('select', 'g_select', { value_text: 'red' }, { terms });
    await shown('multi_select', 'h_multi', { value_options: ['blue', 'red', 'unheard-of'] }, { terms });
    await shown('tree', 'i_tree', { value_text: 'red' }, { terms });
    await shown('reference', 'j_reference', { value_ref: target.id });
    const named = ['g_select: Crimson', 'h_multi: Blue, Crimson, unheard-of', 'i_tree: Crimson'];
    expect(await words()).toEqual([...named, 'j_reference: Target']);
    await owner.ok('updateAsset', { params: { id: target.id }, body: { sensitivity: 'restricted' } });
    expect([await words(), (await words(owner))?.length]).toEqual([named, 4]);
  });

  // ASSET-30
  test('are at most six, in display order', async () => {
    for (const n of [7, 3, 5, 1, 2, 6, 4])
      await shown('text', `n${n}`, { value_text: `${n}` }, { display_order: n });
    expect((await strip())?.map(({ value }) => value)).toEqual(['1', '2', '3', '4', '5', '6']);
  });

  test('need no additional statement', { tags: ['one-process'] }, async () => {
    const count = async () => (await countStatements(library, () => stranger.ok('listAssets', {})))[1];
    await count();
    const without = await count();
    for (const n of [1, 2, 3]) await shown('text', `cost${n}`, { value_text: 'x' });
    expect(await count()).toBe(without);
  });

  // ASSET-30, FIELD-12, VALUE-18, VALUE-25
  test('belong to active fields of the type that are shown on cards and have no read capability', async () => {
    await shown('text', 'unshown', { value_text: 'x' }, { show_on_card: false });
    await shown('text', 'blank', { value_text: '  ' });
    await shown('text', 'gated', { value_text: 'x' }, { show_on_card: false, read_capability: 'jobs.read' });
    await shown('text', 'old', { value_text: 'x' }, { status: 'deprecated' });
    await shown('text', 'away', { value_text: 'x' }, { status: 'archived' });
    await shown('text', 'films', { value_text: 'x' }, { applies_to: [3] });
    await define(library, 'text', { code: 'empty', show_on_card: true });
    expect(await strip()).toBeNull();
    await shown('text', 'kept', { value_text: 'x' });
    expect(await words()).toEqual(['kept: x']);
  });
});
