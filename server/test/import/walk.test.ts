import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { walk } from '../../src/operate/import/walk.ts';
import { temporaryDirectory } from '../support/temporary.ts';

test('an import takes files in natural order, and none of the system', async () => {
  const root = await temporaryDirectory();
  const taken = ['1.jpg', '2.jpg', '3.jpg', '10.jpg', '11.jpg', '20.jpg'];
  await mkdir(join(root, '@eaDir'));
  for (const name of [...taken, 'Thumbs.db', 'desktop.ini', '.DS_Store', '._1.jpg', '@eaDir/1.jpg'])
    await writeFile(join(root, name), name);
  const found: string[] = [];
  for await (const { name } of walk(root)) found.push(name);
  expect(found).toEqual(taken);
});

// UPLOAD-11
test('an import takes files and folders whose names are not UTF-8', async () => {
  const root = await temporaryDirectory();
  const folder = Buffer.concat([Buffer.from(`${root}/`), Buffer.from('B\xfccher', 'latin1')]);
  await mkdir(folder);
  await writeFile(Buffer.concat([folder, Buffer.from('/Gr\xf6\xdfe.txt', 'latin1')]), 'one');
  await writeFile(join(root, 'Größe.txt'), 'two');
  const found: string[] = [];
  for await (const { folder, name, source } of walk(root))
    found.push(`${folder}/${name}: ${await readFile(source, 'utf8')}`);
  expect(found).toEqual(['/Größe.txt: two', 'Bücher/Größe.txt: one']);
});
