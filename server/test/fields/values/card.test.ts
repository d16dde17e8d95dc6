import type { FieldType } from '@vitrine/contract/fields';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { arrive } from '../../posts/people.ts';
import type { Visitor } from '../../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { countStatements } from '../../support/statements.ts';
import { type Defined, define } from './fields.ts';

let library: Library;
let owner: Account;
let stranger: Account;
let asset: string;

beforeAll(async () => {
  library = await openLibrary();
  owner = await arrive(library, 'owner');
  stranger = await arrive(library, 'stranger');
  asset = (await upload(owner, plainFile())).id;
});

afterEach(async () => {
  await library.deps.db
    .updateTable('fields')
    .set({ status: 'archived' })
    .where('mirrors_column', 'is', null)
    .execute();
});

type Columns = {
  value_text?: string;
  value_num?: number;
  value_date?: string;
  value_options?: string[];
  value_ref?: string;
};

async function shown(
  type: FieldType,
  code: string,
  columns: Columns,
  defined: Defined = {},
): Promise<string> {
  const field_id = await define(library, type, {
    show_on_card: true,
    label: code.toUpperCase(),
    ...defined,
    code,
  });
  await library.deps.db
    .insertInto('asset_field_values')
    .values({ asset_id: asset, field_id, set_by: 'import', ...columns })
    .execute();
  return field_id;
}

/** Returns the card values of the asset: null if it has none, undefined if it is withheld. */
async function strip(as: Visitor = stranger) {
  const read = await as.ok('getAsset', { params: { id: asset } });
  if (read.restricted) {
    expect(Object.keys(read)).not.toContain('card_fields');
    return undefined;
  }
  return 'card_fields' in read ? read.card_fields : null;
}

const words = async (as: Visitor = stranger) =>
  (await strip(as))?.map(({ code, value }) => `${code}: ${value}`);

// VALUE-18
describe('card_fields of an asset', () => {
  // ASSET-30
  test('are left out when nothing applies', async () => {
    await shown('text', 'unshown', { value_text: 'x' }, { show_on_card: false });
    await shown('text', 'blank', { value_text: '  ' });
    await define(library, 'text', { code: 'empty', show_on_card: true });
    expect(await strip()).toBeNull();
  });

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
    await library.deps.db
      .updateTable('fields')
      .set({ status: 'archived' })
      .where('mirrors_column', 'is', null)
      .execute();
    await shown('select', 'g_select', { value_text: 'red' }, { terms });
    await shown('multi_select', 'h_multi', { value_options: ['blue', 'red', 'unheard-of'] }, { terms });
    await shown('tree', 'i_tree', { value_text: 'red' }, { terms });
    await shown('reference', 'j_reference', { value_ref: target.id });
    expect(await words()).toEqual([
      'g_select: Crimson',
      'h_multi: Blue, Crimson, unheard-of',
      'i_tree: Crimson',
      'j_reference: Target',
    ]);
    await owner.ok('updateAsset', { params: { id: target.id }, body: { sensitivity: 'restricted' } });
    expect(await words()).toEqual([
      'g_select: Crimson',
      'h_multi: Blue, Crimson, unheard-of',
      'i_tree: Crimson',
    ]);
    expect((await words(owner))?.length).toBe(4);
  });

  // ASSET-30
  test('are at most six, in display order', async () => {
    for (const n of [7, 3, 5, 1, 2, 6, 4, 8])
      await shown('text', `n${n}`, { value_text: `${n}` }, { display_order: n });
    expect((await strip())?.map(({ value }) => value)).toEqual(['1', '2', '3', '4', '5', '6']);
  });

  // FIELD-12, VALUE-18, VALUE-25
  test('belong to active fields of the type without a read capability', async () => {
    await shown('text', 'gated', { value_text: 'x' }, { show_on_card: false, read_capability: 'jobs.read' });
    await shown('text', 'old', { value_text: 'x' }, { status: 'deprecated' });
    await shown('text', 'away', { value_text: 'x' }, { status: 'archived' });
    await shown('text', 'films', { value_text: 'x' }, { applies_to: [3] });
    await shown('text', 'kept', { value_text: 'x' });
    expect(await words()).toEqual(['kept: x']);
  });

  // VALUE-18
  test('appear in lists and posts, but never on a withheld asset', async () => {
    await shown('text', 'note', { value_text: 'x' });
    const post = await publish(owner, [{ id: asset }], { visibility: 'public' });
    const memberOf = async (as: Visitor) => (await as.ok('getPost', { params: { id: post.id } })).members[0];
    const listed = async (as: Visitor) =>
      (await as.ok('listAssets', {})).items.find(({ id }) => id === asset);
    const strip = [{ code: 'note', label: 'NOTE', value: 'x' }];
    expect(await memberOf(stranger)).toMatchObject({ asset: { card_fields: strip } });
    expect(await listed(stranger)).toMatchObject({ card_fields: strip });
    await library.setPublicMode(true);
    expect(await listed(library.anonymous())).toMatchObject({ card_fields: strip });
    await owner.ok('updateAsset', { params: { id: asset }, body: { sensitivity: 'restricted' } });
    expect(await listed(library.anonymous())).toBeUndefined();
    await library.setPublicMode(false);
    expect(JSON.stringify(await listed(stranger))).not.toContain('card_fields');
    expect(JSON.stringify(await memberOf(stranger))).not.toContain('NOTE');
    expect(await listed(owner)).toMatchObject({ card_fields: strip });
    await owner.ok('updateAsset', { params: { id: asset }, body: { sensitivity: 'public' } });
  });

  test('need no additional statement', async () => {
    const count = async () => (await countStatements(library, () => stranger.ok('listAssets', {})))[1];
    await count();
    const without = await count();
    for (const n of [1, 2, 3]) await shown('text', `cost${n}`, { value_text: 'x' });
    expect(await count()).toBe(without);
    expect((await strip())?.length).toBe(3);
  });
});
