import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { type FoundFile, walk } from '../../src/operate/import/walk.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Returns the files that an import takes, and why it skips the others. */
async function walked(root: string): Promise<{ files: FoundFile[]; skipped: string[] }> {
  const files: FoundFile[] = [];
  const skipped: string[] = [];
  for await (const { kind, ...entry } of walk(root)) {
    if ('reason' in entry) skipped.push(`${relative(root, entry.path)}: ${entry.reason}`);
    else files.push(entry);
  }
  return { files, skipped };
}

// ADMIN-9, ADMIN-30
test('an import takes files in natural order, and none of the system', async () => {
  const root = await temporaryDirectory();
  const taken = ['1.jpg', '2.jpg', '3.jpg', '10.jpg', '11.jpg', '20.jpg'];
  await mkdir(join(root, '@eaDir'));
  for (const name of [...taken, 'Thumbs.db', 'desktop.ini', '.DS_Store', '._1.jpg', '@eaDir/1.jpg'])
    await writeFile(join(root, name), name);
  await symlink(join(root, '1.jpg'), join(root, 'link.jpg'));
  await mkdir(join(root, '.git'));
  const { files, skipped } = await walked(root);
  expect(files.map(({ name }) => name)).toEqual(taken);
  expect(skipped.toSorted()).toEqual([
    '.DS_Store: system',
    '._1.jpg: system',
    '.git: hidden',
    '@eaDir: system',
    'Thumbs.db: system',
    'desktop.ini: system',
    'link.jpg: link',
  ]);
});

// UPLOAD-11
test('an import takes files and folders whose names are not UTF-8', async () => {
  const root = await temporaryDirectory();
  const folder = Buffer.concat([Buffer.from(`${root}/`), Buffer.from('B\xfccher', 'latin1')]);
  await mkdir(folder);
  await writeFile(Buffer.concat([folder, Buffer.from('/Gr\xf6\xdfe.txt', 'latin1')]), 'one');
  await writeFile(join(root, 'Größe.txt'), 'two');
  const found: string[] = [];
  for (const { folder, name, source } of (await walked(root)).files)
    found.push(`${folder}/${name}: ${await readFile(source, 'utf8')}`);
  expect(found).toEqual(['/Größe.txt: two', 'Bücher/Größe.txt: one']);
});
