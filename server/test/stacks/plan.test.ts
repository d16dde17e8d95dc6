import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { planOf, touched } from '../support/plans.ts';
import { statementLike, watchStatements } from '../support/statements.ts';

const library = await openLibrary();
const { db } = library.deps;
const [mara, tom] = await library.joinAll('mara', 'tom');
const { file_hash } = await upload(mara, plainFile());

// STACK-3
test('a page of tops reads few rows, however many stacks there are', async () => {
  await sql`with made as (
      insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, sensitivity, processing_status, created_at)
      select ${mara.ref}, n::text, 1, ${file_hash}, n || '.jpg', 'org', 'ready', now() - n * interval '1 minute'
      from generate_series(1, 3000) n returning id, title::integer as n)
    insert into stacked_assets (asset_id, stack_id, place)
    select id, ('00000000-0000-4000-8000-' || lpad((n / 3)::text, 12, '0'))::uuid, n from made where n % 6 < 3`.execute(
    db,
  );
  await sql`analyze assets, stacked_assets`.execute(db);
  for (const who of [mara, tom]) {
    for (const query of [{}, { owner_ref: mara.ref }, { sort: 'title' as const }]) {
      const [, statements] = await watchStatements(library, () =>
        who.ok('listAssets', { query: { ...query, stacks: 'top' } }),
      );
      const nodes = await planOf(library, statementLike(statements, /stacked_assets/));
      expect(touched(nodes, 'stacked_assets')).toBeLessThan(500);
    }
  }
});
