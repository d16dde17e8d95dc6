import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { readableAssets, shownAssets } from '../../../src/access/assets.ts';
import { callerOf } from '../../../src/access/caller-of.ts';
import { findFilters } from '../../../src/fields/values/filter.ts';
import { type Account, type Library, openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { define } from './fields.ts';

/** Number of values; the documented figures were measured with a million. */
const MANY = Number(process.env.FIELD_VALUES ?? 6_000);

let library: Library;
let owner: Account;
let hash: string;

beforeAll(async () => {
  library = await openLibrary();
  owner = await library.join('owner');
  hash = (await upload(owner, plainFile())).file_hash ?? '';
  const { db } = library.deps;
  const terms = Array.from({ length: 500 }, (_, index) => ({ value: `term-${index}` }));
  const ids = {
    text: await define(library, 'text', { code: 'p_text' }),
    number: await define(library, 'number', { code: 'p_number' }),
    date: await define(library, 'date', { code: 'p_date' }),
    select: await define(library, 'select', { code: 'p_select', terms }),
    multi: await define(library, 'multi_select', { code: 'p_multi', terms }),
    reference: await define(library, 'reference', { code: 'p_reference' }),
  };
  const each = Math.ceil(MANY / 6);
  await sql`insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, processing_status, created_at)
    select ${owner.ref}, 'Number ' || n, 2, ${hash}, 'n', 'ready', now() - n * interval '1 second'
    from generate_series(1, ${each}) n`.execute(db);
  // These values are only used in filters; writing search documents would take most of the time.
  await sql`alter table asset_field_values disable trigger user`.execute(db);
  // In batches, each well within the statement timeout.
  for (const field of Object.values(ids))
    for (let from = 0; from < each; from += 30_000)
      await sql`insert into asset_field_values
          (asset_id, field_id, value_text, value_num, value_date, value_options, value_ref, set_by)
        select a.id, f.id,
          case f.type when 'text' then 'word' || (a.n % 5000) || ' and ' || md5(a.n::text)
            when 'select' then 'term-' || (a.n * 7919 % 500) end,
          case f.type when 'number' then a.n end,
          case f.type when 'date' then timestamptz '2000-01-01' + a.n % 9000 * interval '1 day' end,
          case f.type when 'multi_select' then
            array['term-' || (a.n * 104729 % 500), 'term-' || (a.n * 1299709 % 500)] end,
          case f.type when 'reference' then a.id end, 'import'
        from (select id, right(title, -7)::bigint as n from assets where title like 'Number %') a
        cross join (select id, type from fields where id = ${field}) f
        where a.n > ${from} and a.n <= ${from + 30_000}`.execute(db);
  await sql`alter table asset_field_values enable trigger user`.execute(db);
  await sql`analyze asset_field_values`.execute(db);
  await sql`analyze assets`.execute(db);
}, 600_000);

/** Returns the plan of a filtered page as text. */
async function planOf(filter: string): Promise<string> {
  const { db } = library.deps;
  const who = await callerOf(db, owner.ref);
  if (who === null) throw new Error('the owner has no account');
  const conditions = [readableAssets(who), shownAssets(who), ...(await findFilters(db, who, [filter]))];
  const { rows } = await sql<Record<string, string>>`
    explain (analyze, costs off, summary off) select a.id from assets a
    where ${sql.join(conditions, sql` and `)} order by a.created_at desc, a.id desc limit 51`.execute(db);
  const plan = rows.map((row) => row['QUERY PLAN'] ?? '').join('\n');
  if (process.env.FIELD_VALUES !== undefined) console.log(filter, plan);
  return plan;
}

describe(`a rare value among ${MANY} is found through an index`, () => {
  const questions: [string, RegExp][] = [
    ['field:p_text=nothing', /asset_field_values_(text|words)/],
    ['field:p_text~c4ca4238a0b9', /asset_field_values_words/],
    ['field:p_number=5', /asset_field_values_num/],
    ['field:p_number<3', /asset_field_values_num/],
    ['field:p_number>=9999999', /asset_field_values_num/],
    ['field:p_date=2000-01-05', /asset_field_values_date/],
    ['field:p_date<=2000-01-02', /asset_field_values_date/],
    ['field:p_select=term-7', /asset_field_values_text/],
    ['field:p_multi=term-7', /asset_field_values_options/],
    ['field:p_reference=00000000-0000-4000-8000-000000000000', /asset_field_values_ref/],
  ];

  test.each(questions)('%s', async (filter, index) => {
    const plan = await planOf(filter);
    // A few assets may be read one by one, each by its key.
    expect(plan).toMatch(MANY < 100_000 ? /asset_field_values_\w+/ : index);
    expect(plan).not.toContain('Seq Scan on asset_field_values');
  });
});
