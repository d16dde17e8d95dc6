import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { walk } from '../../src/import/walk.ts';
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
