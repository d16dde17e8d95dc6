import type { GivenValue, ValueWrite } from '@vitrine/contract/field-values';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { purge } from '../../../src/content/trash/jobs/purge.ts';
import type { Visitor } from '../../support/client.ts';
import { openLibrary } from '../../support/library.ts';
import { bearer } from '../../support/people.ts';
import { archiveFields, define } from './fields.ts';

let shelf: string;

const kind = { subject_kind: 'collection' } as const;

const library = await openLibrary();
const root = await library.join('root', 'admin');
const owner = await library.join('owner');

beforeEach(async () => {
  shelf = (await owner.ok('createCollection', { body: { name: 'Shelf' } })).id;
});

afterEach(() => archiveFields(library));

const at = (field_id: string, id = shelf) => ({ params: { id, field_id } });
const put = (field_id: string, body: ValueWrite, as: Visitor = owner) =>
  as.ok('setCollectionFieldValue', { ...at(field_id), body });
const refusal = async (field_id: string, body: ValueWrite, as: Visitor = owner, id = shelf) =>
  (await as.refused('setCollectionFieldValue', { ...at(field_id, id), body })).status;
const clear = (field_id: string, id = shelf) =>
  owner.ok('clearCollectionFieldValue', { ...at(field_id, id), body: undefined });
const values = async (id = shelf) =>
  (await owner.ok('listCollectionFieldValues', { params: { id } })).items.map(
    ({ field_code, value_text, set_by }) => [field_code, value_text, set_by],
  );
const create = (field_values: GivenValue[], as: Visitor = owner) =>
  as.ok('createCollection', { body: { name: 'New', field_values } });
const refusedCreate = (field_values: GivenValue[], as: Visitor = owner) =>
  as.refused('createCollection', { body: { name: 'New', field_values } });

describe('field values of a collection', () => {
  // VALUE-12, VALUE-21
  test('are written, cleared and kept in a history, which goes with the collection', async () => {
    const field = await define(library, 'text', { ...kind, code: 'note' });
    const script = await bearer(library, owner, ['posts.write']);
    const by = { set_by: 'manual', set_by_user_ref: owner.ref };
    expect(await put(field, { value_text: 'x' })).toMatchObject(by);
    expect(await put(field, { value_text: 'y' }, root)).toMatchObject({ set_by_user_ref: root.ref });
    expect(await put(field, { value_text: 'z' }, script)).toMatchObject({ set_by: 'api' });
    expect(await values()).toEqual([['note', 'z', 'api']]);
    await clear(field);
    expect(await values()).toEqual([]);
    const { items } = await owner.ok('listCollectionFieldHistory', at(field));
    expect(items.map(({ after }) => after?.value_text ?? null)).toEqual([null, 'z', 'y', 'x']);
    await put(field, { value_text: 'x' });
    const { db } = library.deps;
    const deleted = { deleted_at: '2020-01-01T00:00:00Z' };
    await db.updateTable('collections').set(deleted).where('id', '=', shelf).execute();
    await purge(db);
    const history = db.selectFrom('field_value_history').select('id').where('subject_id', '=', shelf);
    expect(await history.execute()).toEqual([]);
  });

  // VALUE-21
  test('have the types, terms, patterns and preconditions of values of assets', async () => {
    const terms = [{ value: 'red', label: 'Crimson' }];
    const select = await define(library, 'select', { ...kind, terms });
    expect(await put(select, { value_text: 'crimson' })).toMatchObject({
      value_text: 'red',
      resolved_options: [{ value: 'red', label: 'Crimson', status: 'active' }],
    });
    expect(await refusal(select, { value_text: 'green' })).toBe(422);
    const number = await define(library, 'number', kind);
    expect(await refusal(number, { value_text: '1' })).toBe(400);
    const coded = await define(library, 'text', { ...kind, regexp_filter: '[0-9]+' });
    expect(await refusal(coded, { value_text: 'x' })).toBe(422);
    const first = await put(coded, { value_text: '1', if_absent: true });
    await put(coded, { value_text: '2', if_unchanged_since: first.set_at });
    expect(await refusal(coded, { value_text: '3', if_unchanged_since: first.set_at })).toBe(409);
    const open = await define(library, 'multi_select', { ...kind, open_vocabulary: true });
    expect((await put(open, { value_options: ['New one'] })).value_options).toEqual(['new-one']);
  });
});

describe('a new collection', () => {
  // COLLECTION-15
  test('without a value of a required field is 422, named, and is not made', async () => {
    const required = { ...kind, required: true };
    for (const defined of [
      { ...required, code: 'brief' },
      { ...required, code: 'theme' },
      // The caller cannot see or write these fields, so they are not required.
      { ...required, code: 'unseen', read_capability: 'jobs.read' },
      { ...required, code: 'not_mine', write_capability: 'jobs.read' },
      { ...required, code: 'defaulted', default_value: { kind: 'literal', value_text: 'x' } },
      { required: true, code: 'of_assets' },
    ])
      await define(library, 'text', defined);
    const count = async () => (await library.deps.db.selectFrom('collections').select('id').execute()).length;
    const before = await count();
    const theme = { field_code: 'theme', value_text: 'y' };
    expect(await refusedCreate([])).toEqual({ status: 422, error: 'required: brief, theme' });
    expect(await refusedCreate([theme])).toEqual({ status: 422, error: 'required: brief' });
    expect((await owner.refused('createCollection', { body: { name: 'New' } })).status).toBe(422);
    expect(await count()).toBe(before);
    const { id } = await create([theme, { field_code: 'brief', value_text: 'z' }]);
    expect(await values(id)).toEqual([
      ['brief', 'z', 'manual'],
      ['defaulted', 'x', 'default'],
      ['theme', 'y', 'manual'],
    ]);
    // It applies to creation only: a required value may be removed.
    const { items } = await owner.ok('listCollectionFieldValues', { params: { id } });
    await clear(items[2]?.field_id ?? '', id);
  });

  // FIELD-17
  test('may be given a read-only field’s first value; every later write is refused', async () => {
    const field = await define(library, 'text', { ...kind, code: 'sealed', read_only: true });
    const { id } = await create([{ field_code: 'sealed', value_text: 'once' }]);
    const sealed = { status: 403, error: 'sealed is read-only' };
    for (const collection of [id, shelf])
      for (const who of [owner, root]) {
        expect(await refusal(field, { value_text: 'again' }, who, collection)).toBe(403);
        const clearing = { ...at(field, collection), body: undefined };
        expect(await who.refused('clearCollectionFieldValue', clearing)).toEqual(sealed);
      }
    expect([await values(id), await values(shelf)]).toEqual([[['sealed', 'once', 'manual']], []]);
  });

  // VALUE-19
  test('is not made with invalid values, or with those that the caller may not write', async () => {
    const strict = { read_only: true, regexp_filter: '[0-9]+', write_capability: 'jobs.read' };
    await define(library, 'text', { ...kind, ...strict, code: 'strict' });
    await define(library, 'text', { ...kind, code: 'plain' });
    await define(library, 'text', { code: 'asset_field' });
    expect((await refusedCreate([{ field_code: 'strict', value_text: '1' }])).status).toBe(403);
    expect((await refusedCreate([{ field_code: 'strict', value_text: 'x' }], root)).status).toBe(422);
    expect((await refusedCreate([{ field_code: 'asset_field', value_text: 'x' }])).status).toBe(404);
    expect((await refusedCreate([{ field_code: 'plain', value_num: 1 }])).status).toBe(400);
    await create([{ field_code: 'strict', value_text: '1' }], root);
  });
});
