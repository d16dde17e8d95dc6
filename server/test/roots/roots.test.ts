import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { Root, RootCreate } from '@vitrine/contract/roots';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { takeLease } from '../../src/content/roots/lease.ts';
import { runScan } from '../../src/content/roots/scan.ts';
import { watchRoots } from '../../src/content/roots/watch.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { requestAs } from '../support/client.ts';
import { type Account, formOf, objectPath, openLibrary, upload } from '../support/library.ts';
import { plainText, png, sha256 } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const place = await temporaryDirectory();
const newFolder = () => mkdtemp(join(place, 'root-'));
const library = await openLibrary();
const admin = await library.join('admin', 'admin');
const [mara, reader] = await library.joinAll('mara', 'reader');
const { deps } = library;

let seed = 100;

/** A picture that no other test has. */
function picture(): Promise<Uint8Array<ArrayBuffer>> {
  seed += 1;
  return png(40, 30, seed);
}

/** Writes a file below a folder, and the folders on the way. */
async function put(folder: string, path: string, bytes: Uint8Array): Promise<string> {
  const to = join(folder, path);
  await mkdir(join(to, '..'), { recursive: true });
  await writeFile(to, bytes);
  return to;
}

function nameRoot(path: string, rules: Partial<RootCreate> = {}): Promise<Root> {
  return admin.ok('createRoot', { body: { path, owner_ref: mara.ref, sensitivity: 'public', ...rules } });
}

/** Names a root of these files and scans it. */
async function openRoot(files: Record<string, Uint8Array>, rules: Partial<RootCreate> = {}) {
  const folder = await newFolder();
  for (const [path, bytes] of Object.entries(files)) await put(folder, path, bytes);
  const root = await nameRoot(folder, rules);
  await library.runJobs();
  return { folder, id: root.id };
}

async function scan(id: string): Promise<Root> {
  await admin.ok('scanRoot', { params: { id } });
  await library.runJobs();
  return rootOf(id);
}

async function rootOf(id: string): Promise<Root> {
  const { items } = await admin.ok('listRoots', { query: { limit: 200 } });
  const root = items.find((item) => item.id === id);
  if (root === undefined) throw new Error('the root is not listed');
  return root;
}

/** The assets of a root, by their paths. */
async function assetsOf(id: string, as: Account = mara): Promise<Map<string, ShownAsset>> {
  const { items } = await as.ok('listAssets', { query: { limit: 200 } });
  return new Map(
    items.flatMap((asset) =>
      !asset.restricted && asset.root?.id === id ? [[asset.root.path, asset] as const] : [],
    ),
  );
}

async function assetAt(id: string, path: string): Promise<ShownAsset> {
  const asset = (await assetsOf(id)).get(path);
  if (asset === undefined) throw new Error(`no asset of ${path}`);
  return asset;
}

async function download(id: string, as: Account = mara) {
  const answer = await requestAs(as, library, `/assets/${id}/file`);
  return { status: answer.status, error: codeOf(answer), bytes: await answer.bytes() };
}

/** Returns the code of a refusal. */
function codeOf({ headers }: { headers: Headers }): string | undefined {
  return headers.get('vitrine-error')?.split(';')[0];
}

describe('a root', () => {
  // ROOT-1, ROOT-2
  test('makes assets of files that stay where they are and are not changed', async () => {
    const bytes = await picture();
    const folder = await newFolder();
    const path = await put(folder, 'May/harbour.png', bytes);
    await utimes(path, 1_700_000_000, 1_700_000_000);
    const before = await stat(path);
    const root = await nameRoot(folder, { sensitivity: 'org' });
    expect(root.scan.state).toBe('waiting');
    await library.runJobs();
    const asset = await assetAt(root.id, 'May/harbour.png');
    expect(asset).toMatchObject({
      title: 'harbour',
      owner_user_ref: mara.ref,
      sensitivity: 'org',
      asset_type: 1,
      file_hash: sha256(bytes),
      processing_status: 'ready',
      preview_available: true,
      pixel_width: 40,
    });
    expect(await download(asset.id)).toMatchObject({ status: 200, bytes });
    expect(existsSync(objectPath(library, originalKey(sha256(bytes))))).toBe(false);
    const after = await stat(path);
    const facts = ({ mode, uid, gid, nlink, mtimeMs, ctimeMs }: typeof before) =>
      [mode, uid, gid, nlink, mtimeMs, ctimeMs].join(' ');
    expect(facts(after)).toBe(facts(before));
    expect(await rootOf(root.id)).toMatchObject({
      assets: 1,
      missing: 0,
      scan: { state: 'done', files: 1, added: 1, failed: 0 },
    });
  });

  // ROOT-2
  test('is shown on an asset to its owner and administrators', async () => {
    const { id } = await openRoot({ 'a.png': await picture() });
    const asset = await assetAt(id, 'a.png');
    const read = (as: Account) => as.ok('getAsset', { params: { id: asset.id } });
    expect(await read(admin)).toMatchObject({ root: { id, path: 'a.png' } });
    expect(await read(reader)).not.toHaveProperty('root');
  });

  // ROOT-3, ROOT-4
  test('leaves out hidden names, files of operating systems, names that match `skip`, and links', async () => {
    const outside = await newFolder();
    await put(outside, 'secret.txt', plainText('secret'));
    const folder = await newFolder();
    const names = [
      'kept.txt',
      'sub/kept.txt',
      '.hidden/x.txt',
      '@eaDir/x.txt',
      'Thumbs.db',
      'sub/._kept.txt',
      'x.tmp',
      'sub/y.tmp',
      'cache/deep/z.txt',
      'sub/cache/kept.txt',
      `${'Entwürfe'.normalize('NFD')}/x.txt`,
      `${'Größe'.normalize('NFC')}.txt`,
    ];
    for (const name of names) await put(folder, name, plainText(`${name} ${seed++}`));
    await symlink(join(outside, 'secret.txt'), join(folder, 'link.txt'));
    await symlink(outside, join(folder, 'linked'));
    await symlink(folder, join(folder, 'sub', 'circle'));
    const { id } = await nameRoot(folder, {
      skip: ['*.tmp', '/cache/**', 'Entwürfe'.normalize('NFC'), 'Größe.*'.normalize('NFD')],
    });
    await library.runJobs();
    expect([...(await assetsOf(id)).keys()].sort()).toEqual([
      'kept.txt',
      'sub/cache/kept.txt',
      'sub/kept.txt',
    ]);
  });

  // ROOT-2
  test('must be an absolute folder that overlaps neither the data directory nor another root', async () => {
    const folder = await newFolder();
    await mkdir(join(folder, 'inner/deep'), { recursive: true });
    const file = await put(folder, 'file', plainText());
    const code = async (path: string) => {
      const body = { path, owner_ref: mara.ref, sensitivity: 'public' as const };
      return codeOf(await admin.send('/admin/roots', { method: 'POST', body }));
    };
    const { dataDir } = library.config;
    expect(await code(dataDir)).toBe('root-overlaps-library');
    expect(await code(join(dataDir, 'library'))).toBe('root-overlaps-library');
    expect(await code('/')).toBe('root-overlaps-library');
    const alias = join(folder, 'alias');
    await symlink(dataDir, alias);
    expect(await code(alias)).toBe('root-overlaps-library');
    await nameRoot(join(folder, 'inner'));
    expect(await code(join(folder, 'inner'))).toBe('root-overlaps-root');
    expect(await code(join(folder, 'inner/deep'))).toBe('root-overlaps-root');
    expect(await code(folder)).toBe('root-overlaps-root');
    expect(await code('photos')).toBe('root-path-not-absolute');
    expect(await code(file)).toBe('root-path-not-folder');
    expect(await code(join(folder, 'none'))).toBe('root-path-not-folder');
    expect(await code('/proc/self')).toBe('root-path-of-system');
  });

  // ROOT-1
  test('has files whose names are not UTF-8', async () => {
    const folder = await newFolder();
    const bytes = await picture();
    await writeFile(
      Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9]), Buffer.from('.png')]),
      bytes,
    );
    const { id } = await nameRoot(folder);
    await library.runJobs();
    const asset = await assetAt(id, 'café.png');
    expect(asset).toMatchObject({ processing_status: 'ready', preview_available: true });
    expect(await download(asset.id)).toMatchObject({ status: 200, bytes });
  });

  // ROOT-9, ROOT-12
  test('stores a file once and reports it when the values from its path cannot be stored', async () => {
    await admin.ok('createField', {
      body: { code: 'customer', label: 'Customer', type: 'text', subject_kind: 'asset' },
    });
    await sql`create function refuse_value() returns trigger language plpgsql as $$ begin
      if new.value_text = 'Refused' then raise exception 'the value is refused'; end if; return new; end $$`.execute(
      deps.db,
    );
    await sql`create trigger refuse_value before insert on asset_field_values
      for each row execute function refuse_value()`.execute(deps.db);
    const fields = [{ field_code: 'customer', pattern: '{value}/' }];
    const files = { 'Refused/a.png': await picture(), 'Kept/b.png': await picture() };
    const { id } = await openRoot(files, { fields });
    await sql`drop trigger refuse_value on asset_field_values`.execute(deps.db);
    expect(await rootOf(id)).toMatchObject({
      assets: 2,
      scan: {
        state: 'done',
        added: 2,
        failed: 1,
        failures: [{ path: 'Refused/a.png', reason: 'the value is refused' }],
      },
    });
  });

  // ROOT-12
  test('fills fields from the names of folders', async () => {
    const field = await admin.ok('createField', {
      body: { code: 'client', label: 'Client', type: 'text', subject_kind: 'asset' },
    });
    const fields = [{ field_code: 'client', pattern: '{value}/' }];
    const { id } = await openRoot({ 'Acme/a.png': await picture() }, { fields });
    const asset = await assetAt(id, 'Acme/a.png');
    const { items } = await mara.ok('listAssetFieldValues', { params: { id: asset.id } });
    expect(items.find((value) => value.field_id === field.id)?.value_text).toBe('Acme');
  });
});

describe('a scan', () => {
  // ROOT-5
  test('recognises moved and renamed files by their bytes', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture(), 'b.png': await picture() });
    const [a, b] = [await assetAt(id, 'a.png'), await assetAt(id, 'b.png')];
    await mara.ok('updateAsset', { params: { id: b.id }, body: { title: 'Mine' } });
    await mkdir(join(folder, 'new'));
    await rename(join(folder, 'a.png'), join(folder, 'new/c.png'));
    await rename(join(folder, 'b.png'), join(folder, 'd.png'));
    const { scan: done } = await scan(id);
    expect(done).toMatchObject({ added: 0, moved: 2, missing: 0 });
    expect(await assetAt(id, 'new/c.png')).toMatchObject({ id: a.id, title: 'c' });
    expect(await assetAt(id, 'd.png')).toMatchObject({ id: b.id, title: 'Mine' });
  });

  // ROOT-5
  test('makes an asset of a copy', async () => {
    const bytes = await picture();
    const { id, folder } = await openRoot({ 'a.png': bytes });
    await put(folder, 'copy.png', bytes);
    expect((await scan(id)).scan).toMatchObject({ added: 1, moved: 0 });
    expect((await assetsOf(id)).size).toBe(2);
  });

  // ROOT-6
  test('makes changed bytes a new version', async () => {
    const [first, second] = [await picture(), await picture()];
    const { id, folder } = await openRoot({ 'a.png': first });
    const asset = await assetAt(id, 'a.png');
    await put(folder, 'a.png', second);
    expect((await scan(id)).scan).toMatchObject({ added: 0, changed: 1 });
    expect(await assetAt(id, 'a.png')).toMatchObject({
      id: asset.id,
      file_hash: sha256(second),
      processing_status: 'ready',
    });
    expect(await download(asset.id)).toMatchObject({ status: 200, bytes: second });
    const { items } = await mara.ok('listAssetVersions', { params: { id: asset.id } });
    expect(items.map(({ number, file_hash }) => [number, file_hash])).toEqual([
      [2, sha256(second)],
      [1, sha256(first)],
    ]);
  });

  // ROOT-6
  test('does not read a file again that was only touched, and stores nothing new', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture() });
    const asset = await assetAt(id, 'a.png');
    await utimes(join(folder, 'a.png'), 1, 1);
    expect(await download(asset.id)).toMatchObject({ status: 200 });
    expect((await scan(id)).scan).toMatchObject({ added: 0, changed: 0, moved: 0, missing: 0 });
    expect(await download(asset.id)).toMatchObject({ status: 200 });
  });

  // ROOT-7
  test('marks the asset of a deleted file as missing, keeps its previews, and finds the file again', async () => {
    const bytes = await picture();
    const { id, folder } = await openRoot({ 'a.png': bytes, 'b.png': await picture() });
    const { id: asset } = await assetAt(id, 'a.png');
    await unlink(join(folder, 'a.png'));
    const after = await scan(id);
    expect(after).toMatchObject({ assets: 2, missing: 1, scan: { missing: 1 } });
    expect(await assetAt(id, 'a.png')).toMatchObject({ id: asset, missing: true, preview_available: true });
    expect(await download(asset)).toMatchObject({ status: 500, error: 'file-missing' });
    await put(folder, 'a.png', bytes);
    expect((await scan(id)).scan).toMatchObject({ returned: 1, added: 0, missing: 0 });
    expect(await assetAt(id, 'a.png')).not.toHaveProperty('missing');
    expect(await download(asset)).toMatchObject({ status: 200, bytes });
  });

  // ROOT-7
  test('is not needed to mark an asset as missing: a request for its original does it, too', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture(), 'b.png': await picture() });
    const { id: asset } = await assetAt(id, 'a.png');
    await unlink(join(folder, 'a.png'));
    expect(await download(asset)).toMatchObject({ status: 500, error: 'file-missing' });
    expect(await assetAt(id, 'a.png')).toMatchObject({ missing: true });
  });

  // ROOT-8
  test('changes nothing while the root is not mounted', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture(), 'b/c.png': await picture() });
    await rename(folder, `${folder}.away`);
    expect((await scan(id)).scan).toMatchObject({ state: 'unavailable' });
    const { text } = await admin.send('/admin/roots', { headers: { 'accept-language': 'de' } });
    expect(text).toContain('Der Ordner ist nicht erreichbar; er ist möglicherweise nicht eingehängt');
    // The empty folder where it is mounted.
    await mkdir(folder);
    expect((await scan(id)).scan).toMatchObject({ state: 'unavailable' });
    expect(await rootOf(id)).toMatchObject({ assets: 2, missing: 0 });
    await rm(folder, { recursive: true });
    await rename(`${folder}.away`, folder);
    expect((await scan(id)).scan).toMatchObject({ state: 'done', files: 2, missing: 0, added: 0 });
  });

  // ROOT-8
  test('marks nothing of a device that is not mounted below the root', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture(), 'disk/b.png': await picture() });
    await sql`update root_files set device = '99' where root_id = ${id} and path = 'disk/b.png'`.execute(
      deps.db,
    );
    await rm(join(folder, 'disk/b.png'));
    expect((await scan(id)).scan).toMatchObject({ state: 'done', missing: 0 });
    expect(await rootOf(id)).toMatchObject({ missing: 0 });
  });

  // ROOT-9
  test('waits while another one runs', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture() });
    await put(folder, 'b.png', await picture());
    const lease = await takeLease(deps.db, id);
    expect(await runScan(deps, id, true)).toEqual({ state: 'busy' });
    await scan(id);
    expect((await assetsOf(id)).size).toBe(1);
    await lease?.end();
    await sql`update graphile_worker._private_jobs set run_at = now() where key like 'scan-root:%'`.execute(
      deps.db,
    );
    await library.runJobs();
    expect((await assetsOf(id)).size).toBe(2);
  });

  // ROOT-9
  test('stores nothing after another process has taken over', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture() });
    await put(folder, 'b.png', await picture());
    const stolen = runScan(deps, id, true, async () => {
      await sql`update roots set lease = gen_random_uuid() where id = ${id}`.execute(deps.db);
      await put(folder, 'sub/c.png', await picture());
    });
    await stolen;
    expect((await assetsOf(id)).size).toBe(2);
    await sql`update roots set lease = null where id = ${id}`.execute(deps.db);
  });

  // ROOT-4
  test('serves no file outside the root through a folder that was replaced by a link', async () => {
    const bytes = plainText(`inside ${seed++}`);
    const { id, folder } = await openRoot({ 'sub/a.txt': bytes, 'b.png': await picture() });
    const { id: asset } = await assetAt(id, 'sub/a.txt');
    const outside = await newFolder();
    await rename(join(folder, 'sub'), join(outside, 'sub'));
    await symlink(join(outside, 'sub'), join(folder, 'sub'));
    expect(await download(asset)).toMatchObject({ status: 500 });
  });

  // ROOT-2
  test('does not add a file again whose asset was purged, until its bytes change', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture(), 'b.png': await picture() });
    const { id: asset } = await assetAt(id, 'a.png');
    await sql`delete from assets where id = ${asset}`.execute(deps.db);
    expect((await scan(id)).scan).toMatchObject({ added: 0 });
    expect(existsSync(join(folder, 'a.png'))).toBe(true);
    await put(folder, 'a.png', await picture());
    expect((await scan(id)).scan).toMatchObject({ added: 1 });
  });
});

// ROOT-11
test('removing a root deletes nothing, and the same files give the assets back', async () => {
  const bytes = await picture();
  const { id, folder } = await openRoot({ 'a.png': bytes });
  const { id: asset } = await assetAt(id, 'a.png');
  await admin.ok('deleteRoot', { params: { id } });
  expect(await readFile(join(folder, 'a.png'))).toEqual(Buffer.from(bytes));
  expect(await mara.ok('getAsset', { params: { id: asset } })).toMatchObject({ missing: true });
  const again = await nameRoot(folder);
  await library.runJobs();
  expect(await assetAt(again.id, 'a.png')).toMatchObject({ id: asset });
  expect(await download(asset)).toMatchObject({ status: 200 });
});

// ROOT-1
test('uploaded bytes of a file in place are stored, too, and survive it', async () => {
  const bytes = await picture();
  const { id, folder } = await openRoot({ 'a.png': bytes, 'b.png': await picture() });
  const quota = async () => (await reader.ok('getOwnQuota')).used_bytes;
  const before = await quota();
  const copy = await upload(reader, bytes);
  expect((await quota()) - before).toBe(bytes.length);
  await unlink(join(folder, 'a.png'));
  await scan(id);
  expect(await download(copy.id, reader)).toMatchObject({ status: 200, bytes });
});

// ROOT-1
test('files in place count towards no quota', async () => {
  const before = (await mara.ok('getOwnQuota')).used_bytes;
  await openRoot({ 'a.png': await picture() });
  expect((await mara.ok('getOwnQuota')).used_bytes).toBe(before);
});

// ROOT-13
test('XMP sidecars describe the files beside them, and are read again when they change', async () => {
  const xmp = (title: string) =>
    new TextEncoder().encode(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
      xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
      xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">${title}</rdf:li>
      </rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`);
  const { id: field } = await admin.ok('createField', {
    body: { code: 'heading', label: 'Heading', type: 'text' },
  });
  await admin.ok('setFieldExtraction', { params: { id: field }, body: { source: 'title' } });
  const { id, folder } = await openRoot({ 'a.png': await picture(), 'a.png.xmp': xmp('Harbour') });
  expect((await assetsOf(id)).size).toBe(1);
  const asset = await assetAt(id, 'a.png');
  const heading = async () => {
    const { items } = await mara.ok('listAssetFieldValues', { params: { id: asset.id } });
    return items.find((value) => value.field_id === field)?.value_text;
  };
  expect(await heading()).toBe('Harbour');
  await put(folder, 'a.png.xmp', xmp('Harbour at dawn'));
  await scan(id);
  expect(await heading()).toBe('Harbour at dawn');
});

// ROOT-13
test('the use of sidecars can be changed', async () => {
  const { id } = await openRoot({ 'a.png': await picture() });
  for (const sidecars of ['off', 'write', 'read'] as const) {
    await admin.ok('updateRoot', { params: { id }, body: { sidecars } });
    expect(await rootOf(id)).toMatchObject({ sidecars });
  }
});

// ROOT-10
test('changes below a root are noticed, and only their folders are scanned', async () => {
  const { id, folder } = await openRoot({ 'a.png': await picture(), 'sub/b.png': await picture() });
  const watch = watchRoots(deps);
  try {
    // The watch begins some time after it was asked for.
    await expect
      .poll(
        async () => {
          const fresh = await put(place, 'fresh.png', await picture());
          await utimes(fresh, 1_700_000_000, 1_700_000_000);
          await rename(fresh, join(folder, 'sub/fresh.png'));
          const { rows } = await sql`select from root_changes where root_id = ${id}`.execute(deps.db);
          return rows.length;
        },
        { interval: 200 },
      )
      .toBeGreaterThan(0);
  } finally {
    await watch.close();
  }
  await library.runJobs();
  expect([...(await assetsOf(id)).keys()].sort()).toEqual(['a.png', 'sub/b.png', 'sub/fresh.png']);
});

// ROOT-10
test('a folder that is gone marks the files that were in it', async () => {
  const { id, folder } = await openRoot({ 'a.png': await picture(), 'sub/deep/b.png': await picture() });
  await rm(join(folder, 'sub'), { recursive: true });
  await sql`insert into root_changes (root_id, folder) values (${id}, 'sub')`.execute(deps.db);
  expect(await runScan(deps, id, false)).toMatchObject({ state: 'done', counts: { missing: 1 } });
  expect(await rootOf(id)).toMatchObject({ assets: 2, missing: 1 });
});

// ROOT-6
test('a file that is being written is read later', async () => {
  const { id, folder } = await openRoot({ 'a.png': await picture() });
  await put(folder, 'b.png', await picture());
  await sql`insert into root_changes (root_id, folder) values (${id}, '')`.execute(deps.db);
  await runScan(deps, id, false);
  expect((await assetsOf(id)).size).toBe(1);
  await utimes(join(folder, 'b.png'), 1_700_000_000, 1_700_000_000);
  await sql`update root_changes set due_at = now() where root_id = ${id}`.execute(deps.db);
  await runScan(deps, id, false);
  expect((await assetsOf(id)).size).toBe(2);
});

// ROOT-14
describe('an upload into a root', () => {
  const send = (root: string, path: string, bytes: Uint8Array<ArrayBuffer>, as: Account = mara) => {
    const body = formOf(bytes, { root_id: root, root_path: path }, 'picture.png');
    return as.send('/assets', { method: 'POST', body });
  };

  test('writes the file below it, and the scan finds nothing new', async () => {
    const { id, folder } = await openRoot({ 'a.png': await picture() }, { writable: true });
    const bytes = await picture();
    const answer = await send(id, 'May/1.png', bytes);
    expect(answer.status, answer.text).toBe(201);
    const asset: ShownAsset = JSON.parse(answer.text);
    expect(asset).toMatchObject({ title: '1', root: { id, path: 'May/1.png' }, owner_user_ref: mara.ref });
    expect(await readFile(join(folder, 'May/1.png'))).toEqual(Buffer.from(bytes));
    expect(existsSync(objectPath(library, originalKey(sha256(bytes))))).toBe(false);
    expect((await scan(id)).scan).toMatchObject({ files: 2, added: 0, changed: 0, moved: 0 });
    expect(await assetAt(id, 'May/1.png')).toMatchObject({ preview_available: true });
    expect(await download(asset.id)).toMatchObject({ status: 200, bytes });
  });

  test('never overwrites a file, leaves the root, or writes what scans leave out', async () => {
    const bytes = await picture();
    const { id, folder } = await openRoot({ 'a.png': bytes }, { writable: true });
    const outside = await newFolder();
    await symlink(outside, join(folder, 'out'));
    const refusal = async (path: string) => codeOf(await send(id, path, await picture()));
    expect(await refusal('a.png')).toBe('root-path-taken');
    expect(await refusal('a.png/b.png')).toBe('root-path-taken');
    expect(await readFile(join(folder, 'a.png'))).toEqual(Buffer.from(bytes));
    for (const path of [
      '../b.png',
      '/etc/b.png',
      'x/../../b.png',
      '.b.png',
      'x//b.png',
      'out/b.png',
      'b.xmp',
    ])
      expect([path, await refusal(path)]).toEqual([path, 'root-path-invalid']);
    expect(await readdir(outside)).toEqual([]);
    expect((await readdir(folder)).filter((name) => name.startsWith('.vitrine'))).toEqual([]);
  });

  test('needs a writable root of the caller, or an administrator', async () => {
    const { id } = await openRoot({}, { writable: true });
    expect(codeOf(await send(id, 'b.png', await picture(), reader))).toBe('root-not-found');
    expect((await send(id, 'b.png', await picture(), admin)).status).toBe(201);
    await admin.ok('updateRoot', { params: { id }, body: { writable: false } });
    expect(codeOf(await send(id, 'c.png', await picture()))).toBe('root-not-writable');
  });
});

// ROOT-2
test('roots are for administrators', async () => {
  const { id } = await openRoot({});
  for (const call of [
    mara.refused('listRoots'),
    mara.refused('createRoot', { body: { path: '/srv', owner_ref: mara.ref, sensitivity: 'public' } }),
    mara.refused('updateRoot', { params: { id }, body: {} }),
    mara.refused('scanRoot', { params: { id } }),
    mara.refused('deleteRoot', { params: { id } }),
  ])
    expect(await call).toMatchObject({ status: 403 });
});
