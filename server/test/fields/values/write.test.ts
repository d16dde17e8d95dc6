import { type FieldType, fieldTypes } from '@vitrine/contract/field-types';
import type { FieldValue, ValueWrite } from '@vitrine/contract/field-values';
import { describe, expect, test } from 'vitest';
import { purge } from '../../../src/content/trash/jobs/purge.ts';
import type { Visitor } from '../../support/client.ts';
import { openLibrary, upload } from '../../support/library.ts';
import { pagesOf } from '../../support/pages.ts';
import { actAs, bearer, nowhere } from '../../support/people.ts';
import { plainFile } from '../../support/pictures.ts';
import { countStatements } from '../../support/statements.ts';
import { type Defined, define, fieldValueOf } from './fields.ts';
import { optionsFor, samplesFor } from './samples.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [owner, stranger] = await library.joinAll('owner', 'stranger');
const hash = (await upload(owner, plainFile())).file_hash ?? '';
const asset = await addAsset();

/** Creates a public asset of the owner. */
async function addAsset(title = 'Ridge'): Promise<string> {
  const body = { file_hash: hash, sensitivity: 'public' as const, title };
  return (await owner.ok('createAsset', { body })).id;
}

const put = (field_id: string, body: ValueWrite, as: Visitor = owner, id = asset) =>
  as.ok('setAssetFieldValue', { params: { id, field_id }, body });
const refusal = (field_id: string, body: ValueWrite, as: Visitor = owner, id = asset) =>
  as.refused('setAssetFieldValue', { params: { id, field_id }, body });
const clear = (field_id: string, id = asset) =>
  owner.ok('clearAssetFieldValue', { params: { id, field_id }, body: undefined });
const clearRefusal = (field_id: string, as: Visitor = owner) =>
  as.refused('clearAssetFieldValue', { params: { id: asset, field_id }, body: undefined });
const values = async (as: Visitor = owner, id = asset) =>
  (await as.ok('listAssetFieldValues', { params: { id } })).items;
const valueIn = (field_id: string, as: Visitor = owner, id = asset) => fieldValueOf(as, id, field_id);
const history = async (field_id: string, as: Visitor = owner) =>
  (await as.ok('listAssetFieldHistory', { params: { id: asset, field_id } })).items;
const sent = (field_id: string, body: unknown) =>
  owner.send(`/assets/${asset}/fields/${field_id}`, { method: 'PUT', body });
const setField = (id: string, set: Pick<Defined, 'status' | 'read_only'>) =>
  db.updateTable('fields').set(set).where('id', '=', id).execute();

// FIELD-2, VALUE-1, VALUE-13, VALUE-18
test.each(fieldTypes)(
  'a value of type %s is written, read, filtered, searched for and shown on cards',
  async (type) => {
    const id = await addAsset();
    const { given, read = given, matched, unmatched, word, card } = samplesFor(id)[type];
    const options = optionsFor(type);
    const code = `every_${type}`;
    const body = { code, label: code, type, ...(options === undefined ? {} : { options }) };
    const field = await root.ok('createField', { body });
    const params = { id: field.id };
    await root.ok('updateField', { params, body: { show_on_card: true } });
    expect(await put(field.id, given, owner, id)).toMatchObject({ type, ...read });
    expect(await fieldValueOf(stranger, id, field.id)).toMatchObject({ type, ...read });
    const found = async (filter: string) =>
      (await stranger.ok('listAssets', { query: { filter: [`field:${code}${filter}`] } })).items;
    const [shown] = await found(matched);
    expect(shown).toMatchObject({ id, card_fields: [{ code, value: card }] });
    expect(await found(unmatched)).toEqual([]);
    const searched = async (q: string) =>
      (await stranger.ok('search', { query: { q, kind: 'asset' } })).items;
    // Every value has words for cards; those of some types are not words that people search for.
    const hits = await searched(word ?? card);
    const highlights = hits.flatMap((hit) =>
      hit.kind === 'asset' && hit.asset.id === id ? hit.highlights : [],
    );
    expect(highlights.some((one) => one.source === 'field' && one.field_code === code)).toBe(word !== null);
    await root.ok('archiveField', { params });
  },
);

describe('a value', () => {
  // VALUE-1
  test.each<[FieldType, ValueWrite, Partial<FieldValue>]>([
    ['text', { value_text: '  Two  blanks 🏔️' }, { value_text: '  Two  blanks 🏔️' }],
    ['text', { value_text: 'x', value_num: null }, { value_text: 'x' }],
    ['rich_text', { value_text: '<p>A <b>b</b></p>' }, { value_text: '<p>A <b>b</b></p>' }],
    ['number', { value_num: -1.5 }, { value_num: -1.5 }],
    ['number', { value_num: 0 }, { value_num: 0 }],
    ['boolean', { value_num: 0 }, { value_num: 0 }],
    ['date', { value_date: '2024-02-29' }, { value_date: '2024-02-29T00:00:00Z' }],
    ['date', { value_date: '2026-11-21T23:30:00-05:00' }, { value_date: '2026-11-21T00:00:00Z' }],
    [
      'datetime',
      { value_date: '2026-11-21T23:30:00.5-05:00' },
      { value_date: '2026-11-21T23:30:00.5-05:00' },
    ],
  ])('is written in the member of its type and read back: %s %j', async (type, body, read) => {
    const field = await define(library, type);
    const written = await put(field, body);
    expect(written).toEqual({
      field_id: field,
      field_code: written.field_code,
      field_label: written.field_code,
      type,
      ...read,
      set_by: 'manual',
      set_at: written.set_at,
      set_by_user_ref: owner.ref,
    });
    expect(await valueIn(field)).toEqual(written);
  });

  // VALUE-1
  test.each<[FieldType, ValueWrite]>([
    ['text', { value_num: 1 }],
    ['text', {}],
    ['text', { value_text: '' }],
    ['text', { value_text: 'x'.repeat(2001) }],
    ['longtext', { value_text: 'x'.repeat(50_001) }],
    ['rich_text', { value_text: '<p></p><script>1</script>' }],
    ['boolean', { value_num: 0.5 }],
    ['date', { value_date: '2023-02-29' }],
    ['date', { value_date: '2024-2-3' }],
    ['date', { value_date: 'infinity' }],
    ['datetime', { value_date: '2024-01-01' }],
    ['datetime', { value_date: '2024-02-31T00:00:00Z' }],
    ['datetime', { value_date: '0001-01-01T00:00:00+14:00' }],
    ['multi_select', { value_options: [] }],
    ['select', { value_options: ['red'] }],
    ['reference', { value_text: nowhere }],
  ])('is 400 if it is none of its type, and is not stored: %s %j', async (type, body) => {
    const field = await define(library, type, { terms: [{ value: 'red' }] });
    expect((await refusal(field, body)).status).toBe(400);
    expect(await valueIn(field)).toBeUndefined();
  });

  test('is 400 if it is a number beyond all bounds', async () => {
    const field = await define(library, 'number');
    for (const body of ['{"value_num":1e400}', '{"value_num":-1e400}', '{"value_num":NaN}'])
      expect([body, (await sent(field, body)).status]).toEqual([body, 400]);
  });

  // VALUE-4
  test('is 422 beyond the options of its field', async () => {
    const cases: [FieldType, Record<string, unknown>, ValueWrite, ValueWrite][] = [
      ['text', { max_length: 3 }, { value_text: 'four' }, { value_text: '🏔️' }],
      ['rich_text', { max_length: 3 }, { value_text: 'a&amp;bc' }, { value_text: '<p>a&amp;b</p>' }],
      ['number', { min: 1, max: 5, integer: true }, { value_num: 2.5 }, { value_num: 2 }],
      ['number', { min: 1 }, { value_num: 0 }, { value_num: 1 }],
      ['date', { min: '2024-01-01' }, { value_date: '2023-12-31' }, { value_date: '2024-01-01' }],
      ['multi_select', { max_items: 1 }, { value_options: ['red', 'blue'] }, { value_options: ['red'] }],
    ];
    for (const [type, options, bad, good] of cases) {
      const field = await define(library, type, { options, terms: [{ value: 'red' }, { value: 'blue' }] });
      expect([type, (await refusal(field, bad)).status]).toEqual([type, 422]);
      await put(field, good);
    }
  });

  // FIELD-19, FIELD-21, VALUE-4
  test('is 422 if it does not match the pattern as a whole; existing values stay', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'anything' });
    await root.ok('updateField', { params: { id: field }, body: { regexp_filter: 'ab|cd' } });
    for (const value_text of ['abx', 'xcd', 'abcd', ' ab', 'AB', 'ab\n'])
      expect((await refusal(field, { value_text })).status).toBe(422);
    expect((await valueIn(field))?.value_text).toBe('anything');
    for (const value_text of ['ab', 'cd']) await put(field, { value_text });
  });

  // VALUE-6
  test('names who wrote it: manual for a session and api for a token, also during impersonations', async () => {
    const field = await define(library, 'text');
    const script = await bearer(library, owner, ['assets.write', 'read']);
    const mask = await actAs(library, root, owner);
    for (const [as, set_by] of [
      [owner, 'manual'],
      [script, 'api'],
      [mask, 'manual'],
    ] as const)
      expect(await put(field, { value_text: set_by }, as)).toMatchObject({
        set_by,
        set_by_user_ref: owner.ref,
      });
    expect((await sent(field, { value_text: 'x', set_by: 'exif' })).status).toBe(400);
  });
});

describe('the values of an asset', () => {
  // VALUE-8, VALUE-9
  test('are in the order of the fields, without fields that the caller may not read', async () => {
    const id = await addAsset('');
    const last = await define(library, 'text', { code: 'last', display_order: 2 });
    const gated = { code: 'gated', display_order: 1, read_capability: 'jobs.read' };
    const first = await define(library, 'text', gated);
    await put(last, { value_text: 'seen' }, owner, id);
    await put(first, { value_text: 'secret' }, root, id);
    const codes = async (as: Visitor) => (await values(as, id)).map(({ field_code }) => field_code);
    expect([await codes(root), await codes(owner)]).toEqual([['gated', 'last'], ['last']]);
    // Such a field looks like one that does not exist.
    const none = { status: 404, error: 'not found' };
    for (const field_id of [first, nowhere]) {
      expect(await refusal(field_id, { value_text: 'x' })).toEqual(none);
      expect(await clearRefusal(field_id)).toEqual(none);
      expect(await owner.refused('listAssetFieldHistory', { params: { id, field_id } })).toEqual(none);
    }
  });

  test('need three statements, however many there are', { tags: ['one-process'] }, async () => {
    const id = await addAsset();
    const count = async () => (await countStatements(library, () => values(owner, id)))[1];
    await count();
    expect(await count()).toBe(3);
    for (let n = 0; n < 10; n += 1) await put(await define(library, 'text'), { value_text: 'x' }, owner, id);
    expect(await count()).toBe(3);
  });
});

describe('a refusal', () => {
  // VALUE-2, VALUE-3
  test('names the first of several reasons: asset, field, read-only, capability, status, type', async () => {
    const hidden = (await upload(owner, plainFile(), { status: 'draft' })).id;
    const archived = { status: 'archived' } as const;
    const held = { write_capability: 'jobs.read' };
    const gated = { read_capability: 'jobs.read' };
    const status = async (defined: Defined | null, as: Visitor = owner, id = asset) => {
      const field = defined === null ? nowhere : await define(library, 'text', defined);
      const { status, error } = await refusal(field, { value_text: 'x' }, as, id);
      return `${status} ${error}`;
    };
    expect(await status(null, stranger, hidden)).toBe('404 not found');
    expect(await status(null, stranger)).toMatch(/^403/);
    expect(await status({ ...gated, ...held, ...archived, read_only: true })).toBe('404 not found');
    expect(await status({ subject_kind: 'collection' })).toBe('404 not found');
    expect(await status({ ...held, ...archived, read_only: true })).toMatch(/^403 .* is read-only$/);
    expect(await status({ ...held, ...archived })).toMatch(/^403 .*jobs\.read/);
    for (const defined of [archived, { status: 'deprecated' as const }, { applies_to: [3] }])
      expect([defined, await status(defined)]).toEqual([defined, expect.stringMatching(/^409/)]);
  });

  // FIELD-7, VALUE-5
  test('protects an archived field; a deprecated one takes no new value and gives up its old one', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'x' });
    await setField(field, { status: 'deprecated' });
    expect((await refusal(field, { value_text: 'y' })).status).toBe(409);
    expect((await valueIn(field))?.value_text).toBe('x');
    await setField(field, { status: 'archived' });
    expect((await clearRefusal(field)).status).toBe(409);
    expect(await valueIn(field)).toBeUndefined();
    await setField(field, { status: 'deprecated' });
    for (let time = 0; time < 2; time += 1) await clear(field);
    expect(await valueIn(field)).toBeUndefined();
  });

  // FIELD-6
  test('ends when the asset gets the type of the field, which shows the value again', async () => {
    const films = await define(library, 'text', { applies_to: [3] });
    const shown = async (asset_type: number) => {
      await owner.ok('updateAsset', { params: { id: asset }, body: { asset_type } });
      return (await valueIn(films))?.value_text;
    };
    expect(await shown(3)).toBeUndefined();
    await put(films, { value_text: 'x' });
    expect([await shown(1), await shown(3)]).toEqual([undefined, 'x']);
    await shown(1);
  });

  // FIELD-16
  test('of a read-only field keeps its value, regardless of who writes or clears it', async () => {
    const field = await define(library, 'text', { code: 'accession' });
    await put(field, { value_text: 'kept' });
    await setField(field, { read_only: true });
    for (const who of [owner, root, await bearer(library, root, ['admin'])])
      for (const refused of [await refusal(field, { value_text: 'x' }, who), await clearRefusal(field, who)])
        expect(refused).toEqual({ status: 403, error: 'accession is read-only' });
    expect((await valueIn(field))?.value_text).toBe('kept');
  });
});

describe('a reference', () => {
  const add = async (title: string) => ({ id: await addAsset(title) });

  // VALUE-11
  test('names an asset that the writer can see; missing, deleted and withheld ones are the same 422', async () => {
    const field = await define(library, 'reference');
    const target = await add('Target');
    expect(await put(field, { value_ref: target.id.toUpperCase() })).toMatchObject({
      value_ref: target.id,
      resolved_reference: { id: target.id, title: 'Target', preview_available: false },
    });
    const withheld = await upload(root, plainFile(), { sensitivity: 'restricted' });
    const draft = await upload(root, plainFile(), { status: 'draft' });
    const deleted = await add('Deleted');
    await owner.ok('deleteAsset', { params: deleted, body: undefined });
    for (const { id } of [{ id: nowhere }, withheld, draft, deleted]) {
      const refused = await refusal(field, { value_ref: id });
      expect([refused.status, refused.error.replace(id, 'X')]).toEqual([
        422,
        expect.stringMatching(/: asset X not found$/),
      ]);
    }
    expect((await valueIn(field))?.value_ref).toBe(target.id);
  });

  // VALUE-11
  test('to an asset that the reader is not shown is omitted everywhere, including the history', async () => {
    const field = await define(library, 'reference');
    const [secret, plain] = [await add('Secret'), await add('Plain')];
    await put(field, { value_ref: plain.id });
    await put(field, { value_ref: secret.id });
    expect((await valueIn(field, stranger))?.value_ref).toBe(secret.id);
    await owner.ok('updateAsset', { params: secret, body: { sensitivity: 'restricted' } });
    expect(await valueIn(field, stranger)).toBeUndefined();
    expect((await valueIn(field))?.resolved_reference?.title).toBe('Secret');
    expect((await history(field, stranger)).map(({ after }) => after)).toEqual([{ value_ref: plain.id }]);
    expect((await history(field)).length).toBe(2);
    await owner.ok('deleteAsset', { params: secret, body: undefined });
    expect(await valueIn(field)).toBeUndefined();
    // An editor may still replace it.
    expect((await put(field, { value_ref: plain.id })).value_ref).toBe(plain.id);
  });
});

describe('concurrency of one value', () => {
  // VALUE-7
  test('if_unchanged_since is compared with set_at, also of a removed value', async () => {
    const field = await define(library, 'text');
    const first = await put(field, { value_text: 'a', if_unchanged_since: '2020-01-01T00:00:00Z' });
    const second = await put(field, { value_text: 'b', if_unchanged_since: first.set_at });
    expect(Date.parse(second.set_at)).toBeGreaterThan(Date.parse(first.set_at));
    const late = await sent(field, { value_text: 'c', if_unchanged_since: first.set_at });
    const conflict = { error: 'it has changed; reload it', updated_at: second.set_at };
    expect([late.status, JSON.parse(late.text)]).toEqual([409, conflict]);
    const clearSince = (if_unchanged_since: string) =>
      owner.status('DELETE', `/assets/${asset}/fields/${field}`, { if_unchanged_since });
    expect([await clearSince(first.set_at), await clearSince(second.set_at)]).toEqual([409, 204]);
    expect((await refusal(field, { value_text: 'c', if_unchanged_since: second.set_at })).status).toBe(409);
  });

  // VALUE-7
  test('if_absent writes where there is nothing, and excludes if_unchanged_since', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'a', if_absent: true });
    expect((await refusal(field, { value_text: 'b', if_absent: true })).status).toBe(409);
    await put(field, { value_text: 'b', if_absent: false });
    await clear(field);
    await put(field, { value_text: 'c', if_absent: true });
    const both = { if_absent: true, if_unchanged_since: '2020-01-01T00:00:00Z' };
    expect((await refusal(field, { value_text: 'd', ...both })).status).toBe(400);
  });

  // VALUE-7
  test('one of several writers with the same precondition succeeds', async () => {
    const changed = await define(library, 'text');
    const { set_at } = await put(changed, { value_text: '0' });
    const absent = await define(library, 'text');
    for (const [field, precondition, changes] of [
      [changed, { if_unchanged_since: set_at }, 2],
      [absent, { if_absent: true }, 1],
    ] as const) {
      const race = Array.from({ length: 6 }, (_, n) => sent(field, { value_text: `w${n}`, ...precondition }));
      const statuses = (await Promise.all(race)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
      expect(await history(field)).toHaveLength(changes);
    }
  });

  test('a field archived while a value is being written waits for it, or refuses it', async () => {
    const field = await define(library, 'text');
    const [{ status }] = await Promise.all([
      sent(field, { value_text: 'x' }),
      setField(field, { status: 'archived' }),
    ]);
    expect([200, 409]).toContain(status);
    await setField(field, { status: 'active' });
    expect((await valueIn(field))?.value_text).toBe(status === 200 ? 'x' : undefined);
  });
});

// VALUE-5, VALUE-12
test('the history has every change, newest first, in pages, until the asset is purged', async () => {
  const field = await define(library, 'text');
  const id = await addAsset();
  await put(field, { value_text: 'a' }, owner, id);
  await put(field, { value_text: 'b' }, root, id);
  await put(field, { value_text: 'b' }, owner, id);
  for (let time = 0; time < 2; time += 1) await clear(field, id);
  const params = { id, field_id: field };
  const pages = await pagesOf((from) =>
    owner.ok('listAssetFieldHistory', { params, query: { limit: 2, ...from } }),
  );
  expect(pages.map(({ length }) => length)).toEqual([2, 1]);
  expect(pages.flat().map(({ before, after, set_by_user_ref }) => [before, after, set_by_user_ref])).toEqual([
    [{ value_text: 'b' }, null, owner.ref],
    [{ value_text: 'a' }, { value_text: 'b' }, root.ref],
    [null, { value_text: 'a' }, owner.ref],
  ]);
  await db.updateTable('assets').set({ deleted_at: '2020-01-01T00:00:00Z' }).where('id', '=', id).execute();
  await purge(db);
  const left = db.selectFrom('field_value_history').select('id').where('subject_id', '=', id);
  expect(await left.execute()).toEqual([]);
});

// VALUE-12
test('the history is empty while the field does not apply to the asset, as the value is', async () => {
  const field = await define(library, 'text');
  await put(field, { value_text: 'a' });
  const limitTo = (applies_to: number[]) =>
    db.updateTable('fields').set({ applies_to }).where('id', '=', field).execute();
  await limitTo([3]);
  expect([await valueIn(field), await history(field)]).toEqual([undefined, []]);
  await limitTo([]);
  expect(await history(field)).toHaveLength(1);
});

// FIELD-22, FIELD-23
test('a mirrored column is read and written as the asset itself', async () => {
  const { items } = await owner.ok('listFields', { query: { limit: 200 } });
  const [title = '', description = ''] = items.flatMap((one) => (one.mirrors_column === null ? [] : one.id));
  const id = await addAsset();
  const set = (field: string, body: ValueWrite) => put(field, body, owner, id);
  const shown = () => owner.ok('getAsset', { params: { id } });
  const since = (await valueIn(title, owner, id))?.set_at ?? '';
  // An empty column is no value.
  expect(await values(owner, id)).toEqual([
    {
      field_id: title,
      field_code: 'title',
      field_label: 'Title',
      type: 'text',
      value_text: 'Ridge',
      set_by: 'mirror',
      set_at: since,
      set_by_user_ref: null,
    },
  ]);
  expect(await shown()).toMatchObject({ updated_at: since });
  const dawn = { value_text: 'Dawn', if_unchanged_since: since };
  expect(await set(title, dawn)).toMatchObject({ value_text: 'Dawn', set_by: 'mirror' });
  await set(description, { value_text: 'Four mornings', if_absent: true });
  expect(await shown()).toMatchObject({ title: 'Dawn', description: 'Four mornings' });
  for (const [body, as, status] of [
    [dawn, owner, 409],
    [{ value_text: 'b', if_absent: true }, owner, 409],
    [{ value_text: 'x'.repeat(501) }, owner, 400],
    [{ value_text: '' }, owner, 400],
    [{ value_text: 'x' }, stranger, 403],
  ] as const)
    expect([body, (await refusal(title, body, as, id)).status]).toEqual([body, status]);
  // Characters count as in PATCH, not their UTF-16 units.
  await set(title, { value_text: '🌅'.repeat(500) });
  const action = { kind: 'append_field' as const, field_id: description, value_text: '🌅'.repeat(19_000) };
  const preview = await owner.ok('batchAssets', { body: { ids: [id], action, dry_run: true } });
  expect(preview).toMatchObject({ changes: 1 });
  await set(title, { value_text: 'Dawn' });
  await clear(description, id);
  expect(await shown()).toMatchObject({ title: 'Dawn', description: '' });
  const at = { params: { id, field_id: title } };
  expect((await owner.ok('listAssetFieldHistory', at)).items).toEqual([]);
  const stored = db.selectFrom('asset_field_values').select('field_id').where('asset_id', '=', id);
  expect(await stored.execute()).toEqual([]);
});
