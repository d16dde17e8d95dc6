import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fillAssets } from '../../src/content/extraction/fill.ts';
import { define } from '../fields/values/fields.ts';
import { openLibrary, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { plainFile } from '../support/pictures.ts';

let asset: string;
/** A concurrent transaction that is paused. */
let other: pg.PoolClient;

/** Values that are written while their definitions change cause no deadlock, and none is stale. */
const library = await openLibrary();
const root = await library.join('root', 'admin');
const hash = (await upload(root, plainFile())).file_hash ?? '';

const create = async () => (await root.ok('createAsset', { body: { file_hash: hash } })).id;

beforeEach(async () => {
  asset = await create();
  other = await library.database.pool.connect();
  await other.query('begin');
});

afterEach(async () => {
  await other.query('rollback');
  other.release();
});

/** Waits until this many transactions wait for a lock. */
const waiting = async (count: number) => expect(await comeToWait(library.deps.db, count)).toBe(true);

/** Throws if another transaction holds a lock on the search document of the asset. */
const takeDocument = () =>
  other.query('select from asset_documents where asset_id = $1 for update nowait', [asset]);

const put = (field_id: string, body: object) =>
  root.send(`/assets/${asset}/fields/${field_id}`, { method: 'PUT', body });

const valueIn = async (field_id: string) =>
  (await root.ok('listAssetFieldValues', { params: { id: asset } })).items.find(
    (value) => value.field_id === field_id,
  );

const merge = (id: string) =>
  root.ok('mergeFieldTerms', { params: { id }, body: { source: 'old', target: 'new', reason: 'the same' } });

/** Fills these text fields from the asset's file. */
const fill = (ids: readonly string[]) =>
  fillAssets(
    library.deps.db,
    { hash, asset },
    ids.map((id) => ({ id, code: id, type: 'text', source: 'title', mode: 'replace', applies_to: [] })),
    { title: { value: 'Pier', from: 'xmp' } },
  );

// FIELD-41
describe('a change of a definition that rewrites search documents', () => {
  test('does not deadlock with an extraction job that fills several fields', async () => {
    const ids = [await define(library, 'text'), await define(library, 'text')].sort();
    await other.query('select from fields where id = $1 for update', [ids[1]]);
    const filled = fill(ids);
    await waiting(1);
    await takeDocument();
    await other.query('commit');
    expect(await filled).toEqual({ assets: 1, values: 2 });
  });

  test('does not wait for an extraction job that waits for its asset', async () => {
    const id = await define(library, 'text');
    await other.query('select from assets where id = $1 for update', [asset]);
    const filled = fill([id]);
    await waiting(1);
    await other.query('select from fields where id = $1 for update nowait', [id]);
    await other.query('commit');
    expect(await filled).toEqual({ assets: 1, values: 1 });
  });

  test('waits for other changes of definitions before it writes the first document', async () => {
    const field = await define(library, 'select', { terms: [{ value: 'old' }, { value: 'new' }] });
    await put(field, { value_text: 'old' });
    await other.query('update fields_epoch set epoch = epoch + 1');
    const merged = merge(field);
    await waiting(1);
    await takeDocument();
    await other.query('commit');
    expect((await merged).assets).toBe(1);
    expect((await valueIn(field))?.value_text).toBe('new');
  });
});

test('a new asset does not keep a default whose term is merged concurrently', async () => {
  const field = await define(library, 'select', {
    terms: [{ value: 'old' }, { value: 'new' }],
    default_value: { kind: 'literal', value_text: 'old' },
  });
  await other.query('lock table asset_field_values in share mode');
  const made = create();
  await waiting(1);
  const merged = merge(field);
  await waiting(2);
  await other.query('commit');
  asset = await made;
  expect((await merged).assets).toBe(1);
  expect((await valueIn(field))?.value_text).toBe('new');
});

// VALUE-24
test('a reference to an asset that is deleted while it is written is 409, and nothing is written', async () => {
  const field = await define(library, 'reference');
  const named = await create();
  await other.query('lock table asset_field_values in share mode');
  const written = put(field, { value_ref: named });
  await waiting(1);
  await other.query('update assets set deleted_at = now() where id = $1', [named]);
  await other.query('commit');
  expect((await written).status).toBe(409);
  await library.deps.db.updateTable('assets').set({ deleted_at: null }).where('id', '=', named).execute();
  expect(await valueIn(field)).toBeUndefined();
});
