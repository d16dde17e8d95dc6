import type { ShownAsset } from '@vitrine/contract/assets';
import type { FieldCreate, FieldDefinition, FieldUpdate } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { writeSystemValue } from '../../src/extraction/write-value.ts';
import { addTeam, arrive } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, CONNECTIONS, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define as defineField, notChanged } from './define.ts';

/** The rules of field definitions, each over HTTP from the definition to its effect. */

let library: Library;
let root: Account;
let mara: Account;
let stranger: Account;
let asset: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  mara = await arrive(library, 'mara');
  stranger = await arrive(library, 'stranger');
});

beforeEach(async () => {
  asset = await upload(mara, plainFile(), { title: 'Ridge' });
});

const define = (body: Partial<FieldCreate>) => defineField(root, body);
const defineWith = async (body: Partial<FieldCreate>, more: FieldUpdate) => {
  const { id } = await define(body);
  return change(root, id, more);
};
const put = (field: FieldDefinition, body: object, who: Visitor = mara) =>
  who.ok('setAssetFieldValue', { params: { id: asset.id, field_id: field.id }, body });
const refused = (field: FieldDefinition, body: object, who: Visitor = mara) =>
  who.refused('setAssetFieldValue', { params: { id: asset.id, field_id: field.id }, body });
const valueIn = async (field: FieldDefinition, who: Visitor = mara, id = asset.id) =>
  (await who.ok('listAssetFieldValues', { params: { id } })).items.find(
    ({ field_id }) => field_id === field.id,
  );
const filtered = async (filter: string, who: Visitor = mara) =>
  (await who.ok('listAssets', { query: { filter: [`field:${filter}`] } })).items.map(({ id }) => id);
const found = async (q: string, who: Visitor = mara) =>
  (await who.ok('search', { query: { q, kind: 'asset' } })).items.map((hit) =>
    hit.kind === 'asset' ? hit.asset.id : '',
  );

describe('a field definition', () => {
  // TERM-2, TERM-4
  test('offers active terms, shows deprecated ones and redirects merged ones', async () => {
    const field = await define({
      type: 'tree',
      options: {
        values: [
          { value: 'bird', children: ['owl', { value: 'crow', aliases: ['Raven '] }] },
          { value: 'rook', status: 'archived', replaced_by: 'crow' },
          'dodo',
        ],
      },
    });
    expect((await put(field, { value_text: 'raven' })).value_text).toBe('crow');
    expect((await put(field, { value_text: 'ROOK' })).value_text).toBe('crow');
    expect((await refused(field, { value_text: 'bird' })).status).toBe(422);
    expect((await put(field, { value_text: 'dodo' })).resolved_options).toMatchObject([{ label: 'dodo' }]);
    await root.ok('updateFieldTerm', {
      params: { id: field.id, value: 'dodo' },
      body: { status: 'deprecated' },
    });
    const offered = await mara.ok('listFieldValues', { params: { id: field.id }, query: {} });
    expect(offered.values.map(({ value }) => value)).toEqual(['bird', 'crow', 'owl']);
    expect(await valueIn(field)).toMatchObject({
      value_text: 'dodo',
      resolved_options: [{ label: 'dodo', status: 'deprecated' }],
    });
    const other = await upload(mara, plainFile());
    const second = { params: { id: other.id, field_id: field.id }, body: { value_text: 'dodo' } };
    expect((await mara.refused('setAssetFieldValue', second)).status).toBe(422);
  });

  // TERM-3
  test('an alias redirects later writes; a slug or label takes precedence over an alias', async () => {
    const field = await define({ type: 'select', options: { values: ['crow', 'owl', 'daw'] } });
    await put(field, { value_text: 'daw' });
    await root.ok('updateFieldTerm', {
      params: { id: field.id, value: 'crow' },
      body: { aliases: ['corvus'] },
    });
    expect((await valueIn(field))?.value_text).toBe('daw');
    // No operation creates this conflict; an imported library may contain it.
    await library.deps.db
      .insertInto('field_term_aliases')
      .values({ field_id: field.id, alias: 'owl', value: 'crow' })
      .execute();
    expect((await put(field, { value_text: 'OWL' })).value_text).toBe('owl');
    expect((await put(field, { value_text: ' Corvus' })).value_text).toBe('crow');
  });

  // TERM-7
  test('adds unknown terms to an open vocabulary, and returns 422 for a closed one', async () => {
    const open = await define({ type: 'multi_select', open_vocabulary: true, options: { values: ['crow'] } });
    expect((await put(open, { value_options: [' CROW ', 'Snowy Owl'] })).value_options).toEqual([
      'crow',
      'snowy-owl',
    ]);
    const { options } = await root.ok('getField', { params: { id: open.id } });
    expect(options.values).toEqual(['crow', { value: 'snowy-owl', label: 'Snowy Owl' }]);
    const closed = await define({ type: 'multi_select', options: { values: ['crow'] } });
    expect((await refused(closed, { value_options: ['crow', 'Snowy Owl'] })).status).toBe(422);
    expect(await valueIn(closed)).toBeUndefined();
  });

  // FIELD-11, SEARCH-7, VALUE-13
  test('searchable controls full-text search immediately, not filters, and never overrides a read capability', async () => {
    const field = await define({ type: 'text' });
    await put(field, { value_text: 'contrabassoon' });
    expect([await found('contrabassoon'), await filtered(`${field.code}=contrabassoon`)]).toEqual([
      [asset.id],
      [asset.id],
    ]);
    await change(root, field.id, { searchable: false });
    expect([await found('contrabassoon'), await filtered(`${field.code}=contrabassoon`)]).toEqual([
      [],
      [asset.id],
    ]);
    await change(root, field.id, { searchable: true, read_capability: 'share.grant' });
    expect(await found('contrabassoon')).toEqual([]);
    expect((await mara.send(`/assets?filter=field:${field.code}=contrabassoon`)).status).toBe(400);
    expect(await found('contrabassoon', root)).toEqual([asset.id]);
  });

  // FIELD-12
  test('show_on_card and a read capability are mutually exclusive in either order', async () => {
    const field = await defineWith({ type: 'text', label: 'Mood' }, { show_on_card: true });
    await put(field, { value_text: 'calm' });
    const { items } = await stranger.ok('listAssets', { query: { q: 'Ridge', limit: 200 } });
    const card = items.find(({ id }) => id === asset.id);
    expect(card).toMatchObject({ card_fields: [{ code: field.code, label: 'Mood', value: 'calm' }] });
    expect(await notChanged(root, field.id, { read_capability: 'share.grant' })).toContain('show_on_card');
    const gated = await define({ type: 'text', read_capability: 'share.grant' });
    expect(await notChanged(root, gated.id, { show_on_card: true })).toContain('read_capability');
  });

  // FIELD-13
  test('show_in_advanced_search changes neither index nor results', async () => {
    const field = await defineWith({ type: 'text' }, { show_in_advanced_search: false });
    await put(field, { value_text: 'ocarina' });
    expect(await found('ocarina')).toEqual([asset.id]);
    expect(await filtered(`${field.code}~ocar`)).toEqual([asset.id]);
  });

  // FIELD-14
  test('show_on_upload hides the control only; values and defaults are still written', async () => {
    const field = await defineWith(
      { type: 'text', default_value: { kind: 'literal', value_text: 'unsorted' } },
      { show_on_upload: false },
    );
    const made = await upload(mara, plainFile());
    expect((await valueIn(field, mara, made.id))?.value_text).toBe('unsorted');
    expect((await put(field, { value_text: 'by hand' })).value_text).toBe('by hand');
    const given = await upload(mara, plainFile(), {
      field_values: JSON.stringify([{ field_id: field.id, value_text: 'given' }]),
    });
    expect((await valueIn(field, mara, given.id))?.value_text).toBe('given');
  });

  // FIELD-15
  test('edit_tab is null until it is set and after it is cleared, and cannot be empty', async () => {
    const field = await define({ type: 'text' });
    expect(field.edit_tab).toBeNull();
    expect((await change(root, field.id, { edit_tab: 'Rights' })).edit_tab).toBe('Rights');
    expect(await notChanged(root, field.id, { edit_tab: '' })).toContain('edit_tab');
    expect((await change(root, field.id, { clear_edit_tab: true })).edit_tab).toBeNull();
  });

  // FIELD-16
  test('read_only refuses writes of callers, keeps existing values and lets extraction write', async () => {
    const field = await define({ type: 'text' });
    await put(field, { value_text: 'as it was' });
    await change(root, field.id, { read_only: true });
    for (const who of [mara, root]) {
      expect(await refused(field, { value_text: 'other' }, who)).toEqual({
        status: 403,
        error: `${field.code} is read-only`,
      });
      const clear = { params: { id: asset.id, field_id: field.id }, body: undefined };
      expect((await who.refused('clearAssetFieldValue', clear)).status).toBe(403);
    }
    expect((await refused(field, { value_text: 'x', set_by: 'exif' })).status).toBe(400);
    expect((await valueIn(field))?.value_text).toBe('as it was');
    const empty = await upload(mara, plainFile());
    const write = {
      assetId: empty.id,
      fieldId: field.id,
      found: 'by the file',
      mode: '',
      setBy: 'exif',
    } as const;
    await library.deps.db.transaction().execute((tx) => writeSystemValue(tx, write));
    expect((await valueIn(field, mara, empty.id))?.value_text).toBe('by the file');
  });

  // FIELD-19, FIELD-21
  test('a pattern applies to the whole of new values, not to existing ones', async () => {
    const field = await define({ type: 'text' });
    await put(field, { value_text: 'anything' });
    expect((await change(root, field.id, { regexp_filter: ' a|b' })).regexp_filter).toBe(' a|b');
    expect((await valueIn(field))?.value_text).toBe('anything');
    expect((await refused(field, { value_text: 'a' })).status).toBe(422);
    expect((await put(field, { value_text: ' a' })).value_text).toBe(' a');
    expect((await refused(field, { value_text: 'bb' })).status).toBe(422);
    await change(root, field.id, { clear_regexp_filter: true });
    expect((await put(field, { value_text: 'bb' })).value_text).toBe('bb');
  });

  // FIELD-22, FIELD-23
  test('a field that mirrors a column reads and writes the column under the rules of the asset', async () => {
    const { items } = await mara.ok('listFields', { query: {} });
    const title = items.find(({ mirrors_column }) => mirrors_column === 'title');
    if (title === undefined) throw new Error('the title is a field');
    await put(title, { value_text: 'Ridge at dawn' });
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({ title: 'Ridge at dawn' });
    expect((await refused(title, { value_text: 'mine' }, stranger)).status).toBe(403);
    expect(await notChanged(root, title.id, { mirrors_column: 'description' })).toContain('mirrors_column');
    expect(await notChanged(root, title.id, { read_only: true })).toContain('mirrors_column');
    expect(await notChanged(root, title.id, { regexp_filter: 'a+' })).toContain('mirrors_column');
  });

  // FIELD-24, FIELD-28
  test('a condition that hides a field does not protect its values', async () => {
    const kind = await define({ type: 'select', options: { values: ['photo', 'film'] } });
    const field = await define({ type: 'text' });
    await put(field, { value_text: 'before' });
    await change(root, field.id, { display_condition: [`${kind.code}=film`] });
    await put(kind, { value_text: 'photo' });
    expect((await valueIn(field))?.value_text).toBe('before');
    expect((await put(field, { value_text: 'hidden and written' })).value_text).toBe('hidden and written');
    expect(await filtered(`${field.code}~hidden`)).toEqual([asset.id]);
    expect(await found('hidden')).toEqual([asset.id]);
    await mara.ok('updateAsset', { params: { id: asset.id }, body: { title: 'Saved all the same' } });
  });

  // FIELD-32
  test('a default fills empty values at creation only; the default of the team takes precedence', async () => {
    const team = await addTeam(library, 'birds', [mara]);
    const field = await define({ type: 'text', default_value: { kind: 'literal', value_text: 'anybody' } });
    expect(await valueIn(field)).toBeUndefined();
    await root.ok('setDefaultOverride', {
      params: { id: field.id, team_id: team },
      body: { kind: 'context', context: 'uploading_team' },
    });
    const alone = await upload(mara, plainFile());
    const teamed = await upload(mara, plainFile(), { team_id: team });
    expect(await valueIn(field, mara, alone.id)).toMatchObject({ value_text: 'anybody', set_by: 'default' });
    expect((await valueIn(field, mara, teamed.id))?.value_text).toBe('birds');
    await change(root, field.id, { clear_default: true });
    expect((await valueIn(field, mara, (await upload(mara, plainFile())).id))?.value_text).toBeUndefined();
  });
});

// HTTP-35
test('returns 503 and writes nothing when a concurrent change takes too long', async () => {
  const field = await define({ type: 'text' });
  const { db } = library.deps;
  // Holds every connection of the pool, and sets its lock timeout to a tenth of a second.
  const pause = { until: Promise.resolve() };
  let held = 0;
  pause.until = new Promise((resolve) => {
    const all = Array.from({ length: CONNECTIONS }, () =>
      db.connection().execute(async (one) => {
        await sql`set lock_timeout = '100ms'`.execute(one);
        held += 1;
        if (held === CONNECTIONS) resolve();
        await pause.until;
      }),
    );
    void Promise.all(all);
  });
  await pause.until;
  const answer = await db.transaction().execute(async (tx) => {
    await sql`select from fields where id = ${field.id} for update`.execute(tx);
    return mara.send(`/assets/${asset.id}/fields/${field.id}`, { method: 'PUT', body: { value_text: 'x' } });
  });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
  expect(await valueIn(field)).toBeUndefined();
  expect((await put(field, { value_text: 'x' })).value_text).toBe('x');
});
