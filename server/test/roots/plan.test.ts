import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { runScan } from '../../src/content/roots/scan.ts';
import { openLibrary } from '../support/library.ts';
import { planOf } from '../support/plans.ts';
import { statementLike, watchStatements } from '../support/statements.ts';
import { temporaryDirectory } from '../support/temporary.ts';

// ROOT-5
test('moved files are found by an index of hashes while the tables of a first scan are not analyzed', async () => {
  const library = await openLibrary();
  const admin = await library.join('admin', 'admin');
  const { db } = library.deps;
  const folder = await mkdtemp(join(await temporaryDirectory(), 'root-'));
  const { id } = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: admin.ref, sensitivity: 'org' },
  });
  await sql`insert into files (hash, size_bytes, mime, in_place)
    select encode(sha256(n::text::bytea), 'hex'), 1, 'text/plain', true from generate_series(1, 3000) n`.execute(
    db,
  );
  await sql`insert into assets (owner_user_ref, title, file_name, file_hash, asset_type, sensitivity, processing_status, root_id, root_path)
    select ${admin.ref}, 'x', 'x.txt', f.hash, 2, 'org', 'ready', ${id}, f.hash from files f`.execute(db);
  await sql`insert into root_files (root_id, path, size_bytes, modified_us, device, hash, asset_id)
    select a.root_id, a.root_path::bytea, 1, 1, '1:1', a.file_hash, a.id from assets a`.execute(db);
  await writeFile(join(folder, 'new.txt'), 'This file is new.\n');
  const [outcome, statements] = await watchStatements(library, () => runScan(library.deps, id, true));
  expect(outcome).toMatchObject({ state: 'done', counts: { added: 1 } });
  const nodes = await planOf(library, statementLike(statements, /unnest.* as hash/));
  expect(nodes.map((node) => node['Index Name'])).toEqual(
    expect.arrayContaining(['root_files_hash', 'assets_file']),
  );
  expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
});
