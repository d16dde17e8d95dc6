import { capabilities } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { readFieldsEpoch } from '../../src/fields/definitions/transaction.ts';
import { actAs, addTeam, arrive, bearer, grant, nowhere } from '../posts/people.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';
import { change, define, notChanged, notDefined } from './define.ts';

let library: Library;
let root: Account;
let editor: Account;
let stranger: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  editor = await arrive(library, 'editor');
  await grant(library, editor, 'fields.admin');
  stranger = await arrive(library, 'stranger');
});

const epoch = () => library.deps.db.transaction().execute((tx) => readFieldsEpoch(tx));
const get = (who: Account, id: string) => who.ok('getField', { params: { id } });

// FIELD-4
describe('POST /fields', () => {
  // FIELD-4
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
      code: 'mood',
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

  // FIELD-1, FIELD-2, FIELD-43
  test.each([
    ['a code of 65 characters', { code: 'a'.repeat(65) }, 'code'],
    ['an empty code', { code: '' }, 'code'],
    ['an uppercase code', { code: 'Mood' }, 'code'],
    ['a code that begins with a digit', { code: '1st' }, 'code'],
    ['a code with a hyphen', { code: 'a-b' }, 'code'],
    ['a label of 201 characters', { label: 'x'.repeat(201) }, 'label'],
    ['an empty label', { label: '' }, 'label'],
    ['a blank label', { label: '   ' }, 'label'],
    ['an unknown type', { type: 'colour' }, 'type'],
    ['an unknown kind of subject', { subject_kind: 'post' }, 'subject_kind'],
    ['options that are a list', { options: [] }, 'options'],
    ['a display order that is none', { display_order: 1.5 }, 'display_order'],
    ['a null where none may be', { description: null }, 'description'],
    ['an asset type there is not', { applies_to: [1, 4711] }, 'applies_to: there is no asset type 4711'],
    [
      'an unknown capability to read',
      { read_capability: 'read.all' },
      'read_capability: there is no capability read.all',
    ],
    ['an unknown capability to write', { write_capability: 'x' }, 'write_capability'],
  ])('refuses %s with 400, naming it', async (_, body, named) => {
    expect(await notDefined(editor, body)).toContain(named);
  });

  // FIELD-4
  test.each([
    'display_condition',
    'regexp_filter',
    'show_on_card',
    'show_in_advanced_search',
    'show_on_upload',
    'edit_tab',
    'read_only',
    'mirrors_column',
    'extraction_source',
    'extraction_mode',
    'status',
    'deprecated_replacement_id',
    'id',
    'created_at',
  ])('does not accept %s, which is set by an update', async (name) => {
    expect(await notDefined(editor, { [name]: name === 'display_condition' ? ['a=b'] : null })).toBe(
      `unknown property ${name}`,
    );
  });

  // FIELD-1
  test('accepts a code of 64 characters, and returns 409 for a code that is taken', async () => {
    const code = 'c'.repeat(64);
    await define(editor, { code });
    const again = await editor.refused('createField', { body: { code, label: 'x', type: 'text' } });
    expect(again).toEqual({ status: 409, error: `there is a field with the code ${code}` });
  });

  // FIELD-1
  test('creates one field when two requests use the same code at once', async () => {
    const body = { code: 'raced', label: 'x', type: 'text' };
    const answers = await Promise.all([1, 2, 3].map(() => editor.send('/fields', { method: 'POST', body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  // FIELD-3
  test('requires fields.admin, and a token with its scope', async () => {
    const body = { code: 'gated', label: 'x', type: 'text' as const };
    await library.setPublicMode(true);
    expect((await library.anonymous().refused('createField', { body })).status).toBe(401);
    await library.setPublicMode(false);
    expect(await stranger.refused('createField', { body })).toEqual({
      status: 403,
      error: 'missing capability fields.admin',
    });
    const reader = await bearer(library, editor, ['read', 'assets.write']);
    expect((await reader.refused('createField', { body })).error).toContain('fields.admin');
    const masked = await actAs(library, root, stranger);
    expect((await masked.refused('createField', { body })).status).toBe(403);
    const script = await bearer(library, editor, ['fields.admin']);
    expect((await script.ok('createField', { body })).code).toBe('gated');
  });

  // FIELD-41
  test('is recorded in the audit log with its actor', async () => {
    const { id } = await define(editor, { code: 'noted' });
    const { rows } = await sql<object>`select event, actor_user_ref, target_kind, metadata->>'code' as code
      from audit_events where target_id = ${id}`.execute(library.deps.db);
    expect(rows).toEqual([
      { event: 'field.created', actor_user_ref: editor.ref, target_kind: 'field', code: 'noted' },
    ]);
  });
});

// FIELD-5
describe('updateField', () => {
  // FIELD-2
  test.each(['id', 'code', 'type', 'subject_kind', 'mirrors_column', 'created_at'])(
    '%s is immutable',
    async (name) => {
      const { id } = await define(editor);
      expect(await notChanged(editor, id, { [name]: 'text' })).toBe(`unknown property ${name}`);
    },
  );

  // FIELD-5
  test('PUT works like PATCH; absent and null properties stay unchanged', async () => {
    const made = await define(editor, { description: 'kept', display_group: 'a' });
    const put = await editor.ok('putField', {
      params: { id: made.id },
      body: { label: 'Renamed', description: null, show_on_card: true, required: null },
    });
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

  // HTTP-18
  test('an empty update changes nothing', async () => {
    const made = await define(editor);
    for (const body of [{}, { label: null, clear_default: false, if_unchanged_since: made.updated_at }])
      expect(await change(editor, made.id, body)).toEqual(made);
  });

  // HTTP-19
  test('if_unchanged_since refuses with 409 and writes nothing', async () => {
    const made = await define(editor);
    const changed = await change(editor, made.id, { label: 'Second', if_unchanged_since: made.updated_at });
    const late = { label: 'Third', if_unchanged_since: made.updated_at };
    const refused = await editor.send(`/fields/${made.id}`, { method: 'PATCH', body: late });
    expect([refused.status, JSON.parse(refused.text).updated_at]).toEqual([409, changed.updated_at]);
    expect(await get(editor, made.id)).toEqual(changed);
  });

  test('a refused update changes nothing', async () => {
    const made = await define(editor, { type: 'select', options: { values: ['a', 'b'] } });
    await notChanged(editor, made.id, { label: 'x', options: { values: ['c'] }, regexp_filter: 'a' });
    await notChanged(editor, made.id, {
      options: { values: ['c'] },
      default_value: { kind: 'literal', value_text: 'a' },
    });
    expect(await get(editor, made.id)).toEqual(made);
  });

  // FIELD-9
  test('the replacement of a deprecated field must be another field of the same kind', async () => {
    const [asset, other] = [await define(editor), await define(editor)];
    const collection = await define(editor, { subject_kind: 'collection' });
    for (const [id, named] of [
      [asset.id, 'the field itself'],
      [collection.id, 'another kind'],
      [nowhere, 'no such field'],
    ] as const)
      expect(await notChanged(editor, asset.id, { deprecated_replacement_id: id })).toContain(named);
    const change1 = await change(editor, asset.id, {
      status: 'deprecated',
      deprecated_replacement_id: other.id,
    });
    expect(change1).toMatchObject({ status: 'deprecated', deprecated_replacement_id: other.id });
  });

  // FIELD-9
  test('refuses replacements that form a cycle of two or five fields', async () => {
    const fields = [];
    for (let made = 0; made < 5; made += 1) fields.push(await define(editor));
    const ids = fields.map(({ id }) => id);
    const codes = fields.map(({ code }) => code);
    const replace = (at: number, by: number) =>
      change(editor, ids[at] ?? '', { deprecated_replacement_id: ids[by] ?? '' });
    for (const at of [0, 1, 2, 3]) {
      await replace(at, at + 1);
      const refused = await notChanged(editor, ids[at + 1] ?? '', {
        deprecated_replacement_id: ids[0] ?? '',
      });
      const circle = [codes[at + 1], ...codes.slice(0, at + 2)].join(' > ');
      expect(refused).toBe(`deprecated_replacement_id: the fields replace each other: ${circle}`);
      expect((await get(editor, ids[at + 1] ?? '')).deprecated_replacement_id).toBeNull();
    }
    // Two fields with the same replacement form no cycle.
    const sixth = await define(editor);
    await change(editor, sixth.id, { deprecated_replacement_id: ids[2] ?? '' });
  });

  // FIELD-3
  test('is for fields.admin; a missing field is 404', async () => {
    const { id } = await define(editor);
    expect((await stranger.refused('updateField', { params: { id }, body: { label: 'x' } })).status).toBe(
      403,
    );
    const missing = await editor.refused('updateField', { params: { id: nowhere }, body: { label: 'x' } });
    expect(missing.status).toBe(404);
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

// FIELD-8
describe('archiving', () => {
  // FIELD-8
  test('DELETE archives the field, is idempotent, and can be undone', async () => {
    const { id, code } = await define(editor);
    for (let time = 0; time < 2; time += 1) await editor.ok('archiveField', { params: { id } });
    expect((await get(editor, id)).status).toBe('archived');
    expect((await editor.refused('createField', { body: { code, label: 'x', type: 'text' } })).status).toBe(
      409,
    );
    expect((await change(editor, id, { status: 'active' })).status).toBe('active');
    expect((await stranger.refused('archiveField', { params: { id } })).status).toBe(403);
    expect((await editor.refused('archiveField', { params: { id: nowhere } })).status).toBe(404);
  });

  // FIELD-7
  test('lists archived fields only for fields.admin, and returns 404 to other callers', async () => {
    const { id, code } = await define(editor);
    await editor.ok('archiveField', { params: { id } });
    const codes = async (who: Account, query = {}) =>
      (await who.ok('listFields', { query: { limit: 200, ...query } })).items.map((one) => one.code);
    expect(await codes(editor)).not.toContain(code);
    for (const status of ['archived', 'any'] as const) {
      expect(await codes(editor, { status })).toContain(code);
      expect(await codes(stranger, { status })).not.toContain(code);
    }
    expect((await stranger.refused('getField', { params: { id } })).status).toBe(404);
  });
});

// FIELD-40
describe('GET /fields', () => {
  // FIELD-6, FIELD-40
  test('lists fields in display order, filtered by kind, status and asset type', async () => {
    const fresh = await openLibrary();
    const admin = await arrive(fresh, 'root', 'admin');
    await define(admin, { code: 'late', display_order: 200 });
    await define(admin, { code: 'early', display_order: 5, applies_to: [2] });
    await define(admin, { code: 'also_early', display_order: 5, applies_to: [1, 3] });
    const shelf = await define(admin, { code: 'shelf', subject_kind: 'collection', applies_to: [9] });
    await change(admin, (await define(admin, { code: 'old' })).id, { status: 'deprecated' });
    const codes = async (query = {}) =>
      (await admin.ok('listFields', { query })).items.map(({ code }) => code);
    expect(await codes()).toEqual(['title', 'description', 'also_early', 'early', 'old', 'shelf', 'late']);
    expect(await codes({ subject_kind: 'collection' })).toEqual(['shelf']);
    expect(await codes({ status: 'deprecated' })).toEqual(['old']);
    expect(await codes({ asset_type: 2 })).toEqual(['title', 'description', 'early', 'old', 'late']);
    // FIELD-6: applies_to is ignored for a collection.
    expect(shelf.applies_to).toEqual([9]);
    const first = await admin.ok('listFields', { query: { limit: 3 } });
    const second = await admin.ok('listFields', { query: { limit: 10, cursor: first.next_cursor ?? '' } });
    expect([...first.items, ...second.items].map(({ code }) => code)).toEqual(await codes());
    // HTTP-7: 50 to a page, 200 at most.
    await sql`insert into fields (code, label, type, subject_kind)
      select 'many_' || n, 'Many', 'text', 'asset' from generate_series(1, 60) n`.execute(fresh.deps.db);
    expect([(await codes()).length, (await codes({ limit: 200 })).length]).toEqual([50, 67]);
    expect((await admin.send('/fields?limit=201')).status).toBe(400);
    expect(second.next_cursor).toBeNull();
    expect((await admin.refused('listFields', { query: { cursor: 'x' } })).status).toBe(400);
  });

  // FIELD-10
  test('shows a field with a read capability only to holders, in one team or everywhere', async () => {
    const { id } = await define(editor, { read_capability: 'jobs.read' });
    const open = await define(editor);
    const [holder, inTeam] = [await arrive(library, 'holder'), await arrive(library, 'in team')];
    await grant(library, holder, 'jobs.read');
    await grant(library, inTeam, 'jobs.read', await addTeam(library, 'press'));
    const script = await bearer(library, holder, ['read']);
    for (const who of [holder, inTeam, editor, root, script]) {
      expect((await who.ok('getField', { params: { id } })).id).toBe(id);
      expect((await who.ok('listFields', { query: { limit: 200 } })).items.some((one) => one.id === id)).toBe(
        true,
      );
    }
    const masked = await actAs(library, root, stranger);
    await library.setPublicMode(true);
    for (const who of [stranger, masked, library.anonymous()]) {
      expect((await who.refused('getField', { params: { id } })).status).toBe(404);
      const listed = (await who.ok('listFields', { query: { limit: 200 } })).items.map((one) => one.id);
      expect([listed.includes(id), listed.includes(open.id)]).toEqual([false, true]);
    }
    await library.setPublicMode(false);
    expect((await library.anonymous().refused('listFields')).status).toBe(401);
    expect((await library.anonymous().refused('getField', { params: { id: open.id } })).status).toBe(401);
  });

  test('takes a fixed number of statements regardless of the number of fields and terms', async () => {
    const count = async () => {
      let statements = 0;
      // Outside a transaction each statement uses its own connection.
      const counting = () => {
        statements += 1;
      };
      library.database.pool.on('acquire', counting);
      await editor.ok('listFields', { query: { limit: 200 } });
      library.database.pool.off('acquire', counting);
      return statements;
    };
    const before = await count();
    for (let n = 0; n < 5; n += 1) await define(editor, { type: 'select', options: { values: ['a', 'b'] } });
    expect(await count()).toBe(before);
  });
});

// FIELD-12
describe('the flags of a definition', () => {
  // FIELD-11
  test('searchable is true by default, and changing it is announced', async () => {
    const { id, searchable } = await define(editor);
    expect(searchable).toBe(true);
    expect((await change(editor, id, { searchable: false })).searchable).toBe(false);
  });

  // FIELD-12
  test('show_on_card and a read capability are mutually exclusive, whichever came first', async () => {
    const gated = await define(editor, { read_capability: 'users.read' });
    expect(await notChanged(editor, gated.id, { show_on_card: true })).toContain('show_on_card');
    const onCard = await define(editor);
    await change(editor, onCard.id, { show_on_card: true });
    expect(await notChanged(editor, onCard.id, { read_capability: 'users.read' })).toContain(
      'read_capability',
    );
    const fresh = await define(editor);
    expect(
      await notChanged(editor, fresh.id, { show_on_card: true, read_capability: 'users.read' }),
    ).toContain('show_on_card');
    // Both in one request are accepted.
    expect(await change(editor, gated.id, { show_on_card: true, clear_read_capability: true })).toMatchObject(
      {
        show_on_card: true,
        read_capability: null,
      },
    );
    expect(
      await change(editor, onCard.id, { show_on_card: false, read_capability: 'users.read' }),
    ).toMatchObject({ show_on_card: false, read_capability: 'users.read' });
  });

  // FIELD-13
  test.each(['show_in_advanced_search', 'show_on_upload'] as const)(
    '%s is true by default and can be turned off',
    async (name) => {
      const field = await define(editor);
      expect(field[name]).toBe(true);
      expect((await change(editor, field.id, { [name]: false }))[name]).toBe(false);
    },
  );

  // FIELD-15
  test('edit_tab is null by default, and cannot be empty', async () => {
    const { id, edit_tab } = await define(editor);
    expect(edit_tab).toBeNull();
    for (const empty of ['', '  '])
      expect(await notChanged(editor, id, { edit_tab: empty })).toContain('edit_tab');
    expect((await change(editor, id, { edit_tab: 'Rights' })).edit_tab).toBe('Rights');
    expect((await change(editor, id, { clear_edit_tab: true })).edit_tab).toBeNull();
  });

  // FIELD-18
  test('read_only is refused on a field that mirrors a column', async () => {
    const { items } = await editor.ok('listFields', { query: { limit: 200 } });
    for (const { id, mirrors_column } of items.filter((one) => one.mirrors_column !== null))
      expect(await notChanged(editor, id, { read_only: true })).toContain(
        `mirrors_column (${mirrors_column})`,
      );
    const own = await define(editor);
    expect((await change(editor, own.id, { read_only: true })).read_only).toBe(true);
  });

  // FIELD-18
  test.each([
    ['read_capability', 'users.read'],
    ['default_value', { kind: 'literal', value_text: 'x' }],
  ])('%s is refused on a mirror', async (name, value) => {
    const { items } = await editor.ok('listFields', { query: { limit: 200 } });
    for (const { id, mirrors_column } of items.filter((one) => one.mirrors_column !== null))
      expect(await notChanged(editor, id, { [name]: value })).toBe(
        `${name} cannot be combined with mirrors_column (${mirrors_column})`,
      );
  });

  // FIELD-30
  test('hides the code and terms of a condition on a field that the caller may not read', async () => {
    const gated = await define(editor, { read_capability: 'jobs.read' });
    const open = await define(editor);
    const term = `${gated.code.toUpperCase()} = undisclosed`;
    const { id } = await define(editor, { code: 'follows_gated' });
    const condition = [`${open.code}=x`, term];
    expect((await change(editor, id, { display_condition: condition })).display_condition).toEqual(condition);
    expect(await get(stranger, id)).toMatchObject({ display_condition: null });
    const { items } = await stranger.ok('listFields', { query: { limit: 200 } });
    expect(items.find((one) => one.id === id)).toMatchObject({ display_condition: null });
    expect(JSON.stringify(items)).not.toContain('undisclosed');
    const reader = await arrive(library, 'reader');
    await grant(library, reader, 'jobs.read');
    for (const who of [reader, editor]) expect((await get(who, id)).display_condition).toEqual(condition);
    const plain = [`${open.code}=x`];
    await change(editor, id, { display_condition: plain });
    expect((await get(stranger, id)).display_condition).toEqual(plain);
  });

  // FIELD-18, FIELD-19
  test('accepts a pattern only on text and longtext fields without a mirrored column, and stores it unchanged', async () => {
    for (const type of ['text', 'longtext'] as const) {
      const { id } = await define(editor, { type });
      const pattern = '  [A-Z]{2}-\\d+|none ';
      expect((await change(editor, id, { regexp_filter: pattern })).regexp_filter).toBe(pattern);
      expect((await change(editor, id, { clear_regexp_filter: true })).regexp_filter).toBeNull();
      expect((await change(editor, id, { regexp_filter: '' })).regexp_filter).toBeNull();
    }
    for (const type of ['rich_text', 'number', 'date', 'select', 'boolean', 'reference'] as const) {
      const { id } = await define(editor, { type });
      expect(await notChanged(editor, id, { regexp_filter: 'a' })).toContain(`not for ${type}`);
    }
    const { items } = await editor.ok('listFields', { query: { limit: 200 } });
    const title = items.find((one) => one.code === 'title');
    expect(await notChanged(editor, title?.id ?? '', { regexp_filter: 'a' })).toContain('mirrors_column');
  });

  // FIELD-19
  test('explains why it refuses a pattern that does not compile, is anchored or is too large', async () => {
    const { id } = await define(editor);
    for (const [pattern, named] of [
      ['(', 'missing closing )'],
      ['[a', 'missing closing ]'],
      ['(?=a)b', 'invalid or unsupported Perl syntax'],
      ['(a)\\1', 'invalid escape sequence'],
      ['a{1001}', 'invalid repeat count'],
      ['^abc', 'must not be written'],
      ['abc$', 'must not be written'],
      ['x'.repeat(1001), 'longer than 1000'],
    ] as const)
      expect(await notChanged(editor, id, { regexp_filter: pattern })).toContain(named);
    expect((await get(editor, id)).regexp_filter).toBeNull();
  });

  // FIELD-20
  test('refuses a pattern that is too slow for the longest value, and accepts it for shorter values', async () => {
    const { id } = await define(editor, { type: 'longtext' });
    const costly = { regexp_filter: '.*a.{195}' };
    const refused = await notChanged(editor, id, costly);
    expect(refused).toContain('for values of 50000 characters');
    expect(refused).toContain('values of up to 5000, which max_length can say');
    await change(editor, id, { ...costly, options: { max_length: 5000 } });
    // Conversely, the length of values cannot be increased under a pattern.
    expect(await notChanged(editor, id, { options: { max_length: 5001 } })).toContain('repeats too much');
    expect(await notChanged(editor, id, { options: {} })).toContain('repeats too much');
    expect((await get(editor, id)).options).toEqual({ max_length: 5000 });
    await change(editor, id, { options: {}, clear_regexp_filter: true });
  });

  // FIELD-22
  test('title and description exist from the start and mirror the columns of the asset', async () => {
    const { items } = await stranger.ok('listFields', { query: { limit: 200 } });
    const mirrors = items.filter((one) => one.mirrors_column !== null);
    expect(mirrors.map(({ code, type, mirrors_column }) => [code, type, mirrors_column])).toEqual([
      ['title', 'text', 'title'],
      ['description', 'longtext', 'description'],
    ]);
    expect(await notDefined(editor, { mirrors_column: 'title' })).toContain('mirrors_column');
  });

  // ROLE-1
  test('refuses unknown capabilities', async () => {
    const { id } = await define(editor);
    for (const code of capabilities)
      expect((await change(editor, id, { write_capability: code })).write_capability).toBe(code);
    expect(await notChanged(editor, id, { write_capability: 'content.access.request' })).toContain(
      'no capability',
    );
  });
});

// FIELD-24
describe('display_condition', () => {
  // FIELD-24
  test('is set only by updates, is stored as written, and is null by default', async () => {
    const kind = await define(editor, {
      code: 'cond_kind',
      type: 'select',
      options: { values: ['Photo', 'film'].map((v) => v.toLowerCase()) },
    });
    const { id, display_condition } = await define(editor);
    expect(display_condition).toBeNull();
    const condition = [` ${kind.code.toUpperCase()} = photo `, 'title~sun'];
    expect((await change(editor, id, { display_condition: condition })).display_condition).toEqual(condition);
    expect((await change(editor, id, { clear_display_condition: true })).display_condition).toBeNull();
  });

  // FIELD-25, FIELD-42
  test('refuses a term that can never be evaluated, and names it', async () => {
    const own = await define(editor, { code: 'cond_own' });
    await define(editor, { code: 'cond_number', type: 'number' });
    await define(editor, { code: 'cond_select', type: 'select' });
    await define(editor, { code: 'cond_multi', type: 'multi_select' });
    await define(editor, { code: 'cond_shelf', subject_kind: 'collection' });
    const gone = await define(editor, { code: 'cond_gone' });
    await editor.ok('archiveField', { params: { id: gone.id } });
    for (const [condition, named] of [
      [[], 'empty'],
      [['cond_select'], 'not <code><operator><value>'],
      [['=a'], 'not <code><operator><value>'],
      [['cond_select='], 'not <code><operator><value>'],
      [['field:cond_select=a'], 'no field field:cond_select'],
      [['nothing=a'], 'no field nothing'],
      [['cond_gone=a'], 'no field cond_gone'],
      [['cond_own=a'], 'the field itself'],
      [['cond_shelf=a'], 'another kind (collection)'],
      [['cond_number=5'], 'takes none'],
      [['cond_number>5'], 'takes none'],
      [['cond_number>=5'], '>= is not allowed'],
      [['title<=5'], '<= is not allowed'],
      [['title<5'], 'takes = and ~'],
      [['cond_select~a'], 'takes =, not ~'],
      [['cond_select=a', 'cond_select=b'], 'never true together'],
      [['title=moon', 'title~SUN'], 'never true together'],
    ] as const)
      expect(await notChanged(editor, own.id, { display_condition: condition }), String(condition)).toContain(
        named,
      );
    // A set may contain both, and a repeated term is no contradiction.
    const fine = ['cond_multi=a', 'cond_multi=b', 'title=Sun', 'title~su', 'title=Sun'];
    expect((await change(editor, own.id, { display_condition: fine })).display_condition).toEqual(fine);
  });

  // FIELD-29
  test('refuses cycles over several fields', async () => {
    const [a, b, c] = [
      await define(editor, { code: 'circle_a' }),
      await define(editor, { code: 'circle_b' }),
      await define(editor, { code: 'circle_c' }),
    ];
    await change(editor, a.id, { display_condition: ['circle_b=x'] });
    await change(editor, b.id, { display_condition: ['circle_c=x'] });
    expect(await notChanged(editor, c.id, { display_condition: ['circle_a=x'] })).toContain(
      'circle_c > circle_a > circle_b > circle_c',
    );
    await change(editor, b.id, { clear_display_condition: true });
    await change(editor, c.id, { display_condition: ['circle_a=x'] });
  });

  // FIELD-29
  test('two concurrent updates cannot form a cycle together', async () => {
    const [a, b] = [await define(editor, { code: 'twin_a' }), await define(editor, { code: 'twin_b' })];
    const answers = await Promise.all([
      editor.send(`/fields/${a.id}`, { method: 'PATCH', body: { display_condition: ['twin_b=x'] } }),
      editor.send(`/fields/${b.id}`, { method: 'PATCH', body: { display_condition: ['twin_a=x'] } }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  // FIELD-29
  test('a stored condition remains when the field that it names is archived', async () => {
    const controller = await define(editor, { code: 'leaving' });
    const { id } = await define(editor);
    await change(editor, id, { display_condition: ['leaving=x'] });
    await editor.ok('archiveField', { params: { id: controller.id } });
    expect((await change(editor, id, { label: 'Other' })).display_condition).toEqual(['leaving=x']);
  });
});

// FIELD-38
describe('PUT /fields/{id}/extraction', () => {
  const wire = (id: string, body: { source: string; mode?: '' | 'replace' | 'append' }) =>
    editor.ok('setFieldExtraction', { params: { id }, body });

  // FIELD-38
  test('sets source and mode, and returns the definition; an empty mode means skip_if_set', async () => {
    const made = await define(editor);
    expect(await wire(made.id, { source: 'creator', mode: 'replace' })).toMatchObject({
      id: made.id,
      extraction_source: 'creator',
      extraction_mode: 'replace',
    });
    for (const mode of [{}, { mode: '' as const }])
      expect((await wire(made.id, { source: 'creator', ...mode })).extraction_mode).toBe('skip_if_set');
  });

  // FIELD-38
  test('an empty source disconnects the field and keeps its other properties', async () => {
    const made = await define(editor, { description: 'kept', required: true });
    await wire(made.id, { source: 'city', mode: 'append' });
    const cleared = await wire(made.id, { source: '' });
    expect(cleared).toMatchObject({ extraction_source: '', description: 'kept', required: true });
    expect(await wire(made.id, { source: 'city', mode: 'append' })).toMatchObject({
      extraction_source: 'city',
      extraction_mode: 'append',
      description: 'kept',
      required: true,
    });
  });

  // FIELD-39
  test('every process uses the new wiring once the response is sent', async () => {
    const { id } = await define(editor);
    const before = await epoch();
    await wire(id, { source: 'iso' });
    expect(await epoch()).toBe(before + 1);
  });

  // EXTRACT-1, FIELD-38
  test('returns 400 for unknown values, and has the same requirements as an update', async () => {
    const { id } = await define(editor);
    const shelf = await define(editor, { subject_kind: 'collection' });
    const send = (to: string, body: unknown, who = editor) =>
      who.send(`/fields/${to}/extraction`, { method: 'PUT', body });
    for (const [to, body, named] of [
      [id, { source: 'aura' }, 'nothing extracts aura'],
      [id, { source: 'Title' }, 'nothing extracts Title'],
      [id, { source: 'title', mode: 'sometimes' }, 'mode'],
      [id, { mode: 'replace' }, 'source'],
      [id, {}, 'source'],
      [id, { source: null }, 'source'],
      [id, { source: 'title', code: 'x' }, 'unknown property code'],
      [shelf.id, { source: 'title' }, 'collections have no file'],
    ] as const) {
      const answer = await send(to, body);
      expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, expect.stringContaining(named)]);
    }
    expect((await send(id, { source: 'title' }, stranger)).status).toBe(403);
    expect((await send(nowhere, { source: 'title' })).status).toBe(404);
    expect((await send('x', { source: 'title' })).status).toBe(400);
    await library.setPublicMode(true);
    const open = await library.anonymous().send(`/fields/${id}/extraction`, { method: 'PUT', body: {} });
    await library.setPublicMode(false);
    expect(open.status).toBe(401);
  });
});
