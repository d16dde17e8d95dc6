import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { findDescribed } from '../../src/content/sidecars/match.ts';
import { openLibrary } from '../support/library.ts';
import { planOf } from '../support/plans.ts';
import { statementLike, watchStatements } from '../support/statements.ts';

// SIDECAR-2
test('the file of a sidecar is found by an index among many of its owner', async () => {
  const library = await openLibrary();
  const mara = await library.join('mara');
  const { db } = library.deps;
  await sql`insert into files (hash, size_bytes, mime) values (repeat('a', 64), 1, 'image/jpeg')`.execute(db);
  await sql`insert into assets (owner_user_ref, title, file_name, file_hash, asset_type, sensitivity, processing_status)
    select ${mara.ref}, 'x', 'IMG_' || n || '.JPG', repeat('a', 64), 1, 'public', 'ready'
    from generate_series(1, 3000) n`.execute(db);
  await sql`analyze assets`.execute(db);
  const [found, statements] = await watchStatements(library, () =>
    findDescribed(db, mara.ref, 'img_77.jpg.xmp'),
  );
  expect(found?.file.name).toBe('IMG_77.JPG');
  const nodes = await planOf(library, statementLike(statements, /regexp_replace/));
  expect(nodes.map((node) => node['Index Name'])).toContain('assets_of_owner_by_stem');
});
