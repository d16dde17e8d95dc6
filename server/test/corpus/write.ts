// Writes the corpus into a directory: npm run corpus -- DIR
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { corpus } from './files.ts';

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: npm run corpus -- DIR');
  process.exit(2);
}
await mkdir(directory, { recursive: true });
for (const { name, make } of corpus) {
  await writeFile(join(directory, name), await make());
  console.log(name);
}
