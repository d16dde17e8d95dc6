import type { Capability } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { readFieldsEpoch } from '../../src/content/fields/definitions/transaction.ts';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { bearer, grant, nowhere } from '../support/people.ts';
import { countStatements } from '../support/statements.ts';
import { change, define, notChanged, notDefined } from './define.ts';

const library = await openLibrary();
const editor = await library.join('editor');
await grant(library, editor, ['fields.admin', 'users.read']);
const stranger = await library.join('stranger');
/** The fields that mirror a column of assets. */
const mirrors = (await stranger.ok('listFields')).items;

const epoch = () => library.deps.db.transaction().execute((tx) => readFieldsEpoch(tx));
const get = (who: Account, id: string) => who.ok('getField', { params: { id } });

/** Creates a field with each of these codes, and returns their ids. */
async function defineEach(...codes: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const code of codes) ids.push((await define(editor, { code })).id);
  return ids;
}

// FIELD-22
test('title and description exist from the start and mirror the columns of the asset', async () => {
  expect(mirrors.map(({ code, type, mirrors_column }) => [code, type, mirrors_column])).toEqual([
    ['title', 'text', 'title'],
    ['description', 'longtext', 'description'],
  ]);
});

describe('POST /fields', () => {
  // FIELD-4, FIELD-11, FIELD-13, FIELD-15
  test('returns 201 with the definition, including the defaults of omitted properties', async () => {
    const sent = { code: 'shot_at', label: 'Shot at', type: 'date' };
    const answer = await editor.send('/fields', { method: 'POST', body: sent });
    expect(answer.status).toBe(201);
    const field = JSON.parse(answer.text);
    expect(field).toEqual({
      ...sent,
      id: field.id,
      description: '',
      subject_kind: 'asset',
      options: {},
      open_vocabulary: false,
      required: false,
      searchable: true,
      applies_to: [],
      read_capability: null,
      write_capability: null,
      display_order: 100,
      display_group: 'general',
      extraction_source: '',
      extraction_mode: '',
      show_on_card: false,
      show_in_advanced_search: true,
      show_on_upload: true,
      edit_tab: null,
      read_only: false,
      regexp_filter: null,
      mirrors_column: null,
      display_condition: null,
      translations: {},
      status: 'active',
      deprecated_replacement_id: null,
      default_value: null,
      created_at: field.created_at,
      updated_at: field.updated_at,
    });
    expect(await get(stranger, field.id)).toEqual(field);
  });

  // FIELD-4
  test('stores every property of the body', async () => {
    const body = {
      code: 'c'.repeat(64),
      label: 'Mood',
      description: 'How it feels',
      type: 'multi_select' as const,
      subject_kind: 'asset' as const,
      options: {
        values: ['calm', { value: 'wild', label: 'Wild!', aliases: ['crazy'] }],
        max_items: 3,
        hint: 'x',
      },
      open_vocabulary: true,
      required: true,
      searchable: false,
      applies_to: [1, 2],
      read_capability: 'users.read',
      write_capability: 'users.write',
      display_order: -3,
      display_group: 'looks',
      default_value: { kind: 'literal' as const, value_options: ['calm'] },
    };
    expect(await editor.ok('createField', { body })).toMatchObject(body);
  });

  // FIELD-1, FIELD-2, FIELD-43, ROLE-1
  test('refuses invalid codes, labels, asset types and capabilities, and names them', async () => {
    for (const [body, named] of [
      [{ code: 'Mood' }, 'code'],
      [{ code: '1st' }, 'code'],
      [{ code: 'a-b' }, 'code'],
      [{ label: '   ' }, 'label'],
      [{ applies_to: [1, 4711] }, 'applies_to: there is no asset type 4711'],
      [{ read_capability: 'read.all' }, 'read_capability: there is no capability read.all'],
      [{ write_capability: 'content.access.request' }, 'write_capability: there is no capability'],
    ] as const)
      expect(await notDefined(editor, body)).toContain(named);
  });

  // FIELD-4
  test('does not accept what is set by an update or by the system', async () => {
    for (const name of [
      'display_condition',
      'regexp_filter',
      'show_on_card',
      'show_in_advanced_search',
      'show_on_upload',
      'edit_tab',
      'read_only',
      'mirrors_column',
      'extraction_source',
      'status',
      'deprecated_replacement_id',
      'id',
    ])
      expect(await notDefined(editor, { [name]: null })).toBe(`unknown property ${name}`);
  });

  // FIELD-1
  test('creates one field when requests use the same code at once, and returns 409 to the others', async () => {
    const body = { code: 'raced', label: 'x', type: 'text' };
    const answers = await Promise.all([1, 2, 3].map(() => editor.send('/fields', { method: 'POST', body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.text).toContain(
      'there is a field with the code raced',
    );
  });

  // FIELD-3, FIELD-41
  test('requires fields.admin, also of a token, and records the author in the audit log', async () => {
    const body = { code: 'gated', label: 'x', type: 'text' as const };
    expect((await stranger.refused('createField', { body })).error).toBe('missing capability fields.admin');
    const reader = await bearer(library, editor, ['read', 'assets.write']);
    expect((await reader.refused('createField', { body })).error).toContain('fields.admin');
    const script = await bearer(library, editor, ['fields.admin']);
    const { id } = await script.ok('createField', { body });
    expect(await auditEvents(library, { target_id: id })).toMatchObject([
      {
        event: 'field.created',
        actor_user_ref: editor.ref,
        target_kind: 'field',
        metadata: { code: 'gated' },
      },
    ]);
  });
});

describe('updateField', () => {
  // FIELD-2
  test('does not change immutable properties', async () => {
    const { id } = await define(editor);
    for (const name of ['id', 'code', 'type', 'subject_kind', 'mirrors_column', 'created_at'])
      expect(await notChanged(editor, id, { [name]: 'text' })).toBe(`unknown property ${name}`);
  });

  // FIELD-5
  test('PUT works like PATCH; absent and null properties stay unchanged', async () => {
    const made = await define(editor, { description: 'kept', display_group: 'a' });
    const body = { label: 'Renamed', description: null, show_on_card: true, required: null };
    const put = await editor.ok('putField', { params: { id: made.id }, body });
    expect(put).toEqual({ ...made, label: 'Renamed', show_on_card: true, updated_at: put.updated_at });
    expect(Date.parse(put.updated_at)).toBeGreaterThan(Date.parse(made.updated_at));
  });

  // FIELD-5, HTTP-17
  test('removes each removable property by name, and refuses a new value beside it', async () => {
    const other = await define(editor, { type: 'select', options: { values: ['a'] } });
    const { id } = await define(editor);
    const set = {
      default_value: { kind: 'literal' as const, value_text: 'x' },
      edit_tab: 'more',
      regexp_filter: '[a-z]+',
      display_condition: [`${other.code}=a`],
      read_capability: 'users.read',
      write_capability: 'users.read',
      deprecated_replacement_id: other.id,
    };
    expect(await change(editor, id, set)).toMatchObject(set);
    for (const [property, value] of Object.entries(set)) {
      const clear = `clear_${property.replace('_value', '').replace('deprecated_replacement_id', 'deprecated_replacement')}`;
      expect(await notChanged(editor, id, { [clear]: true, [property]: value })).toContain(clear);
      expect(await change(editor, id, { [clear]: true })).toHaveProperty(property, null);
    }
  });

  // HTTP-18, HTTP-19
  test('changes nothing if it is empty, refused or late', async () => {
    const made = await define(editor, { type: 'select', options: { values: ['a', 'b'] } });
    for (const body of [{}, { label: null, clear_default: false, if_unchanged_since: made.updated_at }])
      expect(await change(editor, made.id, body)).toEqual(made);
    const default_value = { kind: 'literal', value_text: 'a' };
    await notChanged(editor, made.id, { label: 'x', options: { values: ['c'] }, default_value });
    expect(await get(editor, made.id)).toEqual(made);
    const changed = await change(editor, made.id, { label: 'Second', if_unchanged_since: made.updated_at });
    const late = { label: 'Third', if_unchanged_since: made.updated_at };
    const refused = await editor.send(`/fields/${made.id}`, { method: 'PATCH', body: late });
    expect([refused.status, JSON.parse(refused.text).updated_at]).toEqual([409, changed.updated_at]);
    expect(await get(editor, made.id)).toEqual(changed);
  });

  // FIELD-9
  test('accepts as replacement of a deprecated field another of the same kind, without cycles', async () => {
    const [first = '', second = '', third = ''] = await defineEach('first', 'second', 'third');
    const shelf = await define(editor, { subject_kind: 'collection' });
    for (const [id, named] of [
      [first, 'the field itself'],
      [shelf.id, 'another kind'],
      [nowhere, 'no such field'],
    ] as const)
      expect(await notChanged(editor, first, { deprecated_replacement_id: id })).toContain(named);
    const replaced = { status: 'deprecated', deprecated_replacement_id: second } as const;
    expect(await change(editor, first, replaced)).toMatchObject(replaced);
    await change(editor, second, { deprecated_replacement_id: third });
    for (const [id, cycle] of [
      [second, 'second > first > second'],
      [third, 'third > first > second > third'],
    ] as const)
      expect(await notChanged(editor, id, { deprecated_replacement_id: first })).toBe(
        `deprecated_replacement_id: the fields replace each other: ${cycle}`,
      );
    // Two fields with the same replacement form no cycle.
    await change(editor, (await define(editor)).id, { deprecated_replacement_id: third });
  });

  // FIELD-39
  test('every change invalidates the definitions that processes cache', async () => {
    const before = await epoch();
    const { id } = await define(editor);
    await change(editor, id, { searchable: false });
    await editor.ok('setFieldExtraction', { params: { id }, body: { source: 'title' } });
    await editor.ok('archiveField', { params: { id } });
    expect(await epoch()).toBe(before + 4);
  });
});

// FIELD-7, FIELD-8
test('DELETE archives a field, is idempotent and can be undone; only fields.admin sees archived fields', async () => {
  const { id, code } = await define(editor);
  for (let time = 0; time < 2; time += 1) await editor.ok('archiveField', { params: { id } });
  expect(await editor.status('POST', '/fields', { code, label: 'x', type: 'text' })).toBe(409);
  const codes = async (who: Account, query = {}) =>
    (await who.ok('listFields', { query: { limit: 200, ...query } })).items.map((one) => one.code);
  expect(await codes(editor)).not.toContain(code);
  for (const status of ['archived', 'any'] as const) {
    expect(await codes(editor, { status })).toContain(code);
    expect(await codes(stranger, { status })).not.toContain(code);
  }
  expect((await stranger.refused('getField', { params: { id } })).status).toBe(404);
  expect((await get(editor, id)).status).toBe('archived');
  expect((await change(editor, id, { status: 'active' })).status).toBe('active');
});

// FIELD-6, FIELD-40, HTTP-7
test('GET /fields lists fields in display order, filtered by kind, status and asset type', async () => {
  const fresh = await openLibrary();
  const admin = await fresh.join('root', 'admin');
  await define(admin, { code: 'late', display_order: 200 });
  await define(admin, { code: 'early', display_order: 5, applies_to: [2] });
  await define(admin, { code: 'also_early', display_order: 5, applies_to: [1, 3] });
  // FIELD-6: applies_to is ignored for a collection.
  const shelf = await define(admin, { code: 'shelf', subject_kind: 'collection', applies_to: [9] });
  expect(shelf.applies_to).toEqual([9]);
  await change(admin, (await define(admin, { code: 'old' })).id, { status: 'deprecated' });
  const codes = async (query = {}) => (await admin.ok('listFields', { query })).items.map(({ code }) => code);
  const all = ['title', 'description', 'also_early', 'early', 'old', 'shelf', 'late'];
  expect(await codes()).toEqual(all);
  expect(await codes({ subject_kind: 'collection' })).toEqual(['shelf']);
  expect(await codes({ status: 'deprecated' })).toEqual(['old']);
  expect(await codes({ asset_type: 2 })).toEqual(['title', 'description', 'early', 'old', 'late']);
  const pages = await pagesOf((from) => admin.ok('listFields', { query: { limit: 3, ...from } }));
  expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
  expect(pages.flat().map(({ code }) => code)).toEqual(all);
  await sql`insert into fields (code, label, type, subject_kind)
    select 'many_' || n, 'Many', 'text', 'asset' from generate_series(1, 60) n`.execute(fresh.deps.db);
  expect(await codes()).toHaveLength(50);
});

test('GET /fields needs a fixed number of statements, however many fields and terms there are', {
  tags: ['one-process'],
}, async () => {
  const count = async () =>
    (await countStatements(library, () => editor.ok('listFields', { query: { limit: 200 } })))[1];
  await count();
  const before = await count();
  for (let n = 0; n < 5; n += 1) await define(editor, { type: 'select', options: { values: ['a', 'b'] } });
  expect(await count()).toBe(before);
});

describe('the flags of a definition', () => {
  // FIELD-12
  test('show_on_card and a read capability are mutually exclusive, whichever came first', async () => {
    const read_capability = 'users.read';
    const gated = await define(editor, { read_capability });
    expect(await notChanged(editor, gated.id, { show_on_card: true })).toContain('show_on_card');
    const { id } = await define(editor);
    expect(await notChanged(editor, id, { show_on_card: true, read_capability })).toContain('show_on_card');
    await change(editor, id, { show_on_card: true });
    expect(await notChanged(editor, id, { read_capability })).toContain('read_capability');
    // One may replace the other in one request.
    await change(editor, id, { show_on_card: false, read_capability });
    await change(editor, id, { show_on_card: true, clear_read_capability: true });
  });

  // FIELD-15
  test('edit_tab cannot be empty', async () => {
    const { id } = await define(editor);
    for (const empty of ['', '  '])
      expect(await notChanged(editor, id, { edit_tab: empty })).toContain('edit_tab');
  });

  // FIELD-18
  test('a field that mirrors a column takes no flag that the column cannot have', async () => {
    for (const { id, mirrors_column } of mirrors)
      for (const [name, value] of Object.entries({
        read_only: true,
        regexp_filter: 'a',
        read_capability: 'users.read',
        default_value: { kind: 'literal', value_text: 'x' },
      }))
        expect(await notChanged(editor, id, { [name]: value })).toBe(
          `${name} cannot be combined with mirrors_column (${mirrors_column})`,
        );
  });

  // FIELD-24, FIELD-30
  test('hides the code and terms of a condition on a field that the caller may not read', async () => {
    const read_capability: Capability = 'jobs.read';
    const gated = await define(editor, { read_capability });
    const open = await define(editor);
    const { id } = await define(editor, { code: 'follows_gated' });
    const condition = [`${open.code}=x`, ` ${gated.code.toUpperCase()} = undisclosed`];
    const changed = await change(editor, id, { display_condition: condition });
    // It is stored as written.
    expect(changed.display_condition).toEqual(condition);
    expect(await get(stranger, id)).toMatchObject({ display_condition: null });
    const { items } = await stranger.ok('listFields', { query: { limit: 200 } });
    expect(items.find((one) => one.id === id)).toMatchObject({ display_condition: null });
    expect(JSON.stringify(items)).not.toContain('undisclosed');
    const reader = await library.join('reader');
    await grant(library, reader, read_capability);
    for (const who of [reader, editor]) expect((await get(who, id)).display_condition).toEqual(condition);
    await change(editor, id, { display_condition: [`${open.code}=x`] });
    expect((await get(stranger, id)).display_condition).toEqual([`${open.code}=x`]);
  });
});

describe('regexp_filter', () => {
  // FIELD-19
  test('is stored unchanged, on text and longtext fields only', async () => {
    for (const type of ['text', 'longtext'] as const) {
      const { id } = await define(editor, { type });
      const pattern = '  [A-Z]{2}-\\d+|none ';
      expect((await change(editor, id, { regexp_filter: pattern })).regexp_filter).toBe(pattern);
      expect((await change(editor, id, { regexp_filter: '' })).regexp_filter).toBeNull();
    }
    for (const type of ['rich_text', 'number', 'date', 'select', 'boolean', 'reference'] as const) {
      const { id } = await define(editor, { type });
      expect(await notChanged(editor, id, { regexp_filter: 'a' })).toContain(`not for ${type}`);
    }
  });

  // FIELD-19, FIELD-20
  test('is refused with a reason if it does not compile, is anchored or is too long', async () => {
    const { id } = await define(editor);
    for (const [pattern, named] of [
      ['(', 'missing closing )'],
      ['(?=a)b', 'invalid or unsupported Perl syntax'],
      ['(a)\\1', 'invalid escape sequence'],
      ['a{1001}', 'invalid repeat count'],
      ['^abc', 'must not be written'],
      ['x'.repeat(1001), 'longer than 1000'],
    ] as const)
      expect(await notChanged(editor, id, { regexp_filter: pattern })).toContain(named);
    expect((await get(editor, id)).regexp_filter).toBeNull();
  });

  // FIELD-20
  test('is refused if it is too slow for the longest value, also when that length grows', async () => {
    const { id } = await define(editor, { type: 'longtext' });
    const costly = { regexp_filter: '.*a.{195}' };
    expect(await notChanged(editor, id, costly)).toContain('for values of 50000 characters');
    await change(editor, id, { ...costly, options: { max_length: 5000 } });
    for (const options of [{ max_length: 5001 }, {}])
      expect(await notChanged(editor, id, { options })).toContain('repeats too much');
    await change(editor, id, { options: {}, clear_regexp_filter: true });
  });
});

// FIELD-24
describe('display_condition', () => {
  // FIELD-25, FIELD-42
  test('refuses a term that can never be evaluated, and names it', async () => {
    const [id = '', gone = ''] = await defineEach('cond_own', 'cond_gone');
    for (const type of ['number', 'select', 'multi_select'] as const)
      await define(editor, { code: `cond_${type}`, type });
    await define(editor, { code: 'cond_shelf', subject_kind: 'collection' });
    await editor.ok('archiveField', { params: { id: gone } });
    for (const [display_condition, named] of [
      [[], 'empty'],
      [['cond_select'], 'not <code><operator><value>'],
      [['field:cond_select=a'], 'no field field:cond_select'],
      [['nothing=a'], 'no field nothing'],
      [['cond_gone=a'], 'no field cond_gone'],
      [['cond_own=a'], 'the field itself'],
      [['cond_shelf=a'], 'another kind (collection)'],
      [['cond_number=5'], 'takes none'],
      [['cond_number>=5'], '>= is not allowed'],
      [['title<=5'], '<= is not allowed'],
      [['title<5'], 'takes = and ~'],
      [['cond_select~a'], 'takes =, not ~'],
      [['cond_select=a', 'cond_select=b'], 'never true together'],
      [['title=moon', 'title~SUN'], 'never true together'],
    ] as const)
      expect(await notChanged(editor, id, { display_condition }), String(display_condition)).toContain(named);
    // A set may contain both, and a repeated term is no contradiction.
    const fine = ['cond_multi_select=a', 'cond_multi_select=b', 'title=Sun', 'title~su', 'title=Sun'];
    expect((await change(editor, id, { display_condition: fine })).display_condition).toEqual(fine);
  });

  // FIELD-29
  test('refuses cycles, also by concurrent updates, and remains when the field it names is archived', async () => {
    const [a = '', b = '', c = ''] = await defineEach('circle_a', 'circle_b', 'circle_c');
    const set = (id: string, display_condition: string[]) => change(editor, id, { display_condition });
    await set(a, ['circle_b=x']);
    await set(b, ['circle_c=x']);
    expect(await notChanged(editor, c, { display_condition: ['circle_a=x'] })).toContain(
      'circle_c > circle_a > circle_b > circle_c',
    );
    await editor.ok('archiveField', { params: { id: c } });
    expect((await change(editor, b, { label: 'Other' })).display_condition).toEqual(['circle_c=x']);
    const [one, other] = await defineEach('twin_a', 'twin_b');
    const statuses = await Promise.all([
      editor.status('PATCH', `/fields/${one}`, { display_condition: ['twin_b=x'] }),
      editor.status('PATCH', `/fields/${other}`, { display_condition: ['twin_a=x'] }),
    ]);
    expect(statuses.sort()).toEqual([200, 400]);
  });
});

describe('PUT /fields/{id}/extraction', () => {
  const wire = (id: string, body: { source: string; mode?: '' | 'replace' | 'append' }) =>
    editor.ok('setFieldExtraction', { params: { id }, body });

  // FIELD-38
  test('sets source and mode, and keeps all other properties', async () => {
    const made = await define(editor, { description: 'kept', required: true });
    const wired = await wire(made.id, { source: 'creator', mode: 'replace' });
    const set = { extraction_source: 'creator', extraction_mode: 'replace' };
    expect(wired).toEqual({ ...made, ...set, updated_at: wired.updated_at });
    for (const mode of [{}, { mode: '' as const }])
      expect((await wire(made.id, { source: 'creator', ...mode })).extraction_mode).toBe('skip_if_set');
    const cleared = await wire(made.id, { source: '' });
    expect(cleared).toMatchObject({ extraction_source: '', description: 'kept', required: true });
  });

  // EXTRACT-1, FIELD-38
  test('returns 400 for unknown sources and modes, and for fields of collections', async () => {
    const { id } = await define(editor);
    const shelf = await define(editor, { subject_kind: 'collection' });
    for (const [to, body, named] of [
      [id, { source: 'aura' }, 'nothing extracts aura'],
      [id, { source: 'Title' }, 'nothing extracts Title'],
      [id, { source: 'title', mode: 'sometimes' }, 'mode'],
      [id, { mode: 'replace' }, 'source'],
      [shelf.id, { source: 'title' }, 'collections have no file'],
    ] as const) {
      const answer = await editor.send(`/fields/${to}/extraction`, { method: 'PUT', body });
      expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, expect.stringContaining(named)]);
    }
    const params = { id: nowhere };
    const missing = [
      await editor.refused('setFieldExtraction', { params, body: { source: 'title' } }),
      await editor.refused('updateField', { params, body: {} }),
      await editor.refused('archiveField', { params }),
    ];
    expect(missing.map(({ status }) => status)).toEqual([404, 404, 404]);
  });
});

// FIELD-45
test('a field may have a read capability of its own, and no other that is not listed', async () => {
  const { id } = await define(editor, { code: 'hidden', read_capability: 'fields.read.hidden' });
  expect((await get(editor, id)).read_capability).toBe('fields.read.hidden');
  expect(await notDefined(editor, { code: 'open', read_capability: 'fields.read.hidden' })).toContain(
    'no capability',
  );
  expect(await notDefined(editor, { code: 'open', write_capability: 'fields.read.open' })).toContain(
    'no capability',
  );
  expect((await stranger.ok('listFields')).items.map(({ code }) => code)).not.toContain('hidden');
});
