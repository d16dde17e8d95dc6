import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readableAssets, shownAssets } from '../../../src/access/assets.ts';
import { callerOf } from '../../../src/access/caller-of.ts';
import { findFilters } from '../../../src/content/fields/values/filter.ts';
import { openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { define } from './fields.ts';

/** Adds a thousand assets with a value of each type. */
const library = await openLibrary();
const owner = await library.join('owner');
const { file_hash } = await upload(owner, plainFile());
const terms = Array.from({ length: 500 }, (_, index) => ({ value: `term-${index}` }));
for (const type of ['text', 'number', 'date', 'select', 'multi_select', 'reference'] as const)
  await define(library, type, { code: `p_${type}`, terms: type.endsWith('select') ? terms : [] });
const { db } = library.deps;
// These values are only used in filters; writing search documents would take most of the time.
await sql`alter table asset_field_values disable trigger user`.execute(db);
await sql`with made as (
      insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, processing_status, created_at)
      select ${owner.ref}, n::text, 2, ${file_hash}, 'n', 'ready', now() - n * interval '1 second'
      from generate_series(1, 1000) n returning id, title::integer as n)
    insert into asset_field_values
      (asset_id, field_id, value_text, value_num, value_date, value_options, value_ref, set_by)
    select a.id, f.id,
      case f.type when 'text' then 'word' || a.n || ' and ' || md5(a.n::text)
        when 'select' then 'term-' || (a.n * 7919 % 500) end,
      case f.type when 'number' then a.n end,
      case f.type when 'date' then timestamptz '2000-01-01' + a.n * interval '1 day' end,
      case f.type when 'multi_select' then array['term-' || (a.n % 500), 'term-' || (a.n * 7 % 500)] end,
      case f.type when 'reference' then a.id end, 'import'
    from made a cross join fields f where f.code like 'p\\_%'`.execute(db);
await sql`alter table asset_field_values enable trigger user`.execute(db);
await sql`analyze asset_field_values, assets`.execute(db);

test.each([
  'field:p_text=nothing',
  'field:p_text~c4ca4238a0b9',
  'field:p_number=5',
  'field:p_number<3',
  'field:p_number>=9999999',
  'field:p_date=2000-01-05',
  'field:p_date<=2000-01-02',
  'field:p_select=term-7',
  'field:p_multi_select=term-7',
  'field:p_reference=00000000-0000-4000-8000-000000000000',
])('a rare value is found through an index: %s', async (filter) => {
  const who = await callerOf(db, owner.ref);
  if (who === null) throw new Error('the owner has no account');
  const conditions = [readableAssets(who), shownAssets(who), ...(await findFilters(db, who, [filter]))];
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    explain (analyze, costs off, summary off) select a.id from assets a
    where ${sql.join(conditions, sql` and `)} order by a.created_at desc, a.id desc limit 51`.execute(db);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  // A few assets may be read one by one, each by its key.
  expect(plan).toMatch(/asset_field_values_\w+/);
  expect(plan).not.toContain('Seq Scan on asset_field_values');
});
