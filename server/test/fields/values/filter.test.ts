import type { FieldType } from '@vitrine/contract/fields';
import { beforeAll, describe, expect, test } from 'vitest';
import { addTeam, arrive, bearer, grant } from '../../posts/people.ts';
import type { Visitor } from '../../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../../support/library.ts';
import { unknownBytes } from '../../support/pictures.ts';
import { type Defined, define, nowhere } from './fields.ts';

let library: Library;
let root: Account;
let owner: Account;
let stranger: Account;
let hash: string;
let team: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  owner = await arrive(library, 'owner');
  stranger = await arrive(library, 'stranger');
  team = await addTeam(library, 'studio', [owner]);
  hash = (await upload(owner, unknownBytes(), { title: 'the file' })).file_hash ?? '';
});

type Columns = {
  value_text?: string;
  value_num?: number;
  value_date?: string;
  value_options?: string[];
  value_ref?: string;
};

/** Creates an asset for each value, titled by its index, and returns the code of their field. */
async function given(type: FieldType, all: readonly Columns[], defined: Defined = {}) {
  const id = await define(library, type, defined);
  const { code } = await library.deps.db
    .selectFrom('fields')
    .select('code')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const assets: string[] = [];
  for (const [index, columns] of all.entries()) {
    const made = await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', title: `${index}` },
    });
    assets.push(made.id);
    await library.deps.db
      .insertInto('asset_field_values')
      .values({ asset_id: made.id, field_id: id, set_by: 'import', ...columns })
      .execute();
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

const error = async (filter: string, as: Visitor = stranger): Promise<string> => {
  const answer = await as.send(`/assets?filter=${encodeURIComponent(filter)}`);
  expect(answer.status).toBe(400);
  return JSON.parse(answer.text).error;
};

// VALUE-13
describe('filter=field:<code><op><value> on GET /assets', () => {
  // VALUE-16
  test('text: = matches exactly and ~ matches a substring in any case', async () => {
    const long = 'x'.repeat(150);
    const texts = [
      'Kodak',
      'kodak',
      'Kodak Gold',
      '100%',
      '100 x',
      'a_b',
      'axb',
      "it's",
      'back\\slash',
      `${long}1`,
      `${long}2`,
      'a=b<c',
    ];
    const { code } = await given(
      'text',
      texts.map((value_text) => ({ value_text })),
    );
    const ask = (rest: string) => found([`field:${code}${rest}`]);
    expect(await ask('=Kodak')).toBe('0');
    expect(await ask('= Kodak ')).toBe('0');
    expect(await ask('~kodak')).toBe('0 1 2');
    expect(await ask('~GOLD')).toBe('2');
    expect(await ask('~0%')).toBe('3');
    expect(await ask('~%')).toBe('3');
    expect(await ask('~_')).toBe('5');
    expect(await ask("='")).toBe('');
    expect(await ask("~'")).toBe('7');
    expect(await ask('~\\')).toBe('8');
    expect(await ask(`=${long}1`)).toBe('9');
    expect(await ask(`=${long}`)).toBe('');
    expect(await ask('=a=b<c')).toBe('11');
    expect(await ask(`='; drop table assets; --`)).toBe('');
    expect(await ask(`=${'y'.repeat(9900)}`)).toBe('');
    expect(await ask(`~${'%'.repeat(3000)}`)).toBe('');
    expect(await found([`field: ${code.toUpperCase()} =Kodak`])).toBe('0');
    for (const operator of ['<', '>', '<=', '>=']) expect(await ask(`${operator}a`)).toBe(400);
  });

  test('longtext and rich text by their words, not by their markup', async () => {
    const long = await given('longtext', [{ value_text: 'one\ntwo' }]);
    expect(await found([`field:${long.code}~TWO`])).toBe('0');
    const rich = await given('rich_text', [
      { value_text: '<p>strong &lt;b&gt;</p>' },
      { value_text: '<p><strong>x</strong></p>' },
    ]);
    expect(await found([`field:${rich.code}~strong`])).toBe('0');
    expect(await found([`field:${rich.code}~<b>`])).toBe('0');
    expect(await found([`field:${rich.code}=x`])).toBe(400);
    const marked = await given('rich_text', [
      { value_text: '<p>a <b>bold</b> move &amp; more</p>' },
      { value_text: '<p>bold, then move</p>' },
    ]);
    for (const text of ['A bold move', 'bold move & more'])
      expect(await found([`field:${marked.code}~${text}`])).toBe('0');
  });

  // VALUE-16
  test('number: ordered', async () => {
    const { code } = await given(
      'number',
      [-2.5, 0, 1, 10].map((value_num) => ({ value_num })),
    );
    const ask = (rest: string) => found([`field:${code}${rest}`]);
    expect([
      await ask('=1'),
      await ask('=1.0'),
      await ask('=1e0'),
      await ask('=-2.5'),
      await ask('=-0'),
    ]).toEqual(['2', '2', '2', '0', '1']);
    expect([await ask('<1'), await ask('<=1'), await ask('>1'), await ask('>=1')]).toEqual([
      '0 1',
      '0 1 2',
      '3',
      '2 3',
    ]);
    for (const none of ['=1e400', '=NaN', '=infinity', '=0x10', '=1,5', '=one', '= ', '~1', "='1'"])
      expect([none, await ask(none)]).toEqual([none, 400]);
  });

  test('boolean: =', async () => {
    const { code } = await given('boolean', [{ value_num: 0 }, { value_num: 1 }]);
    for (const yes of ['1', 'true', 'TRUE']) expect(await found([`field:${code}=${yes}`])).toBe('1');
    for (const no of ['0', 'false']) expect(await found([`field:${code}=${no}`])).toBe('0');
    for (const none of ['=2', '=yes', '>0']) expect(await found([`field:${code}${none}`])).toBe(400);
  });

  test('date: days, regardless of the offset they are written with', async () => {
    const days = ['2024-02-28', '2024-02-29', '2024-03-01'];
    const { code } = await given(
      'date',
      days.map((day) => ({ value_date: `${day}T00:00:00Z` })),
    );
    const ask = (rest: string) => found([`field:${code}${rest}`]);
    expect(await ask('=2024-02-29')).toBe('1');
    expect(await ask('=2024-02-29T23:00:00-05:00')).toBe('1');
    expect([
      await ask('<2024-02-29'),
      await ask('<=2024-02-29'),
      await ask('>2024-02-29'),
      await ask('>=2024-02-29'),
    ]).toEqual(['0', '0 1', '2', '1 2']);
    for (const none of ['=2023-02-29', '=2024', '=now', '=infinity', '~2024'])
      expect(await ask(none)).toBe(400);
  });

  // VALUE-16
  test('datetime: a day matches all its instants', async () => {
    const times = [
      '2024-02-28T23:59:59.999Z',
      '2024-02-29T00:00:00Z',
      '2024-02-29T23:59:59.999Z',
      '2024-03-01T00:00:00Z',
    ];
    const { code } = await given(
      'datetime',
      times.map((value_date) => ({ value_date })),
    );
    const ask = (rest: string) => found([`field:${code}${rest}`]);
    expect(await ask('=2024-02-29')).toBe('1 2');
    expect([
      await ask('<2024-02-29'),
      await ask('<=2024-02-29'),
      await ask('>2024-02-29'),
      await ask('>=2024-02-29'),
    ]).toEqual(['0', '0 1 2', '3', '1 2 3']);
    expect(await ask('=2024-02-29T01:00:00+01:00')).toBe('1');
    expect(await ask('>2024-02-29T00:00:00Z')).toBe('2 3');
    expect(await ask('<=9999-12-31')).toBe('0 1 2 3');
  });

  const terms: Defined['terms'] = [
    { value: 'plant', label: 'Plants', aliases: ['flora'] },
    { value: 'tree', label: 'Trees', parent: 'plant' },
    { value: 'oak', label: 'Oak', parent: 'tree', aliases: ['quercus'] },
    { value: 'rose', label: 'Rose', parent: 'plant' },
    { value: 'stone', label: 'Stone' },
    { value: 'old-oak', status: 'archived', replaced_by: 'oak' },
  ];

  // VALUE-16
  test('select and multi_select: by slug, label, alias and former name', async () => {
    const one = await given(
      'select',
      [{ value_text: 'oak' }, { value_text: 'rose' }, { value_text: 'stone' }],
      { terms: terms.map(({ parent: _, ...term }) => term) },
    );
    const many = await given(
      'multi_select',
      [{ value_options: ['oak', 'rose'] }, { value_options: ['stone'] }],
      { terms: terms.map(({ parent: _, ...term }) => term) },
    );
    for (const name of ['oak', 'OAK', 'quercus', 'old-oak']) {
      expect([name, await found([`field:${one.code}=${name}`])]).toEqual([name, '0']);
      expect([name, await found([`field:${many.code}=${name}`])]).toEqual([name, '0']);
    }
    expect(await found([`field:${many.code}=rose`, `field:${many.code}=oak`])).toBe('0');
    expect(await found([`field:${many.code}=rose`, `field:${many.code}=stone`])).toBe('');
    for (const none of ['=birch', '=%', "='", '=_ak'])
      expect(await found([`field:${one.code}${none}`])).toBe('');
    for (const none of ['~oak', '<oak', '>=oak'])
      expect(await found([`field:${many.code}${none}`])).toBe(400);
  });

  // VALUE-16
  test('tree: a term and all below it', async () => {
    const { code } = await given(
      'tree',
      [{ value_text: 'oak' }, { value_text: 'rose' }, { value_text: 'stone' }],
      { terms },
    );
    expect(await found([`field:${code}=Plants`])).toBe('0 1');
    expect(await found([`field:${code}=flora`])).toBe('0 1');
    expect(await found([`field:${code}=tree`])).toBe('0');
    expect(await found([`field:${code}=oak`])).toBe('0');
  });

  test('reference: = matches an id if the caller may see the referenced asset', async () => {
    const target = await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', title: 'target' },
    });
    const { code } = await given('reference', [{ value_ref: target.id }]);
    expect(await found([`field:${code}=${target.id}`])).toBe('0');
    expect(await found([`field:${code}=${nowhere}`])).toBe('');
    for (const none of ['=x', `~${nowhere}`, "='"]) expect(await found([`field:${code}${none}`])).toBe(400);
    await owner.ok('updateAsset', { params: { id: target.id }, body: { sensitivity: 'restricted' } });
    expect(await found([`field:${code}=${target.id}`])).toBe('');
    expect(await found([`field:${code}=${target.id}`], owner)).toBe('0');
  });

  test('mirrored columns: title and description', async () => {
    await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', title: 'Ridge 100%', description: 'Four mornings' },
    });
    expect(await found(['field:title=Ridge 100%'])).toBe('Ridge 100%');
    expect(await found(['field:title~RIDGE'])).toBe('Ridge 100%');
    expect(await found(['field:description~four', 'field:title~%'])).toBe('Ridge 100%');
    expect(await found(['field:title<R'])).toBe(400);
  });

  // VALUE-13
  test('several filters must all match, in addition to other parameters', async () => {
    const first = await given('number', [{ value_num: 1 }, { value_num: 2 }]);
    const second = await define(library, 'text', { code: 'both' });
    await library.deps.db
      .insertInto('asset_field_values')
      .values({ asset_id: first.assets[1] ?? '', field_id: second, value_text: 'x', set_by: 'import' })
      .execute();
    expect(await found([`field:${first.code}>0`])).toBe('0 1');
    expect(await found([`field:${first.code}>0`, 'field:both=x'])).toBe('1');
    const none = await stranger.ok('listAssets', {
      query: { filter: [`field:${first.code}>0`], asset_type: 3 },
    });
    expect(none.items).toEqual([]);
  });

  test('pages through what is found', async () => {
    const { code } = await given(
      'number',
      [1, 2, 3, 4, 5].map((value_num) => ({ value_num })),
    );
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string }[]; next_cursor: string | null } = await stranger.ok('listAssets', {
        query: { filter: [`field:${code}>=2`], limit: 2, ...(cursor === null ? {} : { cursor }) },
      });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(4);
    expect(seen.length).toBe(4);
  });

  // FIELD-11
  test('works on a field that is not searchable, and on deprecated terms', async () => {
    const { id, code } = await given('select', [{ value_text: 'fading' }], {
      terms: [{ value: 'fading', status: 'deprecated' }],
    });
    await library.deps.db.updateTable('fields').set({ searchable: false }).where('id', '=', id).execute();
    expect(await found([`field:${code}=fading`])).toBe('0');
  });
});

// VALUE-14
describe('what is no filter is 400', () => {
  const malformed = [
    'title=x',
    'field:',
    'field:title',
    'field:=x',
    'field:title=',
    'field:title~ ',
    'FIELD:title=x',
    'field:title!x',
    'x',
    ' ',
  ];

  // VALUE-14
  test.each(malformed)('%j', async (filter) => {
    expect(await found([filter])).toBe(400);
  });

  // VALUE-15
  test('more than twenty, or one of more than 10,000 characters', async () => {
    expect(await found(Array.from({ length: 20 }, () => 'field:title~r'))).not.toBe(400);
    expect(await found(Array.from({ length: 21 }, () => 'field:title~r'))).toBe(400);
    expect(await found([`field:title=${'x'.repeat(10_000)}`])).toBe(400);
  });

  test('NUL and half characters', async () => {
    expect((await stranger.send('/assets?filter=field:title=%00')).status).toBe(400);
    expect((await stranger.send('/assets?filter=field:title=%ED%A0%80')).status).toBeLessThan(500);
  });
});

describe('a filter reveals nothing that the caller may not read', () => {
  // VALUE-9, VALUE-14, VALUE-25
  test('unknown, archived, unreadable and collection fields return the same error to every caller', async () => {
    await given('text', [{ value_text: 'x' }], { code: 'secret', read_capability: 'jobs.read' });
    await given('number', [], { code: 'secret_number', read_capability: 'jobs.read' });
    await given('text', [], { code: 'put_away', status: 'archived' });
    await define(library, 'text', { code: 'of_collections', subject_kind: 'collection' });
    const named = (code: string) => `filter: there is no field "${code}"`;
    const script = await bearer(library, stranger, ['read']);
    await library.setPublicMode(true);
    for (const who of [stranger, owner, script, library.anonymous()]) {
      for (const code of ['nothing', 'secret', 'secret_number', 'put_away', 'of_collections'])
        for (const rest of ['=x', '~x', '<5', '>=no'])
          expect(await error(`field:${code}${rest}`, who)).toBe(named(code));
    }
    await library.setPublicMode(false);
    expect(await error('field:put_away=x', root)).toBe(named('put_away'));
    expect(await found(['field:secret=x'], root)).toBe('0');
    const deprecated = await given('text', [{ value_text: 'x' }], { status: 'deprecated' });
    expect(await error(`field:${deprecated.code}=x`, root)).toBe(named(deprecated.code));
  });

  // FIELD-10
  test('who configures fields does not read them for that', async () => {
    const admin = await arrive(library, 'field-admin');
    await grant(library, admin, 'fields.admin');
    expect(await error('field:secret=x', admin)).toBe('filter: there is no field "secret"');
  });

  // VALUE-17
  test('a capability held in a team finds that team’s assets alone', async () => {
    const { id, code, assets } = await given('text', [{ value_text: 'x' }, { value_text: 'x' }], {
      read_capability: 'roles.read',
    });
    const reader = await arrive(library, 'team-reader');
    await grant(library, reader, 'roles.read', team);
    await library.deps.db
      .updateTable('assets')
      .set({ team_id: team })
      .where('id', '=', assets[1] ?? '')
      .execute();
    expect(await found([`field:${code}=x`], reader)).toBe('1');
    expect(await found([`field:${code}=x`], root)).toBe('0 1');
    await library.deps.db.updateTable('fields').set({ status: 'archived' }).where('id', '=', id).execute();
    expect(await found([`field:${code}=x`], reader)).toBe(400);
  });

  test('a withheld asset is not found by withheld columns, and a deleted one is never found', async () => {
    const { code, assets } = await given(
      'text',
      ['a', 'a', 'a', 'a'].map((value_text) => ({ value_text })),
    );
    const [open, restricted, draft, deleted] = assets;
    if (open === undefined || restricted === undefined || draft === undefined || deleted === undefined)
      throw new Error('no assets');
    await owner.ok('updateAsset', { params: { id: restricted }, body: { sensitivity: 'restricted' } });
    await owner.ok('updateAsset', { params: { id: draft }, body: { status: 'draft' } });
    await owner.ok('deleteAsset', { params: { id: deleted }, body: undefined });
    expect(await found([`field:${code}=a`])).toBe('0');
    expect(await found([`field:${code}=a`], owner)).toBe('0 1 2');
    await library.setPublicMode(true);
    expect(await found([`field:${code}=a`], library.anonymous())).toBe('0');
    await library.setPublicMode(false);
    expect(await found([`field:${code}=a`], library.anonymous())).toBe(401);
    const trash = await root.ok('listAssets', {
      query: { filter: [`field:${code}=a`], include_deleted: true },
    });
    expect(trash.items.length).toBe(4);
  });

  test('a value is not found after its field no longer applies to the asset type', async () => {
    const { id, code } = await given('text', [{ value_text: 'a' }]);
    await library.deps.db
      .updateTable('fields')
      .set({ applies_to: [3] })
      .where('id', '=', id)
      .execute();
    expect(await found([`field:${code}=a`])).toBe('');
  });
});
