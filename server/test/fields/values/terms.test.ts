import { describe, expect, test } from 'vitest';
import type { Visitor } from '../../support/client.ts';
import { openLibrary, upload } from '../../support/library.ts';
import { grant } from '../../support/people.ts';
import { plainFile } from '../../support/pictures.ts';
import { addTeam } from '../../support/teams.ts';
import { type Defined, define, fieldValueOf, store } from './fields.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const owner = await library.join('owner');
const asset = (await upload(owner, plainFile())).id;

const at = (field_id: string, id = asset) => ({ params: { id, field_id } });
/** Writes one term, and returns the stored one. */
const name = async (field: string, value_text: string) =>
  (await owner.ok('setAssetFieldValue', { ...at(field), body: { value_text } })).value_text;
/** Writes terms, and returns the stored ones. */
const nameAll = async (field: string, value_options: string[], as: Visitor = owner, id = asset) =>
  (await as.ok('setAssetFieldValue', { ...at(field, id), body: { value_options } })).value_options;
const refusal = (field: string, value: string | string[], as: Visitor = owner) => {
  const body = typeof value === 'string' ? { value_text: value } : { value_options: value };
  return as.refused('setAssetFieldValue', { ...at(field), body });
};
const valueIn = (field: string) => fieldValueOf(owner, asset, field);
const found = async (filter: string) =>
  (await owner.ok('listAssets', { query: { filter: [filter] } })).items.map(({ id }) => id);
const open = (terms: Defined['terms'] = []) =>
  define(library, 'multi_select', { open_vocabulary: true, terms });

async function termsIn(field: string) {
  const rows = await library.deps.db
    .selectFrom('field_terms')
    .select(['value', 'label'])
    .where('field_id', '=', field)
    .orderBy('position')
    .execute();
  return rows.map(({ value, label }) => [value, label]);
}

const colours: Defined['terms'] = [
  { value: 'red', label: 'Crimson', aliases: ['rouge', 'blue'] },
  { value: 'blue', label: 'Blue' },
  { value: 'old-red', label: 'Old red', status: 'archived', replaced_by: 'red' },
  { value: 'older-red', label: 'Older red', status: 'archived', replaced_by: 'old-red' },
  { value: 'gone', label: 'Gone', status: 'archived' },
  { value: 'fading', label: 'Fading', status: 'deprecated' },
  // A label that is another term's slug: the slug wins.
  { value: 'sky', label: 'blue' },
];

describe('a vocabulary', () => {
  // TERM-3, TERM-4
  test('resolves a slug, a label, an alias and a tombstone to the term’s own slug', async () => {
    const single = await define(library, 'select', { terms: colours });
    const several = await define(library, 'multi_select', { terms: colours });
    const names = {
      red: ['red', 'RED', ' red ', 'cRIMSON', 'rouge', 'ROUGE ', 'old-red', 'Older red'],
      blue: ['blue', 'Blue'],
      sky: ['sky'],
    };
    for (const [slug, all] of Object.entries(names))
      for (const one of all) expect([one, await name(single, one)]).toEqual([one, slug]);
    expect(await nameAll(several, Object.values(names).flat())).toEqual(['red', 'blue', 'sky']);
  });

  // TERM-2
  test('refuses unknown, archived and deprecated terms', async () => {
    const single = await define(library, 'select', { terms: colours });
    const several = await define(library, 'multi_select', { terms: colours });
    for (const term of ['green', 'gone', 'fading', ' ', '%', '_ed', "red'; drop table field_terms; --"]) {
      expect([term, (await refusal(single, term)).status]).toEqual([term, 422]);
      expect([term, (await refusal(several, ['red', term])).status]).toEqual([term, 422]);
    }
    expect(await valueIn(several)).toBeUndefined();
  });

  // TERM-2, VALUE-23
  test('resolves a deprecated term of a value, which stays when the rest of the value changes', async () => {
    const several = await define(library, 'multi_select', { terms: colours });
    await store(library, asset, several, { value_options: ['fading', 'red'] });
    expect((await valueIn(several))?.resolved_options).toEqual([
      { value: 'fading', label: 'Fading', status: 'deprecated' },
      { value: 'red', label: 'Crimson', status: 'active' },
    ]);
    expect(await nameAll(several, ['fading', 'blue'])).toEqual(['fading', 'blue']);
    await nameAll(several, ['blue']);
    expect((await refusal(several, ['fading', 'blue'])).status).toBe(422);
  });

  // TERM-5
  test('that is a tree accepts leaves at any depth and refuses branches', async () => {
    const places = await define(library, 'tree', {
      terms: [
        { value: 'europe' },
        { value: 'italy', parent: 'europe' },
        { value: 'rome', label: 'Roma', parent: 'italy' },
        { value: 'asia' },
      ],
    });
    expect([await name(places, 'roma'), await name(places, 'asia')]).toEqual(['rome', 'asia']);
    for (const branch of ['europe', 'italy']) expect((await refusal(places, branch)).status).toBe(422);
  });

  // VALUE-22
  test('counts terms after resolution, so two names of one term count once', async () => {
    const terms = [{ value: 'red', label: 'Crimson' }, { value: 'blue' }, { value: 'green' }];
    const options = { min_items: 2, max_items: 2 };
    const field = await define(library, 'multi_select', { options, terms });
    const few = await refusal(field, ['red', ' CRIMSON ']);
    expect([few.status, few.error]).toEqual([422, expect.stringContaining('fewer than 2 terms')]);
    expect((await refusal(field, ['red', 'blue', 'green'])).status).toBe(422);
    expect(await nameAll(field, ['Red', 'crimson', 'blue'])).toEqual(['red', 'blue']);
  });
});

describe('an open vocabulary', () => {
  // TERM-7, TERM-8
  test('creates an unknown term from its text when no slug or label matches', async () => {
    const field = await open(colours);
    const before = await termsIn(field);
    const given = ['CRIMSON', ' Deep Sea ', 'deep sea', 'C', 'C++', 'Été', '日本', '!!'];
    const made = ['red', 'deep-sea', 'c', 'c-2', 'ete', '日本', 'term'];
    expect(await nameAll(field, given)).toEqual(made);
    expect(await termsIn(field)).toEqual([
      ...before,
      ['deep-sea', 'Deep Sea'],
      ['c', 'C'],
      ['c-2', 'C++'],
      ['ete', 'Été'],
      ['日本', '日本'],
      ['term', '!!'],
    ]);
    expect(await nameAll(field, given)).toEqual(made);
    for (const blank of ['  ', '\u200b', '\u00ad \u2003'])
      expect([blank, (await refusal(field, [blank])).status]).toEqual([blank, 422]);
  });

  // TERM-9
  test('requires fields.vocabulary.extend to create a term, in any team, and no capability to use one', async () => {
    const field = await open(colours);
    const viewer = await library.join('viewer', 'viewer');
    await grant(library, viewer, 'assets.admin');
    expect((await refusal(field, ['red', 'new'], viewer)).status).toBe(403);
    expect(await valueIn(field)).toBeUndefined();
    await nameAll(field, ['new']);
    expect(await nameAll(field, ['New'], viewer)).toEqual(['new']);
    await grant(library, viewer, 'fields.vocabulary.extend', await addTeam(library, 'studio'));
    expect(await nameAll(field, ['Newer'], viewer)).toEqual(['newer']);
  });

  // TERM-7
  test('is inert on select and tree', async () => {
    for (const type of ['select', 'tree'] as const) {
      const field = await define(library, type, { open_vocabulary: true });
      expect((await refusal(field, 'new')).status).toBe(422);
      expect(await termsIn(field)).toEqual([]);
    }
  });

  test('gets a term once when concurrent writes name it, without a deadlock', async () => {
    const [field, other] = [await open(), await open()];
    const assets = await Promise.all([1, 2, 3, 4].map(() => upload(owner, plainFile())));
    const written = await Promise.all(
      assets.flatMap(({ id }, n) => [
        nameAll(field, [n % 2 === 0 ? 'New Term' : ' new term', `own ${n}`], owner, id),
        nameAll(other, ['Other'], owner, id),
      ]),
    );
    expect(new Set(written.map((stored) => stored?.[0]))).toEqual(new Set(['new-term', 'other']));
    expect((await termsIn(field)).length).toBe(5);
    expect(await termsIn(other)).toEqual([['other', 'Other']]);
  });

  // TERM-8
  test('finds a new term by its label, and gives it no name of another', async () => {
    const field = await open([{ value: 'nyc', label: 'NYC', aliases: ['new-york', 'new-york-2'] }]);
    expect(await nameAll(field, ['New York'])).toEqual(['new-york-3']);
    expect(await nameAll(field, ['new-york'])).toEqual(['nyc']);
    // A client that adds a term writes back what it has read.
    const { options } = await root.ok('getField', { params: { id: field } });
    await root.ok('updateField', { params: { id: field }, body: { options } });
    const labelled = await open([{ value: 'portal', label: 'Yahoo' }]);
    expect(await nameAll(labelled, ['Yahoo!'])).toEqual(['yahoo-2']);
    expect(await nameAll(labelled, ['Yahoo', 'Yahoo!'])).toEqual(['portal', 'yahoo-2']);
    const languages = await open();
    for (let time = 0; time < 2; time += 1)
      expect(await nameAll(languages, ['C++', 'C', 'C#'])).toEqual(['c-2', 'c', 'c-3']);
  });
});

describe('accents', () => {
  /** A letter with a combining accent, which some systems write to file metadata. */
  const cafe = 'café'.normalize('NFD');

  // TERM-8
  test('may be composed or not in the name of a term', async () => {
    const field = await open();
    for (const text of [`${cafe} noir`, 'café noir', 'CAFÉ NOIR'])
      expect(await nameAll(field, [text])).toEqual(['cafe-noir']);
    const { values } = await root.ok('listFieldValues', { params: { id: field }, query: { q: cafe } });
    expect(values.map(({ label }) => label)).toEqual(['café noir']);
  });

  // TERM-6
  test('are composed in a slug and in what refers to it', async () => {
    const values = [
      { value: cafe, children: [`${cafe}-1`] },
      { value: 'old', status: 'archived', replaced_by: `${cafe}-1` },
    ];
    const default_value = { kind: 'literal' as const, value_text: `${cafe}-1` };
    const { id, options } = await root.ok('createField', {
      body: { code: 'house', label: 'House', type: 'tree', options: { values }, default_value },
    });
    expect(options.values).toEqual([
      { value: 'café', children: ['café-1'] },
      { value: 'old', status: 'archived', replaced_by: 'café-1' },
    ]);
    const terms = [{ value: `${cafe}-2`, parent: cafe }];
    await root.ok('addFieldTerms', { params: { id }, body: { terms } });
    for (const text of [`${cafe}-2`, 'CAFÉ-2']) expect(await name(id, text)).toBe('café-2');
    expect(await found(`field:house=${cafe}`)).toEqual([asset]);
  });

  test('keep their stored form in a slug from before', async () => {
    const field = await define(library, 'multi_select', { code: 'older', terms: [{ value: cafe }] });
    expect(await nameAll(field, [cafe])).toEqual([cafe]);
    expect(await found(`field:older=${cafe}`)).toEqual([asset]);
  });
});
