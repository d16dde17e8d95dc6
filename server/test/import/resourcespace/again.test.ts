import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { clip } from '../../media/clips.ts';
import { formOf, openLibrary } from '../../support/library.ts';
import { jpeg, sha256 } from '../../support/pictures.ts';
import { optionsFor, runImport, unpackHarbour } from './harbour.ts';

const harbour = await unpackHarbour();

/** Adds a film to a resource as an alternative file with the name of its photo. */
async function addFilm(bytes: Uint8Array): Promise<void> {
  const config: { scramble_key: string } = JSON.parse(
    await readFile(join(harbour.directory, 'config.json'), 'utf8'),
  );
  const [photo] = harbour.expected.resources;
  const scrambled = createHash('md5').update(`1_alt_900${config.scramble_key}`).digest('hex').slice(0, 15);
  const folder = dirname(join(harbour.directory, photo?.file?.path ?? ''));
  await writeFile(join(folder, `1_alt_900_${scrambled}.mov`), bytes);
  const dump = await readFile(harbour.dump, 'utf8');
  const values = 'INSERT INTO `resource_alt_files` VALUES\n';
  const row = `(900,1,'Film','','IMG_4000.MOV','mov',${bytes.length},'2026-11-27 13:33:26',NULL,''${',NULL'.repeat(9)}),\n`;
  const path = join(harbour.directory, 'with-film.sql');
  await writeFile(path, dump.replace(values, values + row));
  harbour.dump = path;
}

const film = await clip({ format: 'mov', video: { encoder: 'libx264' }, seconds: 1 });
await addFilm(film);
const library = await openLibrary();
const boss = await library.join('boss', 'admin');
const { db } = library.deps;
const reportPath = join(harbour.directory, 'report.json');
const options = [...optionsFor(harbour), '--report', reportPath];
await runImport(library, options);

async function again() {
  await runImport(library, options);
  const report = JSON.parse(await readFile(reportPath, 'utf8'));
  const ids = (part: 'left_out' | 'vanished', kind: string): string[] =>
    report[part].flatMap((entry: { kind: string; id: string }) => (entry.kind === kind ? [entry.id] : []));
  return { counts: report.counts, ids };
}

/** Returns what an old thing has become here. */
async function importedAs(kind: string, id: number): Promise<string> {
  const { target } = await db
    .selectFrom('imported_ids')
    .select('target')
    .where('kind', '=', kind)
    .where('old_id', '=', String(id))
    .executeTakeFirstOrThrow();
  return target;
}

async function assetOf(ref: number, kind = 'resource') {
  const asset = await boss.ok('getAsset', { params: { id: await importedAs(kind, ref) } });
  if (asset.restricted) throw new Error('withheld');
  return asset;
}

const jpegs = harbour.expected.resources.flatMap(({ ref, file }) =>
  file?.path?.endsWith('.jpg') === true && file.missing !== true
    ? [{ ref, path: join(harbour.directory, file.path) }]
    : [],
);
const [changed, both, touched, gone] = jpegs;

async function overwrite(path: string, bytes: Uint8Array): Promise<void> {
  await rm(path);
  await writeFile(path, bytes);
}

// IMPORT-15
test('imports an alternative file with the name of the photo as the film of the photo, once', async () => {
  const asset = await assetOf(1);
  expect(asset.film).toEqual({ hash: sha256(film) });
  expect((await assetOf(900, 'alternative')).id).toBe(asset.id);
  expect((await again()).ids('left_out', 'alternative')).not.toContain('900');
  expect((await assetOf(1)).film).toEqual({ hash: sha256(film) });
});

// IMPORT-9, IMPORT-10
test('brings changed files as new versions, unless the file was changed here, and deletes nothing', async () => {
  if (changed === undefined || both === undefined || touched === undefined || gone === undefined)
    throw new Error('too few pictures');
  const before = await assetOf(changed.ref);
  await overwrite(changed.path, await jpeg(310, 200, { seed: 91 }));
  await overwrite(both.path, await jpeg(320, 200, { seed: 92 }));
  const own = await assetOf(both.ref);
  await boss.ok('addAssetVersion', {
    params: { id: own.id },
    body: formOf(await jpeg(330, 200, { seed: 93 })),
  });
  const edited = await assetOf(both.ref);
  const untouched = await assetOf(touched.ref);
  await utimes(touched.path, 1e9, 1e9);
  await rm(gone.path);

  const { counts, ids } = await again();
  expect(counts.versions_added).toBe(1);
  const after = await assetOf(changed.ref);
  expect(after.file_hash).not.toBe(before.file_hash);
  const { items } = await boss.ok('listAssetVersions', { params: { id: after.id } });
  expect(items.map(({ number, note }) => [number, note])).toEqual([
    [2, 'Changed in ResourceSpace'],
    [1, ''],
  ]);
  expect(ids('left_out', 'file')).toContain(String(both.ref));
  expect((await assetOf(both.ref)).file_hash).toBe(edited.file_hash);
  expect((await assetOf(touched.ref)).file_hash).toBe(untouched.file_hash);
  expect(ids('vanished', 'file')).toEqual([String(gone.ref)]);
  expect((await assetOf(gone.ref)).file_hash).not.toBeNull();
  // A third run adds nothing, and names the conflict again.
  const third = await again();
  expect(third.counts.versions_added).toBeUndefined();
  expect((await assetOf(changed.ref)).file_hash).toBe(after.file_hash);
});

// IMPORT-9
test('replaces the text in place of a missing file once the file is there', async () => {
  const missing = harbour.expected.resources.find(({ file }) => file?.missing === true);
  const path = missing?.file?.path;
  if (missing === undefined || path === undefined) throw new Error('no file is missing');
  await mkdir(join(harbour.directory, dirname(path)), { recursive: true });
  await writeFile(join(harbour.directory, path), await jpeg(340, 200, { seed: 94 }));
  const before = await assetOf(missing.ref);
  await again();
  const after = await assetOf(missing.ref);
  expect([before.file_extension, after.file_extension]).toEqual(['txt', 'jpg']);
});

// IMPORT-2, IMPORT-10
test('keeps titles that people have edited, and reports resources and values that are gone', async () => {
  const kept = await assetOf(1);
  await boss.ok('updateAsset', { params: { id: kept.id }, body: { title: 'Ours' } });
  const dump = await readFile(harbour.dump, 'utf8');
  const later = dump
    .replaceAll("'Fish market at dawn'", "'Fish market at noon'")
    // Both keywords of the first resource.
    .replaceAll(/\(1,32[89],(?=NULL|'|\d)/g, (row) => row.replace('(1,', '(999,'));
  const path = join(harbour.directory, 'later.sql');
  await writeFile(path, later);
  await sql`insert into imported_ids (system, kind, old_id, target)
    values ('resourcespace', 'resource', '4711', ${kept.id})`.execute(db);
  await runImport(library, [...options, '--dump', path]);
  const report = JSON.parse(await readFile(reportPath, 'utf8'));
  expect((await assetOf(1)).title).toBe('Ours');
  expect(report.vanished).toContainEqual({
    kind: 'resource',
    id: '4711',
    reason: 'is no longer in ResourceSpace; its asset stays',
  });
  expect(report.vanished).toContainEqual({
    kind: 'value',
    id: '1/keywords',
    reason: 'was removed in ResourceSpace; the value here stays',
  });
});

// IMPORT-2
test('gives back no access that was taken away here, and leaves collections that people have edited or deleted', async () => {
  const [picks, staff, ice] = [
    await importedAs('collection', 22),
    await importedAs('collection', 26),
    await importedAs('collection', 23),
  ];
  const zoe = Number(await importedAs('user', 3));
  const sharees = async (id: string) =>
    (await boss.ok('listCollectionShares', { params: { id } })).items.map(({ user }) => user?.ref);
  const before = await sharees(picks);
  expect(before).toContain(zoe);
  await boss.ok('deleteCollectionShare', { params: { id: picks, user_ref: zoe } });
  await boss.ok('updateCollection', { params: { id: staff }, body: { visibility: 'private' } });
  await boss.ok('deleteCollection', { params: { id: ice }, body: {} });
  const { rows: teams } = await sql<{
    id: string;
  }>`select team_id as id from team_members where user_ref = ${zoe}`.execute(db);
  for (const { id } of teams) await boss.ok('removeTeamMember', { params: { id, user_ref: zoe } });
  const { rows: shares } = await sql<{
    id: string;
    ref: number;
  }>`delete from asset_shares where (asset_id, user_ref) in (
    select asset_id, user_ref from asset_shares where shared_by_user_ref = ${boss.ref} limit 1)
    returning asset_id as id, user_ref as ref`.execute(db);
  const [withdrawn] = shares;
  if (withdrawn === undefined) throw new Error('the import shared no asset');
  // As if the resource had changed.
  await sql`update imported_ids set fingerprint = '' where kind = 'resource' and target = ${withdrawn.id}`.execute(
    db,
  );

  const dump = await readFile(harbour.dump, 'utf8');
  const path = join(harbour.directory, 'renamed.sql');
  await writeFile(
    path,
    ['Spring brochure – picks', 'Open to all staff', 'Wasser & Eis'].reduce(
      (text, name) => text.replaceAll(name, `${name} (final)`),
      dump,
    ),
  );
  await runImport(library, [...options, '--dump', path]);
  const { counts } = JSON.parse(await readFile(reportPath, 'utf8'));
  expect(counts).toMatchObject({ collections_changed: 2, collections_deleted_here: 1 });
  const { name } = await boss.ok('getCollection', { params: { id: picks } });
  expect(name).toBe('Spring brochure – picks (final)');
  expect(await sharees(picks)).toEqual(before.filter((ref) => ref !== zoe));
  expect(await boss.ok('getCollection', { params: { id: staff } })).toMatchObject({
    name: 'Open to all staff',
    visibility: 'private',
  });
  const { rows: joined } = await sql`select from team_members where user_ref = ${zoe}`.execute(db);
  expect(joined).toEqual([]);
  const { rows: shared } = await sql`select from asset_shares
    where asset_id = ${withdrawn.id} and user_ref = ${withdrawn.ref}`.execute(db);
  expect(shared).toEqual([]);
});
