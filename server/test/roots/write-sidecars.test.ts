import { chmod, mkdtemp, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Root } from '@vitrine/contract/roots';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { takeLease } from '../../src/content/roots/lease.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { openLibrary } from '../support/library.ts';
import { png } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const place = await temporaryDirectory();
const library = await openLibrary();
const { db, metadata } = library.deps;
const admin = await library.join('admin', 'admin');
const mara = await library.join('mara');

let seed = 0;

/** Opens a root with one picture, and a sidecar beside it if given. */
async function openRoot(sidecar?: string, sidecars: 'read' | 'write' = 'write') {
  seed += 1;
  const folder = await mkdtemp(join(place, 'root-'));
  await writeFile(join(folder, 'a.png'), await png(40, 30, seed));
  if (sidecar !== undefined) await writeFile(join(folder, 'a.png.xmp'), sidecar);
  const root = await admin.ok('createRoot', {
    body: { path: folder, owner_ref: mara.ref, sensitivity: 'public', sidecars },
  });
  await library.runJobs();
  const { rows } = await sql<{ id: string }>`select id from assets where root_id = ${root.id}`.execute(db);
  return { folder, root: root.id, asset: rows[0]?.id ?? '', xmp: join(folder, 'a.png.xmp') };
}

const edit = async (id: string, body: object) => {
  await mara.ok('updateAsset', { params: { id }, body });
  await library.runJobs();
};
async function scan(id: string): Promise<Root['scan']> {
  await admin.ok('scanRoot', { params: { id } });
  await library.runJobs();
  const { items } = await admin.ok('listRoots', { query: { limit: 200 } });
  return items.find((root) => root.id === id)?.scan ?? expect.fail('no root');
}
const sourcesOf = async (path: string) => {
  const read = await metadata.read(path);
  if (read.outcome === 'failed') throw new Error(saySentence('en', read.reason));
  return Object.fromEntries(Object.entries(read.sources).map(([name, { value }]) => [name, value]));
};
const failedJobs = () =>
  admin.ok('listJobs', { query: { name: 'write-sidecars' } }).then(({ items }) => items);
const forgetJobs = () =>
  sql`delete from graphile_worker._private_jobs where key like 'write-sidecars:%'`.execute(db);

/** Makes waiting jobs due. */
const bringForward = () => sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);

/** A sidecar of a program with properties that Vitrine does not know. */
const foreign = `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="uuid:1" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="Tool" xmp:Rating="3"
  xmlns:darktable="http://darktable.sf.net/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<darktable:history><rdf:Seq><rdf:li darktable:operation="exposure"/></rdf:Seq></darktable:history>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Harbour</rdf:li><rdf:li xml:lang="de">Hafen</rdf:li></rdf:Alt></dc:title>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;

// ROOT-15
test('edits are written to a sidecar beside the file, which is never changed', async () => {
  const { folder, root, asset, xmp } = await openRoot();
  const before = await stat(join(folder, 'a.png'));
  await edit(asset, { title: 'Boats', description: 'At dawn', tags: ['sea'] });
  expect(await sourcesOf(xmp)).toMatchObject({ title: 'Boats', description: 'At dawn', keywords: ['sea'] });
  expect((await readdir(folder)).toSorted()).toEqual(['a.png', 'a.png.xmp']);
  expect(await stat(join(folder, 'a.png'))).toMatchObject({ mtimeMs: before.mtimeMs, ino: before.ino });

  const { id: rating } = await admin.ok('createField', {
    body: { code: 'stars', label: 'Stars', type: 'number' },
  });
  await admin.ok('setFieldExtraction', { params: { id: rating }, body: { source: 'rating' } });
  const params = { id: asset, field_id: rating };
  await mara.ok('setAssetFieldValue', { params, body: { value_num: 4 } });
  await library.runJobs();
  expect(await sourcesOf(xmp)).toMatchObject({ rating: 4 });

  await mara.ok('clearAssetFieldValue', { params });
  await library.runJobs();
  expect(await sourcesOf(xmp)).not.toHaveProperty('rating');
  await mara.ok('setAssetFieldValue', { params, body: { value_num: 4 } });
  await library.runJobs();

  // The scan does not treat what was written as a change of another program.
  const written = await stat(xmp);
  expect(await scan(root)).toMatchObject({ changed: 0, failed: 0 });
  const { rows } = await sql`select from asset_sidecars where asset_id = ${asset}`.execute(db);
  expect(rows).toEqual([]);
  await scan(root);
  expect((await stat(xmp)).mtimeMs).toBe(written.mtimeMs);
  const { items } = await mara.ok('listAssetFieldValues', { params: { id: asset } });
  expect(items.find(({ field_id }) => field_id === rating)).toMatchObject({ value_num: 4, set_by: 'manual' });
});

// ROOT-15
test('properties of other programs in a sidecar survive, and what people have removed does not', async () => {
  const { asset, xmp } = await openRoot(foreign);
  await edit(asset, { tags: ['sea'] });
  const first = await readFile(xmp, 'utf8');
  for (const kept of [
    'darktable:operation="exposure"',
    'xmp:CreatorTool="Tool"',
    'Hafen',
    'Harbour',
    'W5M0MpCehiHzreSzNTczkc9d',
    'uuid:1',
  ])
    expect(first).toContain(kept);
  expect(await sourcesOf(xmp)).toMatchObject({ title: 'Harbour', keywords: ['sea'], rating: 3 });

  await edit(asset, { title: 'Boats', description: 'At dawn' });
  expect(await sourcesOf(xmp)).toMatchObject({ title: 'Boats', description: 'At dawn' });
  await edit(asset, { tags: [], description: '' });
  const last = await sourcesOf(xmp);
  expect(last).toMatchObject({ title: 'Boats', rating: 3 });
  expect(last).not.toHaveProperty('description');
  expect(last).not.toHaveProperty('keywords');
  const text = await readFile(xmp, 'utf8');
  for (const kept of ['darktable:operation="exposure"', 'Hafen']) expect(text).toContain(kept);
});

// ROOT-15
test('a sidecar that another program has just changed is read before it is written', async () => {
  const { asset, xmp, root } = await openRoot(foreign);
  await writeFile(xmp, foreign.replace('Harbour', 'Harbour at noon'));
  await edit(asset, { tags: ['sea'] });
  await bringForward();
  await scan(root);
  await bringForward();
  await library.runJobs();
  expect(await sourcesOf(xmp)).toMatchObject({ title: 'Harbour at noon', keywords: ['sea'] });
});

// ROOT-15
test('nothing is written below a root that only reads sidecars, or while a root is scanned', async () => {
  const other = await openRoot(undefined, 'read');
  await edit(other.asset, { title: 'Not written' });
  expect(await readdir(other.folder)).toEqual(['a.png']);

  const { asset, folder, root } = await openRoot();
  const lease = await takeLease(db, root);
  await edit(asset, { title: 'Later' });
  expect(await readdir(folder)).toEqual(['a.png']);
  await lease?.end();
  await bringForward();
  await library.runJobs();
  expect((await readdir(folder)).toSorted()).toEqual(['a.png', 'a.png.xmp']);
});

// ROOT-15
test('a sidecar that cannot be written fails the job, which is tried again', async () => {
  const { asset, folder, xmp } = await openRoot();
  await writeFile(join(place, 'outside.xmp'), 'outside');
  await symlink(join(place, 'outside.xmp'), xmp);
  await edit(asset, { title: 'Linked' });
  expect(await failedJobs()).toMatchObject([
    { attempts: 1, max_attempts: 5, last_error: expect.stringContaining('is not a regular file') },
  ]);
  expect(await readFile(join(place, 'outside.xmp'), 'utf8')).toBe('outside');

  await writeFile(join(folder, 'new.xmp'), '<!DOCTYPE x [<!ENTITY e "e">]><x/>');
  await rename(join(folder, 'new.xmp'), xmp);
  await bringForward();
  await library.runJobs();
  expect(await readFile(xmp, 'utf8')).toContain('<!DOCTYPE');
  await forgetJobs();

  const unmounted = await openRoot();
  await rename(unmounted.folder, `${unmounted.folder}-away`);
  await edit(unmounted.asset, { title: 'Unmounted' });
  expect(await failedJobs()).toMatchObject([
    { last_error: expect.stringContaining('it may not be mounted') },
  ]);
  await rename(`${unmounted.folder}-away`, unmounted.folder);
  await bringForward();
  await library.runJobs();
  expect(await sourcesOf(unmounted.xmp)).toMatchObject({ title: 'Unmounted' });
  expect(await failedJobs()).toEqual([]);
});

// ROOT-15
test.skipIf(process.getuid?.() === 0)('a folder that may not be written to fails the job', async () => {
  const { asset, folder } = await openRoot();
  await chmod(folder, 0o555);
  await edit(asset, { title: 'Read-only' });
  expect(await failedJobs()).toMatchObject([{ last_error: expect.stringContaining('cannot be written to') }]);
  await chmod(folder, 0o755);
  await forgetJobs();
});

// ROOT-15
test('edits below one root do not wait for each other, nor for a scan', async () => {
  const { asset, root, folder } = await openRoot();
  await writeFile(join(folder, 'b.png'), await png(40, 30, 900));
  await scan(root);
  const { rows } = await sql<{ id: string }>`
    select id from assets where root_id = ${root} and id <> ${asset}`.execute(db);
  const other = rows[0]?.id ?? '';
  const change = (id: string) =>
    sql`insert into asset_changes (asset_id, properties) values (${id}, array['title'])`;
  await db.transaction().execute(async (scanning) => {
    await sql`select from roots where id = ${root} for share`.execute(scanning);
    await db.transaction().execute(async (editing) => {
      await change(other).execute(editing);
      await mara.ok('updateAsset', { params: { id: asset }, body: { title: 'Boats' } });
    });
  });
  const waiting = () =>
    sql`select from graphile_worker.jobs where key like ${`write-sidecars:${root}%`}`.execute(db);
  expect((await waiting()).rows).toHaveLength(2);
  await library.runJobs();
  // Two that have begun at the same time: the second one tries again.
  await bringForward();
  await library.runJobs();
  expect((await waiting()).rows).toHaveLength(0);
  expect((await readdir(folder)).toSorted()).toEqual(['a.png', 'a.png.xmp', 'b.png', 'b.png.xmp']);
});
