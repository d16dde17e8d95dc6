import type { FieldType } from '@vitrine/contract/fields';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../../support/client.ts';
import { openLibrary, upload } from '../../support/library.ts';
import { pagesOf } from '../../support/pages.ts';
import { bearer, grant, nowhere } from '../../support/people.ts';
import { unknownBytes } from '../../support/pictures.ts';
import { addTeam } from '../../support/teams.ts';
import { type Columns, type Defined, define, store } from './fields.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [owner, stranger] = await library.joinAll('owner', 'stranger');
const hash = (await upload(owner, unknownBytes(), { title: 'the file' })).file_hash ?? '';

async function addAsset(title: string, description = ''): Promise<string> {
  const row = { owner_user_ref: owner.ref, asset_type: 1, file_hash: hash, file_name: 'a' } as const;
  const { id } = await library.deps.db
    .insertInto('assets')
    .values({ ...row, title, description, sensitivity: 'public', processing_status: 'ready' })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

let fields = 0;

/** Creates an asset for each value, titled by its index, and returns the code of their field. */
async function given(type: FieldType, all: readonly Columns[], defined: Defined = {}) {
  fields += 1;
  const code = defined.code ?? `f${fields}`;
  const id = await define(library, type, { ...defined, code });
  const assets: string[] = [];
  for (const [index, columns] of all.entries()) {
    const asset = await addAsset(`${index}`);
    await store(library, asset, id, columns);
    assets.push(asset);
  }
  return { id, code, assets };
}

/** Returns the titles found, in order, or the status of an error. */
async function found(filters: string[], as: Visitor = stranger): Promise<string | number> {
  const query = filters.map((filter) => `filter=${encodeURIComponent(filter)}`).join('&');
  const answer = await as.send(`/assets?limit=200&${query}`);
  if (answer.status !== 200) return answer.status;
  const { items }: { items: { title: string }[] } = JSON.parse(answer.text);
  return items
    .map(({ title }) => title)
    .sort()
    .join(' ');
}

/** Expects the assets found, or the status of an error, for each operator and value. */
async function expectFound(code: string, due: Record<string, string | number>) {
  const rests = Object.keys(due);
  const got = await Promise.all(rests.map((rest) => found([`field:${code}${rest}`])));
  expect(Object.fromEntries(rests.map((rest, at) => [rest, got[at]]))).toEqual(due);
}

/** The refusal of each of these. */
const refused = (...rests: string[]) => Object.fromEntries(rests.map((rest) => [rest, 400]));
const texts = (...all: string[]) => all.map((value_text) => ({ value_text }));
const numbers = (...all: number[]) => all.map((value_num) => ({ value_num }));

describe('filter=field:<code><op><value> on GET /assets', () => {
  // VALUE-16
  test('text: = matches exactly and ~ matches a substring in any case', async () => {
    const long = 'x'.repeat(150);
    const values = ['Kodak', 'kodak', 'Kodak Gold', '100%', '100 x', 'a_b', 'axb', "it's", 'back\\slash'];
    const { code } = await given('text', texts(...values, `${long}1`, `${long}2`, 'a=b<c'));
    await expectFound(code, {
      '=Kodak': '0',
      '= Kodak ': '0',
      '~kodak': '0 1 2',
      '~0%': '3',
      '~_': '5',
      "='": '',
      "~'": '7',
      '~\\': '8',
      [`=${long}1`]: '9',
      [`=${long}`]: '',
      '=a=b<c': '11',
      "='; drop table assets; --": '',
      [`=${'y'.repeat(9900)}`]: '',
      [`~${'%'.repeat(3000)}`]: '',
      ...refused('<a', '>a', '<=a', '>=a'),
    });
    expect(await found([`field: ${code.toUpperCase()} =Kodak`])).toBe('0');
  });

  test('longtext and rich text: by their words, not by their markup', async () => {
    const long = await given('longtext', texts('one\ntwo'));
    await expectFound(long.code, { '~TWO': '0' });
    const bold = '<p>a <b>bold</b> move &amp; more</p>';
    const marked = texts('<p>strong &lt;b&gt;</p>', '<p><strong>x</strong></p>', bold);
    const { code } = await given('rich_text', marked);
    const words = { '~strong': '0', '~<b>': '0', '~A bold move': '2', '~bold move & more': '2' };
    await expectFound(code, { ...words, '=x': 400 });
  });

  // VALUE-16
  test('number and boolean: compared as numbers', async () => {
    const number = await given('number', numbers(-2.5, 0, 1, 10));
    await expectFound(number.code, {
      '=1.0': '2',
      '=1e0': '2',
      '=-2.5': '0',
      '=-0': '1',
      '<1': '0 1',
      '<=1': '0 1 2',
      '>1': '3',
      '>=1': '2 3',
      ...refused('=1e400', '=NaN', '=infinity', '=0x10', '=1,5', '=one', '= ', '~1', "='1'"),
    });
    const boolean = await given('boolean', numbers(0, 1));
    const answers = { '=1': '1', '=TRUE': '1', '=0': '0', '=false': '0' };
    await expectFound(boolean.code, { ...answers, ...refused('=2', '=yes', '>0') });
  });

  // VALUE-16
  test('date and datetime: a day is the whole day, whatever its offset', async () => {
    const dates = (...all: string[]) => all.map((value_date) => ({ value_date }));
    const days = dates('2024-02-28T00:00:00Z', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z');
    const date = await given('date', days);
    await expectFound(date.code, {
      '=2024-02-29': '1',
      '=2024-02-29T23:00:00-05:00': '1',
      '<2024-02-29': '0',
      '<=2024-02-29': '0 1',
      '>2024-02-29': '2',
      '>=2024-02-29': '1 2',
      ...refused('=2023-02-29', '=2024', '=now', '=infinity', '~2024'),
    });
    const instants = ['2024-02-28T23:59:59.999Z', '2024-02-29T00:00:00Z', '2024-02-29T23:59:59.999Z'];
    const moment = await given('datetime', dates(...instants, '2024-03-01T00:00:00Z'));
    await expectFound(moment.code, {
      '=2024-02-29': '1 2',
      '<2024-02-29': '0',
      '<=2024-02-29': '0 1 2',
      '>2024-02-29': '3',
      '>=2024-02-29': '1 2 3',
      '=2024-02-29T01:00:00+01:00': '1',
      '>2024-02-29T00:00:00Z': '2 3',
      '<=9999-12-31': '0 1 2 3',
    });
  });

  // FIELD-11, TERM-2, VALUE-16
  test('terms: by slug, label, alias and former name, in a tree with everything below', async () => {
    const flat = [
      { value: 'plant', label: 'Plants', aliases: ['flora'] },
      { value: 'oak', label: 'Oak', aliases: ['quercus'] },
      { value: 'rose', status: 'deprecated' as const },
      { value: 'stone' },
      { value: 'old-oak', status: 'archived' as const, replaced_by: 'oak' },
    ];
    const names = { '=oak': '0', '=OAK': '0', '=quercus': '0', '=old-oak': '0', '=rose': '1' };
    const three = texts('oak', 'rose', 'stone');
    const one = await given('select', three, { terms: flat });
    await library.deps.db.updateTable('fields').set({ searchable: false }).where('id', '=', one.id).execute();
    await expectFound(one.code, { ...names, '=birch': '', '=%': '', "='": '', '=_ak': '' });
    const sets = [{ value_options: ['oak', 'rose'] }, { value_options: ['rose', 'stone'] }];
    const many = await given('multi_select', sets, { terms: flat });
    await expectFound(many.code, { ...names, '=rose': '0 1', ...refused('~oak', '<oak', '>=oak') });
    expect(await found([`field:${many.code}=rose`, `field:${many.code}=oak`])).toBe('0');
    const below = (term: (typeof flat)[number]) =>
      ['oak', 'rose'].includes(term.value) ? { ...term, parent: 'plant' } : term;
    const tree = await given('tree', three, { terms: flat.map(below) });
    await expectFound(tree.code, { ...names, '=Plants': '0 1', '=flora': '0 1' });
  });

  test('reference: by the id of an asset that the caller may see', async () => {
    const target = await addAsset('target');
    const { code } = await given('reference', [{ value_ref: target }]);
    const due = { [`=${target}`]: '0', [`=${nowhere}`]: '', ...refused('=x', `~${nowhere}`, "='") };
    await expectFound(code, due);
    await owner.ok('updateAsset', { params: { id: target }, body: { sensitivity: 'restricted' } });
    await expectFound(code, { ...due, [`=${target}`]: '' });
    expect(await found([`field:${code}=${target}`], owner)).toBe('0');
  });

  // VALUE-13
  test('mirrored columns, and several filters, which must all match, in pages', async () => {
    await addAsset('Ridge 100%', 'Four mornings');
    await expectFound('title', { '=Ridge 100%': 'Ridge 100%', '~RIDGE': 'Ridge 100%', '<R': 400 });
    expect(await found(['field:description~four', 'field:title~%'])).toBe('Ridge 100%');
    const { code } = await given('number', numbers(1, 2, 3, 4, 5));
    expect(await found([`field:${code}>2`, `field:${code}<5`])).toBe('2 3');
    const filter = [`field:${code}>=2`];
    expect((await stranger.ok('listAssets', { query: { filter, asset_type: 3 } })).items).toEqual([]);
    const pages = await pagesOf((from) =>
      stranger.ok('listAssets', { query: { filter, limit: 3, ...from } }),
    );
    expect(pages.map(({ length }) => length)).toEqual([3, 1]);
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(4);
  });
});

// VALUE-14, VALUE-15
test('a malformed filter and more than twenty filters are 400', async () => {
  for (const filter of [
    'title=x',
    'field:',
    'field:title',
    'field:=x',
    'field:title=',
    'field:title~ ',
    'FIELD:title=x',
    'field:title!x',
    ' ',
  ])
    expect([filter, await found([filter])]).toEqual([filter, 400]);
  const many = Array.from({ length: 21 }, () => 'field:title~r');
  expect([await found(many), typeof (await found(many.slice(1)))]).toEqual([400, 'string']);
  expect(await found([`field:title=${'x'.repeat(10_000)}`])).toBe(400);
});

describe('a filter reveals nothing that the caller may not read', () => {
  // FIELD-10, VALUE-9, VALUE-14, VALUE-25
  test('unknown, archived, unreadable and collection fields return the same error to every caller', async () => {
    await given('text', texts('x'), { code: 'secret', read_capability: 'jobs.read' });
    await given('number', [], { code: 'secret_number', read_capability: 'jobs.read' });
    await given('text', [], { code: 'put_away', status: 'archived' });
    await given('text', [], { code: 'old', status: 'deprecated' });
    await given('text', [], { code: 'of_collections', subject_kind: 'collection' });
    const definer = await library.join('definer');
    await grant(library, definer, 'fields.admin');
    const script = await bearer(library, stranger, ['read']);
    await library.setPublicMode(true);
    for (const who of [stranger, owner, definer, script, library.anonymous()])
      for (const code of ['nothing', 'secret', 'secret_number', 'put_away', 'old', 'of_collections'])
        for (const rest of ['=x', '<5', '>=no']) {
          const { status, text } = await who.send(`/assets?filter=field:${code}${encodeURIComponent(rest)}`);
          expect([status, JSON.parse(text).error]).toEqual([400, `filter: there is no field "${code}"`]);
        }
    await library.setPublicMode(false);
    expect(await found(['field:secret=x'], root)).toBe('0');
    for (const code of ['put_away', 'old']) expect(await found([`field:${code}=x`], root)).toBe(400);
  });

  // VALUE-17
  test('a capability held in a team finds that team’s assets alone, while the field applies', async () => {
    const { id, code, assets } = await given('text', texts('x', 'x'), { read_capability: 'roles.read' });
    const reader = await library.join('team-reader');
    const team_id = await addTeam(library, 'studio');
    await grant(library, reader, 'roles.read', team_id);
    const { db } = library.deps;
    await db
      .updateTable('assets')
      .set({ team_id })
      .where('id', '=', assets[1] ?? '')
      .execute();
    const ask = async () => [
      await found([`field:${code}=x`], reader),
      await found([`field:${code}=x`], root),
    ];
    expect(await ask()).toEqual(['1', '0 1']);
    const set = (changes: object) => db.updateTable('fields').set(changes).where('id', '=', id).execute();
    await set({ applies_to: [3] });
    expect(await ask()).toEqual(['', '']);
    await set({ status: 'archived' });
    expect(await ask()).toEqual([400, 400]);
  });
});
