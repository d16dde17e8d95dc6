import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { writeSystemValue } from '../../src/content/extraction/write-value.ts';
import { openLibrary, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { define } from './define.ts';
import { fieldValueOf } from './values/fields.ts';

const SIZE = 20_000;

const library = await openLibrary();
const editor = await library.join('editor');
await grant(library, editor, 'fields.admin');
const { id } = await define(editor, { type: 'multi_select', options: { values: [] } });
// One statement, and the index afterwards, is faster.
await sql`drop index field_terms_search`.execute(library.deps.db);
await sql`insert into field_terms (field_id, value, label, path, position)
    select ${id}::uuid, 'term-' || n, 'Label ' || md5(n::text), array['term-' || n], n
    from generate_series(1, ${SIZE}) n`.execute(library.deps.db);
await sql`create index field_terms_search on field_terms
    using gin (field_id, lower(label) gin_trgm_ops, value gin_trgm_ops)`.execute(library.deps.db);
await sql`insert into field_term_aliases (field_id, alias, value)
    select ${id}::uuid, 'alias ' || n, 'term-' || n from generate_series(1, 1000) n`.execute(library.deps.db);
await sql`analyze field_terms, field_term_aliases`.execute(library.deps.db);

const ask = (query: { q?: string; match?: 'prefix' | 'substring'; limit?: number } = {}) =>
  editor.ok('listFieldValues', { params: { id }, query });

describe('GET /fields/{id}/values over 20,000 terms', () => {
  // TERM-13
  test('counts all matches, and ranks exact before prefix before substring matches', async () => {
    const first = await ask({ limit: 3 });
    expect(first).toMatchObject({ matched: SIZE, returned: 3, truncated: true, vocabulary_size: SIZE });
    const labels = first.values.map(({ label }) => label);
    expect(labels).toEqual([...labels].sort());
    // 1, 10 to 19, 100 to 199 ...: exactly one is exact, all others begin with it.
    const many = await ask({ q: 'term-1', limit: 200 });
    expect(many).toMatchObject({ matched: 11_111, returned: 200, truncated: true });
    expect(many.values[0]?.value).toBe('term-1');
    const exact = await ask({ q: 'ALIAS 7' });
    expect([exact.values[0]?.value, exact.matched]).toEqual(['term-7', 1 + 10 + 100]);
    expect((await ask({ q: 'm-19999' })).values.map(({ value }) => value)).toEqual(['term-19999']);
    expect((await ask({ q: 'm-19999', match: 'prefix' })).matched).toBe(0);
  });

  test('a query of three letters or more can use the index', async () => {
    const { rows } = await library.deps.db.transaction().execute(async (tx) => {
      // At this size, reading the whole table may cost as little.
      await sql`set local enable_seqscan = off`.execute(tx);
      return sql<{ 'QUERY PLAN': string }>`explain select t.value from field_terms t
        where t.field_id = ${sql.lit(id)} and (t.label_key like '%19999%' or t.value like '%19999%')`.execute(
        tx,
      );
    });
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('field_terms_search');
    expect(plan).not.toContain('Seq Scan');
  });
});

// TERM-10
test('a vocabulary with 200,000 terms refuses new terms of callers with 422, and omits new terms of files', async () => {
  const { db } = library.deps;
  await sql`drop index field_terms_search, field_terms_path`.execute(db);
  await sql`alter table field_terms disable trigger user,
    drop constraint field_terms_field_id_fkey`.execute(db);
  await sql`insert into field_terms (field_id, value, label, path, position)
    select ${id}::uuid, 'more-' || n, 'more-' || n, array['more-' || n], n
    from generate_series(1, ${200_000 - SIZE}::integer) n`.execute(db);
  await sql`alter table field_terms enable trigger user`.execute(db);
  await sql`update fields set open_vocabulary = true where id = ${id}`.execute(db);
  const asset = await upload(editor, plainFile());
  const target = { id: asset.id, field_id: id };
  const write = (value_options: string[]) => ({ params: target, body: { value_options } });
  expect(await editor.refused('setAssetFieldValue', write(['term-1', 'One more']))).toEqual({
    status: 422,
    error: expect.stringContaining('the vocabulary is full'),
  });
  const told = { assetId: asset.id, fieldId: id, mode: '', setBy: 'xmp' } as const;
  const outcome = await db
    .transaction()
    .execute((tx) => writeSystemValue(tx, { ...told, found: ['One more', 'Term-1'] }));
  expect(outcome).toBe('written');
  expect((await fieldValueOf(editor, asset.id, id))?.value_options).toEqual(['term-1']);
});
